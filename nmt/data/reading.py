"""Corpora as one stream of text without end, which can be read from anywhere on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from nmt.data.pairs import TextPair
from nmt.errors import UserError

Read = Callable[[int], Iterator[TextPair]]  # the pairs of a corpus from its start-th on

MIXTURE = 5  # what random numbers are drawn for, besides those of nmt.data.feed


class Position(NamedTuple):
    """Where a stream stands: blocks read; passes complete, and pairs read since; the same of each corpus."""

    block: int
    passes: int
    read: int
    members: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, values: Sequence[Any]) -> Position:
        """From JSON, which has no tuples."""
        block, passes, read, members = values
        return cls(block, passes, read, tuple((passes, read) for passes, read in members))


class Block(NamedTuple):
    """Pairs that follow one another, none of them behind the end of a pass; where the stream stood, and then stands."""

    pairs: list[TextPair]
    before: Position
    after: Position


class Stream:
    """The pairs of several corpora, drawn at random with probabilities, each corpus in its own order.

    A corpus that has ended begins again. A pass is complete when every corpus has ended once more.
    """

    def __init__(self, members: Sequence[Read], *, weights: Sequence[float] | None, size: int, seed: int, name: str):
        """weights: what the probabilities are as; None: all alike. size: pairs of a block. name: for people."""
        assert weights is None or len(weights) == len(members)
        own = np.ones(len(members)) if weights is None else np.array(weights, dtype=np.float64)
        self.members = members
        self.probabilities = own / own.sum()
        self.size = size
        self.seed = seed
        self.name = name

    @property
    def start(self) -> Position:
        """Before the first pair."""
        return Position(0, 0, 0, ((0, 0),) * len(self.members))

    def blocks(self, position: Position) -> Iterator[Block]:
        """Block after block from there on, without end. UserError: a corpus has no pairs, or can't be read."""
        members = [
            _Member(read, number, at, self.name)
            for number, (read, at) in enumerate(zip(self.members, position.members, strict=True))
        ]
        while True:
            pairs = []
            for chosen in self.choices(position.block):
                pairs.append(members[chosen].take())
                passes = min(member.passes for member in members)
                if passes > position.passes:
                    break
            read = 0 if passes > position.passes else position.read + len(pairs)
            stands = tuple((member.passes, member.read) for member in members)
            block = Block(pairs, position, Position(position.block + 1, passes, read, stands))
            yield block
            position = block.after

    def choices(self, block: int) -> Iterator[int]:
        """Of which corpus each pair of a block is."""
        if len(self.members) == 1:
            return repeat(0, self.size)
        generator = np.random.default_rng([self.seed, MIXTURE, block])
        return iter(generator.choice(len(self.members), self.size, p=self.probabilities).tolist())


class _Member:
    """A corpus that begins again; its next pair is known, so that its end is told with its last."""

    def __init__(self, open_from: Read, number: int, at: tuple[int, int], name: str) -> None:
        self.coming: TextPair
        self.open_from = open_from
        self.number = number
        self.name = name
        self.passes, self.read = at
        self.go_to(self.read)

    def take(self) -> TextPair:
        pair = self.coming
        self.read += 1
        following = next(self.pairs, None)
        if following is None:
            self.passes, self.read = self.passes + 1, 0
            self.go_to(0)
        else:
            self.coming = following
        return replace(pair, corpus=self.number) if self.number else pair

    def go_to(self, start: int) -> None:
        self.pairs = self.open_from(start)
        first = next(self.pairs, None)
        if first is None:
            raise UserError(f"{self.name}: corpus {self.number + 1} of a stream has no pairs from number {start} on")
        self.coming = first
