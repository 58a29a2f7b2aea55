"""Pools of pairs that are cut into batches together, and the thread that makes them before they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from nmt.data.batch import Ints, plan_pool, rounded_up
from nmt.data.pairs import IdPair

Item = TypeVar("Item")


class Size(NamedTuple):
    """Of one or several batches. tokens: of the target, EOS counted; filled: tokens of both sides; positions: the same
    with padding."""

    tokens: int
    filled: int
    positions: int


@dataclass(frozen=True)
class Pool:
    """Pairs by their place in the pool, and the places of each batch. Lengths [pairs] count EOS."""

    source_lengths: Ints
    target_lengths: Ints
    batches: list[list[int]]
    pairs: Callable[[Sequence[int]], list[IdPair]]
    pad_to: int

    @classmethod
    def plan(
        cls,
        source_lengths: Ints,
        target_lengths: Ints,
        pairs: Callable[[Sequence[int]], list[IdPair]],
        *,
        batch_tokens: int,
        pad_to: int,
        generator: np.random.Generator,
    ) -> Pool:
        """The pool of these pairs, cut by `plan_pool`."""
        plan = plan_pool(source_lengths, target_lengths, batch_tokens=batch_tokens, pad_to=pad_to, generator=generator)
        return cls(source_lengths, target_lengths, plan, pairs, pad_to)

    @classmethod
    def of(cls, pairs: Sequence[IdPair], *, batch_tokens: int, pad_to: int, generator: np.random.Generator) -> Pool:
        """The pool of pairs that are at hand."""
        sources = np.array([len(pair.source) + 1 for pair in pairs], dtype=np.int64)
        targets = np.array([len(pair.target) + 1 for pair in pairs], dtype=np.int64)
        return cls.plan(
            sources,
            targets,
            lambda places: [pairs[place] for place in places],
            batch_tokens=batch_tokens,
            pad_to=pad_to,
            generator=generator,
        )

    def batch(self, number: int) -> list[IdPair]:
        """The pairs of one batch."""
        return self.pairs(self.batches[number])

    def size(self, number: int) -> Size:
        """Of one batch."""
        sources, targets = (lengths[self.batches[number]] for lengths in (self.source_lengths, self.target_lengths))
        widths = (int(rounded_up(lengths.max(), self.pad_to)) for lengths in (sources, targets))
        tokens = int(targets.sum())
        return Size(tokens, tokens + int(sources.sum()), len(sources) * sum(widths))


def total(sizes: Sequence[Size]) -> Size:
    """Of all of them together."""
    return Size(*map(sum, zip(*sizes, strict=True))) if sizes else Size(0, 0, 0)


@contextmanager
def worker() -> Iterator[Executor]:
    """One thread besides ours; when the block ends it finishes what it is at, and no more."""
    executor = ThreadPoolExecutor(1, "feed")
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def ahead(items: Iterator[Item], executor: Executor) -> Iterator[Item]:
    """The same endless items; while one is used, `executor` makes the next. What it raises is raised here."""
    coming = executor.submit(next, items)
    while True:
        item = coming.result()
        coming = executor.submit(next, items)
        yield item
