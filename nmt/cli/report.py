"""`nmt report RUN|EXPORT -o F.html`: one page on a test set: scores, what the attention does, worst and best sentences.

Here meet the parts that do not know one another: scores of nmt.evaluate, lengths of nmt.compare, and alignments.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.align.document import Block
    from nmt.align.record import Header, Record, View
    from nmt.align.report import Ranking, Sentence
    from nmt.data.pharaoh import Links

SUMMARY = "one page of diagnostics over a test set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument("export", type=Path, metavar="RUN|EXPORT", help="a run, or an npz or jsonl alignment export")
    parser.add_argument("--source", type=Path, help="what RUN translates; its own test set by default")
    parser.add_argument("--reference", type=Path, help="the references, a line each")
    parser.add_argument("--gold", type=Path, help="gold links between the sources and the references, a line each")
    parser.add_argument(
        "--against", type=Path, metavar="RUN|EXPORT", help="other alignments of the same pairs, to tell the agreement"
    )
    parser.add_argument(
        "--examples", type=int, default=10, metavar="N", help="how many of the worst and best are shown (default: 10)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="F.html, F.md, or a directory that gets report.md"
    )


class Material(NamedTuple):
    """What there is to report on, line for line.

    what: the pairs that `records` reads. records: each call reads them anew. aligned: those of the references, for
    `gold`, where there is gold; the same ones where the export is of the references.
    """

    name: str
    what: str
    header: Header
    sentences: list[Sentence]
    records: Callable[[], Iterator[Record]]
    gold: list[Links] | None
    aligned: Callable[[], Iterator[Record]]


def run(arguments: argparse.Namespace) -> int:
    """Gather, compute, write."""
    from nmt.align.document import Heading, write_document
    from nmt.align.record import find_export
    from nmt.align.report import (
        agreement_section,
        attention_section,
        coverage_ranking,
        facts,
        gold_section,
        ranking_section,
    )

    path = _page(arguments.output)
    if arguments.examples < 0:
        raise UserError(f"--examples: {arguments.examples} must be 0 or more")
    material = _of_run(arguments) if arguments.export.is_dir() else _of_export(arguments)
    title = Heading(1, f"{material.name}: report on {len(material.sentences)} lines")
    blocks: list[Block] = [title, facts(material.header, material.what)]
    rankings: list[Ranking] = []
    if any(sentence.reference for sentence in material.sentences):
        blocks += _score_sections(material)
        rankings.append(_by_chrf(material))
    blocks += attention_section(material.records())
    if material.gold is not None:
        section, ranking = gold_section(material.aligned, material.gold)
        blocks += section
        rankings.append(ranking)
    if arguments.against is not None:
        blocks += agreement_section(material.records(), find_export(arguments.against))
    for ranking in rankings or [coverage_ranking(material.records)]:
        blocks += ranking_section(ranking, material.sentences, arguments.examples)
    write_document(path, blocks)
    return 0


def _page(output: Path) -> Path:
    from nmt.align.document import SUFFIXES

    if output.suffix.lower() in SUFFIXES:
        return output
    if output.suffix and not output.is_dir():
        raise UserError(f"{output}: a report is written as F.html, F.md or into a directory, not as '{output.suffix}'")
    return output / "report.md"


def _of_export(arguments: argparse.Namespace) -> Material:
    """The pairs of an export; gold links are of them."""
    from nmt.align.export import read_export, read_header
    from nmt.align.record import find_export
    from nmt.align.report import Sentence

    if arguments.source is not None:
        raise UserError("--source is for a RUN, which translates it; an export has its sources already")
    export = find_export(arguments.export)
    header = read_header(export)
    pairs = [(record.source, record.target) for record in read_export(export)]
    references = _lines(arguments.reference, len(pairs), export) if arguments.reference else [None] * len(pairs)
    sentences = [Sentence(*pair, reference) for pair, reference in zip(pairs, references, strict=True)]
    gold = _gold(arguments.gold, len(pairs), export) if arguments.gold else None
    name = str(header.get("run", export.stem))

    def records() -> Iterator[Record]:
        return read_export(export)

    return Material(name, "the export's target lines", header, sentences, records, gold, records)


def _of_run(arguments: argparse.Namespace) -> Material:
    """The run's own test set and what it made of it, or what it makes of other lines."""
    if (arguments.source is None) != (arguments.reference is None):
        raise UserError("--source and --reference go together; without both, the report is on the run's own test set")
    return _of_test_set(arguments) if arguments.source is None else _of_new_lines(arguments)


def _of_test_set(arguments: argparse.Namespace) -> Material:
    from nmt.align.export import read_export, read_header
    from nmt.align.methods import METHODS
    from nmt.align.record import find_export, header_views
    from nmt.align.report import Sentence
    from nmt.data.lines import read_lines
    from nmt.data.parts import has_part, part_links, part_pairs
    from nmt.run import Run

    run = Run.open(arguments.export)
    data = run.config().data
    if not has_part(data, "test"):
        raise UserError(f"{run.path}: its data has no test set; give --source and --reference, or an export")
    export = find_export(run.path)
    pairs = list(part_pairs(data, "test"))
    read = [(record.source, record.target) for record in read_export(export)]
    if [source for source, _ in read] != [source for source, _ in pairs]:
        raise UserError(f"{export}: its sources are not those that the test set has now")
    translations = [target for _, target in read]
    is_of_references = read == pairs
    if is_of_references and run.translation.is_file():
        translations = list(read_lines(run.translation))
    if len(translations) != len(pairs):
        raise UserError(f"{run.translation} has {len(translations)} lines, but the test set has {len(pairs)}")
    gold = _gold(arguments.gold, len(pairs), export) if arguments.gold else part_links(data, "test")
    sentences = [Sentence(one, text, wanted) for (one, wanted), text in zip(pairs, translations, strict=True)]
    what = "the references" if is_of_references else "the run's own translations"

    def records() -> Iterator[Record]:
        return read_export(export)

    header = read_header(export)
    aligned = records
    if gold is not None and not is_of_references:
        view = header_views(header)[0]
        if view.method not in METHODS:
            raise UserError(f"{export}: its values are by '{view.method}', which one run can't read of references")
        aligned = _reading(run.path, pairs, view)
    return Material(run.path.resolve().name, what, header, sentences, records, gold, aligned)


def _of_new_lines(arguments: argparse.Namespace) -> Material:
    import nmt
    from nmt.align.extract import chosen_view
    from nmt.align.pipeline import describe, translation_records
    from nmt.align.report import Sentence
    from nmt.data.lines import read_pairs
    from nmt.progress import progress

    pairs = list(read_pairs(arguments.source, arguments.reference))
    gold = _gold(arguments.gold, len(pairs), arguments.source) if arguments.gold else None
    translator = nmt.load(arguments.export)
    sources = [source for source, _ in pairs]
    with progress("translating", unit="lines", total=len(sources)) as bar:
        found = translator.translate(sources, advance=bar.advance)
    views = [chosen_view(translator, translator.alignment)]
    own = list(translation_records(translator, sources, found, views))
    sentences = [Sentence(source, one.target, wanted) for (source, wanted), one in zip(pairs, own, strict=True)]
    return Material(
        arguments.export.resolve().name,
        "the run's own translations",
        describe(translator, views, links="argmax"),
        sentences,
        lambda: iter(own),
        gold,
        _reading(arguments.export, pairs, views[0]),
    )


def _reading(run: Path, pairs: Sequence[tuple[str, str]], view: View) -> Callable[[], Iterator[Record]]:
    """The model reads the references, once; by the view of its translations that is shown, linked by argmax."""
    from functools import cache

    import nmt
    from nmt.align.pipeline import align_records
    from nmt.progress import progress

    @cache
    def read() -> list[Record]:
        translator = nmt.load(run)
        with progress("aligning", unit="lines", total=len(pairs)) as bar:
            return list(bar.over(align_records(translator, pairs, [view])))

    return lambda: iter(read())


def _lines(path: Path, count: int, other: Path) -> list[str]:
    from nmt.data.lines import read_lines

    lines = list(read_lines(path))
    if len(lines) != count:
        raise UserError(f"{path} has {len(lines)} lines but {other} has {count}")
    return lines


def _gold(path: Path, count: int, other: Path) -> list[Links]:
    from nmt.data.pharaoh import read_links

    gold = read_links(path)
    if len(gold) != count:
        raise UserError(f"{path} has {len(gold)} lines but {other} has {count}")
    return gold


def _score_sections(material: Material) -> list[Block]:
    from nmt.align.diagnostics import Measure
    from nmt.align.document import Heading
    from nmt.align.report import length_section, measure_table
    from nmt.compare.lengths import bleu_of_bins, choose_bins, source_lengths
    from nmt.evaluate.scores import bleu, chrf

    sentences = material.sentences
    translations = [one.translation for one in sentences]
    references = [one.reference or "" for one in sentences]
    scores = [score(translations, [references]) for score in (bleu, chrf)]
    found = [Measure(one.name, one.score, "0 to 100", f"of all lines, by sacrebleu: {one.signature}") for one in scores]
    lengths = source_lengths([one.source for one in sentences])
    bins = choose_bins(lengths)
    found_of_bins = bleu_of_bins(lengths, references, translations, bins)
    groups = [(str(group), group.sentences, score) for group, score in zip(bins, found_of_bins, strict=True)]
    return [Heading(2, "Translation"), measure_table(found), *length_section(groups)]


def _by_chrf(material: Material) -> Ranking:
    from sacrebleu import CHRF

    from nmt.align.report import Ranking

    metric = CHRF()
    values = {
        line: metric.sentence_score(one.translation, [one.reference]).score
        for line, one in enumerate(material.sentences, start=1)
        if one.reference and one.reference.strip() and one.source.strip()
    }
    note = (
        "Sentence chrF by sacrebleu, 0 to 100; lines whose source or reference is blank are left out. The figures show "
        f"what the words of {material.what} read of the source."
    )
    return Ranking("chrF", values, material.records, note)
