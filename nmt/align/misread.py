"""Signs that a file of links is not what it was read as: counted from 1, or with its two sides exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

from nmt.align.aer import aer
from nmt.align.links import Link
from nmt.data.pharaoh import Links

CLEARLY = 0.1  # so much lower must the error rate be; published systems lose 0.27 and more by a wrong reading

Corpus = Sequence[AbstractSet[Link]]


class Misreading(NamedTuple):
    """The file that looks misread, what it rather looks like, and the alignment error rate if it were read so."""

    file: Literal["gold", "links"]
    looks: Literal["counted from 1", "exchanged"]
    aer: float


def misreadings(gold: Sequence[Links], predicted: Corpus) -> Iterator[Misreading]:
    """What else the files look like, judged by an error rate that would be lower by `CLEARLY`.

    A file with a word 0 is not counted from 1. Links are also taken for exchanged if some lie beyond the last words
    that the gold links name, none does after the exchange, and the error rate does not rise by it.
    """
    rate = aer(gold, predicted).aer
    files: tuple[tuple[Literal["gold", "links"], Corpus, int], ...] = (
        ("gold", [line.possible for line in gold], 1),
        ("links", predicted, -1),
    )
    for name, links, step in files:
        if all(min(link) > 0 for line in links for link in line):
            lower = aer(gold, [{(s + step, t + step) for s, t in line} for line in predicted]).aer
            if lower <= rate - CLEARLY:
                yield Misreading(name, "counted from 1", lower)
    exchanged = [{(t, s) for s, t in line} for line in predicted]
    lower = aer(gold, exchanged).aer
    if lower <= rate - CLEARLY or (lower <= rate and _beyond(gold, predicted) and not _beyond(gold, exchanged)):
        yield Misreading("links", "exchanged", lower)


def _beyond(gold: Sequence[Links], predicted: Corpus) -> bool:
    """Whether a link names a source or target word behind the last that its sentence's gold links name."""
    for line, links in zip(gold, predicted, strict=True):
        sources, targets = (max((link[side] for link in line.possible), default=-1) for side in (0, 1))
        if any(s > sources or t > targets for s, t in links):
            return True
    return False
