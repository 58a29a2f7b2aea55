"""What every kind of corpus is: pairs of lines in an order that never changes, and a name for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Pair = tuple[str, str]  # source line, target line, neither with a line break


@dataclass(frozen=True, kw_only=True)
class Corpus(ABC):
    """Parallel text. Languages are those of the whole configuration, and what a reader needs to find the sides.

    links: a file of the pairs' gold word links in Pharaoh format, counted from 0 (None: there is none).
    """

    source_language: str
    target_language: str
    links: str | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """How people know it: its files, or its name on the hub."""

    @abstractmethod
    def pairs(self) -> Iterator[Pair]:
        """All pairs in order, the same each time, blank ones too: pair i is line i of whatever is made of it.

        Text is as it is stored, but for line breaks: one at the end is taken off, and those inside a text that is no
        line of a file become spaces. UserError: what is not there or not readable, at once; what is no pair, with its
        file and line or row (from 1), when it is met.
        """

    def members(self) -> Mapping[str, Corpus]:
        """The corpora that this one is made of, by name, in the order of its pairs; itself, where it is no mixture."""
        return {self.name: self}
