"""Which pairs are used, and the count of those that are not.

A filter judges a pair as a whole, so that a line left out on one side never shifts the other side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

from nmt.data.lines import is_blank
from nmt.data.pairs import IdPair, TextPair, WordLinks


@dataclass
class Report:
    """What became of the pairs of one corpus; the filters count into it while they are read.

    `corpus` names the corpus for people. blank: one side or both without text; long: one side or both over the limit.
    """

    corpus: str
    kept: int = 0
    blank: int = 0
    long: int = 0

    def describe(self) -> str:
        """One line for the log."""
        dropped = f"{self.blank} dropped for a blank side, {self.long} dropped for length"
        return f"{self.corpus}: {self.kept} pairs kept, {dropped}"


def drop_blanks(
    pairs: Iterable[tuple[str, str]], report: Report, links: Iterable[WordLinks] | None = None
) -> Iterator[TextPair]:
    """The pairs with text on both sides, numbered as they came, each with its links where there are any: a pair that
    is dropped takes its own along."""
    every = zip(pairs, repeat(()) if links is None else links, strict=links is not None)
    for index, ((source, target), own) in enumerate(every):
        if is_blank(source) or is_blank(target):
            report.blank += 1
        else:
            yield TextPair(index, source, target, own)


def drop_unfit(pairs: Iterable[IdPair], max_length: int | None, report: Report) -> Iterator[IdPair]:
    """The pairs with 1 to `max_length` pieces on each side (EOS not counted; None: no limit). Counts those it keeps.

    A line of characters that the tokenizer removes (zero-width spaces) has no pieces: it is as blank as an empty one.
    """
    for pair in pairs:
        if not pair.source or not pair.target:
            report.blank += 1
        elif max_length is not None and max(len(pair.source), len(pair.target)) > max_length:
            report.long += 1
        else:
            report.kept += 1
            yield pair
