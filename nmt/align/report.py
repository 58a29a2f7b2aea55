"""The sections of a report on a test set: scores by length, what the attention does, the worst and the best sentences.

Numbers come in, blocks of a page (nmt/align/document.py) go out. Lines are counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from nmt.align.aer import aer
from nmt.align.charts import Distribution, bars, histograms
from nmt.align.diagnostics import Measure, diagnose, measures, weight_overlap
from nmt.align.document import Block, Facts, Heading, Paragraph, Picture, Table
from nmt.align.export import read_export, read_header
from nmt.align.heatmap import Panel, heatmap_svg, outline_words
from nmt.align.record import Header, Record, header_views
from nmt.data.pharaoh import Links, check_inside
from nmt.errors import UserError

UNKNOWN = "\u2013"


class Sentence(NamedTuple):
    """A line of the test set; `reference` is None where there is none."""

    source: str
    translation: str
    reference: str | None


class Ranking(NamedTuple):
    """Sentences by a score. values: of each line that has it. records: each call reads all, for the figures; gold: what
    is outlined in them. note: what the score is, and what the figures show."""

    name: str
    values: Mapping[int, float]
    records: Callable[[], Iterable[Record]]
    note: str
    digits: int = 1
    is_error: bool = False  # less is better
    gold: Sequence[Links] | None = None

    def extremes(self, count: int) -> tuple[list[int], list[int]]:
        """The worst lines, worst first, and of the others the best, best first; of equals the first one first."""
        sign = -1 if self.is_error else 1
        worst = sorted(self.values, key=lambda line: (sign * self.values[line], line))[:count]
        others = sorted(self.values.keys() - set(worst), key=lambda line: (-sign * self.values[line], line))
        return worst, others[:count]

    def panels(self, lines: AbstractSet[int]) -> dict[int, Panel]:
        """Those of some lines; a pair with a blank side has none."""
        return {
            line: Panel(record.matrix, outlines=outline_words(self.gold[line - 1]) if self.gold else [])
            for line, record in enumerate(self.records(), start=1)
            if line in lines and record.source_words and record.target_words
        }


def measure_table(found: Iterable[Measure]) -> Table:
    """A row each: the number, its unit, and a line that explains it."""
    rows = [(one.name, UNKNOWN if one.value is None else f"{one.value:.4g}", one.unit, one.meaning) for one in found]
    return Table(("", "value", "unit", "what it is"), rows, frozenset({1}))


def length_section(groups: Sequence[tuple[str, int, float | None]]) -> list[Block]:
    """BLEU of groups of sentences: their source words, how many they are, and the score."""
    names, counts, scores = zip(*groups, strict=True)
    rows = [(name, str(count), UNKNOWN if score is None else f"{score:.1f}") for name, count, score in groups]
    ticks = [f"{name}\n{count}" for name, count in zip(names, counts, strict=True)]
    chart = bars(ticks, scores, across="source words; below them, the number of sentences", up="BLEU")
    return [
        Heading(2, "BLEU by length"),
        Paragraph("Corpus BLEU, 0 to 100, of the sentences whose source has so many words."),
        Table(("source words", "sentences", "BLEU"), rows, frozenset({1, 2})),
        Picture("bleu_by_length", "BLEU by source length", chart),
    ]


def facts(header: Header, what: str) -> Facts:
    """Which values they are. `header` is the export's, empty where it has none; `what`: the target lines."""
    unknown = "the export does not say"
    views = header_views(header) if header else []
    return Facts(
        [
            ("run", str(header.get("run", unknown))),
            ("target lines", what),
            ("values", str(views[0]) if views else unknown),
            ("links", str(header.get("links", unknown))),
        ]
    )


def attention_section(records: Iterable[Record]) -> list[Block]:
    """Numbers of the whole set, and how they are distributed over its sentences."""
    diagnoses = [diagnose(record.matrix, record.links) for record in records]
    blanks = sum(not (one.sources and one.targets) for one in diagnoses)
    distributions = {
        "entropy": Distribution([one.entropy for one in diagnoses if one.entropy is not None], "nats", low=0.0),
        "coverage": Distribution(
            [100 * one.coverage for one in diagnoses if one.coverage is not None], "% of source words", 0.0, 100.0
        ),
        "near uniform": Distribution(
            [100 * one.uniform / one.targets for one in diagnoses if one.rows], "% of target words", 0.0, 100.0
        ),
        "share of </s>": Distribution([100 * one.eos for one in diagnoses if one.eos is not None], "%", 0.0, 100.0),
        "forward steps": Distribution(
            [100 * one.forward / one.steps for one in diagnoses if one.steps], "% of steps", 0.0, 100.0
        ),
        "Kendall's tau": Distribution([one.tau for one in diagnoses if one.tau is not None], "-1 to 1", -1.0, 1.0),
    }
    blocks: list[Block] = [
        Heading(2, "What is read"),
        Paragraph(f"Of {len(diagnoses)} lines; those with a blank side, {blanks}, are left out."),
        measure_table(measures(diagnoses)),
    ]
    if any(len(one.values) for one in distributions.values()):
        blocks += [
            Heading(3, "Over sentences"),
            Picture("distributions", "Histograms of these numbers over sentences", histograms(distributions)),
        ]
    return blocks


def gold_section(records: Callable[[], Iterable[Record]], gold: Sequence[Links]) -> tuple[list[Block], Ranking]:
    """Alignment error rate of the pairs that gold links, and the sentences by it. UserError for a link outside."""
    links = [record.links for record in _within(records(), gold)]
    whole = aer(gold, links)
    found = [
        Measure("AER", whole.aer, "0 to 1", "alignment error rate, of all lines together; less is better"),
        Measure("precision", whole.precision, "0 to 1", "share of the links made that are gold's possible ones"),
        Measure("recall", whole.recall, "0 to 1", "share of gold's sure links that were made"),
        Measure("F1", whole.f1, "0 to 1", "their harmonic mean"),
    ]
    values = {
        line: aer([wanted], [made]).aer
        for line, (wanted, made) in enumerate(zip(gold, links, strict=True), start=1)
        if wanted.possible
    }
    note = (
        "Alignment error rate of a sentence, 0 to 1; less is better. The figures show what the words of the reference "
        "read; gold is outlined, sure links by a full line, possible ones by a dashed one."
    )
    ranking = Ranking("AER", values, records, note, digits=3, is_error=True, gold=gold)
    return [Heading(2, "Against gold links"), measure_table(found)], ranking


def agreement_section(records: Iterable[Record], export: Path) -> list[Block]:
    """How far another export agrees, which must be of the same pairs: otherwise UserError."""
    common = links = 0
    overlaps = []
    others = read_export(export)
    for line, record in enumerate(records, start=1):
        other = next(others, None)
        if other is None or (other.source, other.target) != (record.source, record.target):
            raise UserError(f"{export}, line {line}: another pair; `nmt align` makes both exports of the same --target")
        common += len(record.links & other.links)
        links += len(record.links) + len(other.links)
        overlaps.append(weight_overlap(record.matrix, other.matrix))
    shared = [overlap for overlap in overlaps if overlap is not None]
    found = [
        Measure(
            "link agreement",
            2 * common / links if links else None,
            "0 to 1",
            "2 |A \u2229 B| / (|A| + |B|) of the links of all lines together; 1 where all are the same",
        ),
        Measure(
            "weight overlap",
            sum(shared) / len(shared) if shared else None,
            "0 to 1",
            "what both have in common of a target word's reading, mean over its words, then over sentences",
        ),
    ]
    name = str(read_header(export).get("run", export.stem))
    text = Paragraph(f"The same pairs as {name} aligns them.")
    return [Heading(2, "Against other alignments"), text, measure_table(found)]


def coverage_ranking(records: Callable[[], Iterable[Record]]) -> Ranking:
    """Where there is nothing else to judge by."""
    found = [diagnose(record.matrix, record.links).coverage for record in records()]
    values = {line: 100 * share for line, share in enumerate(found, start=1) if share is not None}
    note = "Source words that are read, in %; there are neither references nor gold links to judge by."
    return Ranking("coverage", values, records, note, digits=0)


def ranking_section(ranking: Ranking, sentences: Sequence[Sentence], count: int) -> list[Block]:
    """The `count` worst and best sentences, each with its texts and figure."""
    worst, best = ranking.extremes(count)
    drawn = ranking.panels({*worst, *best})
    blocks: list[Block] = []
    for lines, word in ((worst, "Worst"), (best, "Best")):
        if lines:
            blocks += [Heading(2, f"{word} {len(lines)} by {ranking.name}"), Paragraph(ranking.note)]
        for line in lines:
            blocks += _sentence(line, ranking, sentences[line - 1])
            if line in drawn:
                name = f"{ranking.name.lower()}_line_{line}"
                blocks.append(Picture(name, f"alignment of line {line}", heatmap_svg(drawn[line])))
    return blocks


def _sentence(line: int, ranking: Ranking, sentence: Sentence) -> list[Block]:
    texts = [("source", sentence.source), ("translation", sentence.translation)]
    if sentence.reference is not None:
        texts.append(("reference", sentence.reference))
    return [Heading(3, f"line {line}: {ranking.name} {ranking.values[line]:.{ranking.digits}f}"), Facts(texts)]


def _within(records: Iterable[Record], gold: Sequence[Links]) -> Iterator[Record]:
    """The same records."""
    for line, (record, wanted) in enumerate(zip(records, gold, strict=True), start=1):
        check_inside(wanted, len(record.source_words), len(record.target_words), f"gold links, line {line}")
        yield record
