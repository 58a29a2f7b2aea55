"""What every kind of corpus is: pairs of lines in an order that never changes, and a name for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from nmt.data.corpora.values import check_text

Pair = tuple[str, str]  # source line, target line, neither with a line break


@dataclass(frozen=True, kw_only=True)
class Corpus(ABC):
    """Parallel text. Languages are those of the whole configuration, and what a reader needs to find the sides.

    links: a file of the pairs' gold word links in Pharaoh format, counted from 0 (None: there is none).
    """

    source_language: str
    target_language: str
    links: str | None = None

    def __post_init__(self) -> None:
        """ValueError for a value that can't be, which begins with its key. Subclasses check their own as well."""
        if self.links is not None:
            check_text("links", self.links)

    @property
    @abstractmethod
    def name(self) -> str:
        """How people know it: its files, or its name on the hub."""

    @abstractmethod
    def pairs(self, start: int = 0) -> Iterator[Pair]:
        """All pairs in order, the same each time, blank ones too: pair i is line i of whatever is made of it. The first
        `start` are passed over, as cheaply as the format allows.

        Text is as it is stored, but for line breaks: one at the end is taken off, and those inside a text that is no
        line of a file become spaces. UserError: what is not there or not readable, at once; what is no pair, with its
        file and line or row (from 1), when it is met.
        """

    def count(self) -> int:
        """How many pairs there are. UserError: as `pairs`, of what it has to read."""
        return sum(1 for _ in self.pairs())

    def members(self) -> Mapping[str, Corpus]:
        """The corpora that this one is made of, by name, in the order of its pairs; itself, where it is no mixture."""
        return {self.name: self}

    def factors(self, counts: Sequence[int]) -> list[float]:
        """How often a pair of each member comes in an epoch, on average, when so many pairs of each are kept."""
        return [1.0] * len(counts)


def begun(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """The same pairs. The first is read at once, and with it whatever keeps any from being read shows."""
    return chain([pair for pair in [next(pairs, None)] if pair is not None], pairs)
