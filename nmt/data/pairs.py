"""A sentence pair on its way from text to a batch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

WordLinks = Collection[tuple[int, int]]  # of one pair: (source word, target word), from 0


@dataclass(frozen=True)
class TextPair:
    """Two lines, their number (from 0) in the corpus, their word links where attention is to be guided, and which
    member (from 0) of a mixture of corpora they are from."""

    index: int
    source: str
    target: str
    links: WordLinks = ()
    corpus: int = 0


@dataclass(frozen=True)
class IdPair:
    """The same pair as piece ids, without BOS and EOS; links of pieces as s, t, s, t, ... `text`: what it was made of,
    where that is at hand; pairs of the same pieces are equal with and without it."""

    index: int
    source: list[int]
    target: list[int]
    links: Collection[int] = ()
    corpus: int = 0
    text: TextPair | None = field(default=None, compare=False, repr=False)
