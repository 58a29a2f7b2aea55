"""BLEU by the length of the source: where a vector of one size has to hold ever more, and attention has not.

After the figure of Bahdanau (2015, section 5.1), with separate groups of sentences. Length is the number of words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nmt.data.lines import read_lines
from nmt.data.parts import part_pairs
from nmt.data.words import split_words
from nmt.errors import UserError
from nmt.evaluate.scores import bleu
from nmt.run import Run

WIDTH = 5  # words; a bin ends at a multiple of it
LEAST = 40  # sentences; BLEU of fewer says little


class Bin(NamedTuple):
    """Sources of `first` to `last` words, both counted in, and how many there are."""

    first: int
    last: int
    sentences: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def choose_bins(lengths: Sequence[int]) -> list[Bin]:
    """Bins of 5 words, or of as many times 5 as it takes to have 40 sentences; the last takes what is left over.

    They follow one another without gaps, from the shortest length to the longest.
    """
    bins: list[Bin] = []
    first, longest = min(lengths), max(lengths)
    while first <= longest:
        bins.append(_next_bin(first, lengths))
        first = bins[-1].last + 1
    if len(bins) > 1 and bins[-1].sentences < LEAST:
        rest = bins.pop()
        bins[-1] = Bin(bins[-1].first, rest.last, bins[-1].sentences + rest.sentences)
    return bins


def read_test(run: Run) -> tuple[list[str], list[str], list[str]]:
    """Sources, references and the run's translations of its test set, line for line.

    UserError where the test set has changed since, so that lines no longer belong together.
    """
    sources, references = map(list, zip(*part_pairs(run.config().data, "test"), strict=True))
    translations = list(read_lines(run.translation))
    if len(translations) != len(sources):
        raise UserError(f"{run.translation} has {len(translations)} lines, but the test set now has {len(sources)}")
    return sources, references, translations


def source_lengths(sources: Sequence[str]) -> list[int]:
    """Words a line."""
    return [len(split_words(source)) for source in sources]


def bleu_by_length(run: Run, bins: Sequence[Bin]) -> list[float | None]:
    """Corpus BLEU of the test sentences in each bin; None for a bin without any."""
    sources, references, translations = read_test(run)
    return bleu_of_bins(source_lengths(sources), references, translations, bins)


def bleu_of_bins(
    lengths: Sequence[int], references: Sequence[str], translations: Sequence[str], bins: Sequence[Bin]
) -> list[float | None]:
    """The same of these sentences."""
    scores: list[float | None] = []
    for one in bins:
        places = [place for place, length in enumerate(lengths) if one.first <= length <= one.last]
        found, wanted = ([lines[place] for place in places] for lines in (translations, references))
        scores.append(bleu(found, [wanted]).score if places else None)
    return scores


def _next_bin(first: int, lengths: Sequence[int]) -> Bin:
    longest = max(lengths)
    last = (first - 1) // WIDTH * WIDTH
    sentences = 0
    while sentences < LEAST and last < longest:
        last += WIDTH
        sentences = sum(first <= length <= last for length in lengths)
    return Bin(first, min(last, longest), sentences)
