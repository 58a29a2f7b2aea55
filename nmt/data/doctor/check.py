"""The whole examination of a corpus: every part, then the parts against one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nmt.config import DataConfig
from nmt.data.corpora.corpus import Corpus
from nmt.data.corpora.files import Files
from nmt.data.corpora.values import paths
from nmt.data.doctor.examine import Examined, examine
from nmt.data.doctor.findings import Finding
from nmt.data.doctor.histogram import Histogram, length_histogram, ratio_histogram
from nmt.data.doctor.language import judges
from nmt.data.doctor.reading import Part, file_part
from nmt.data.doctor.whole import add_excerpts, add_leaks, add_repeats, add_shifts
from nmt.data.parts import PARTS, has_part, part_corpus
from nmt.data.parts import Part as Role


@dataclass(frozen=True)
class Checked:
    """A part with its findings."""

    examined: Examined
    findings: Sequence[Finding]
    histograms: Sequence[Histogram]

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        part = self.examined.part
        return {
            "part": part.role,
            "name": part.name,
            "sides": list(part.sides),
            "lines": self.examined.counts,
            "findings": [finding.as_dict() for finding in self.findings],
            "histograms": [histogram.as_dict() for histogram in self.histograms],
        }


def configured_parts(data: DataConfig) -> list[Part]:
    """What a configuration names; the members of a mixture are parts of their own."""
    return [
        part
        for role in PARTS
        if has_part(data, role)
        for corpus in part_corpus(data, role).members().values()
        for part in _corpus_parts(role, corpus)
    ]


def _corpus_parts(role: Role, corpus: Corpus) -> list[Part]:
    """Of plain files as many as there are pairs of files, so that line numbers are those of the files."""
    if isinstance(corpus, Files):
        pairs = zip(paths(corpus.source), paths(corpus.target), strict=True)
        return [file_part(role, pair, corpus.links) for pair in pairs]
    languages = (corpus.source_language, corpus.target_language)
    sides = languages if languages[0] != languages[1] else ("source", "target")
    return [Part(role=role, name=corpus.name, sides=sides, corpus=corpus, links=corpus.links)]


def check(parts: Sequence[Part], *, shown: int, max_words: int) -> list[Checked]:
    """Examine all parts. shown: line numbers a finding. UserError for what can't be read."""
    judged = zip(parts, judges(parts), strict=True)
    found = [examine(part, shown=shown, max_words=max_words, judge=judge) for part, judge in judged]
    training = [one for one in found if one.part.role == "train"]
    for one in found:
        add_shifts(one)
        add_repeats(one)
        if one.part.role != "train":
            add_leaks(one, training)
        add_excerpts(one)
    return [Checked(one, one.tally.findings(), _histograms(one)) for one in found]


def _histograms(found: Examined) -> list[Histogram]:
    lengths = [side.lengths() for side in found.figures]
    histograms = [length_histogram(dict(zip(found.part.sides, lengths, strict=True)))]
    if len(lengths) == 2:
        histograms.append(ratio_histogram(*lengths))
    return histograms


def needs_a_person(checked: Sequence[Checked], mended: bool = False) -> bool:
    """Whether anybody should look. mended: what the clean copy puts right is no longer counted."""
    kinds = [finding.what for one in checked for finding in one.findings]
    return any(kind.person and not (mended and kind.mended) for kind in kinds)
