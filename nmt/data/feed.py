"""What a training reads: portions, one an update, in an order that is a function of the configuration alone.

A training reads *pools*: so many pairs drawn at random, sorted by length, cut into batches, and these shuffled
(nmt.data.pool). An update takes the next batches, whatever pools they are of, and the processes share them out. No list
is as long as the corpus: an epoch's order lies in a file without a name, and its pools are made while others are
trained on. Only where factors say how often pairs come, the numbers of their rows are in memory while it is made.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.filters import Report
from nmt.data.pairs import IdPair
from nmt.data.pool import Pool, ahead, total, worker
from nmt.data.sampling import Sampler
from nmt.data.store import PairStore
from nmt.errors import UserError

Item = TypeVar("Item")
ORDER, MEMBER, PLAN, PIECES = range(1, 5)  # what random numbers are drawn for
BLOCK = 2**20  # rows that are written at a time


class Portion(NamedTuple):
    """What an update is made of. batches: those of this process, each with its number in the update. The rest is of all
    batches of all processes: target tokens (EOS counted), positions of both sides, and how many hold a token."""

    batches: list[tuple[int, list[IdPair]]]
    tokens: int
    positions: int
    filled: int


class FeedState(NamedTuple):
    """For a checkpoint: plain values, and tensors by name."""

    values: dict[str, Any]
    tensors: dict[str, Tensor]


class Sharing(Protocol):
    """What a feed asks of the processes that train together (`nmt.train.distributed.Processes`)."""

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items that are this process's."""
        ...

    def gather(self, own: Sequence[Item]) -> list[Item]:
        """The inverse of `share`."""
        ...

    def total(self, values: Sequence[float]) -> list[float]:
        """Of each value its sum over the processes."""
        ...


class Feed(Protocol):
    """Gives a training its portions.

    fingerprint: what the pairs and their order are known by. passes: how often the data were read up to the portion
    that was given last, fractions counted. report: which pairs are left out, of those that this process has looked at.
    """

    fingerprint: str
    passes: float

    @property
    def report(self) -> Report: ...

    def updates(self) -> Generator[Portion, None, None]:
        """The portion of every update to come, without end. One counts as used as soon as it is given."""
        ...

    def state(self) -> FeedState:
        """Where the feed stands, for a checkpoint; all processes have to ask together, and the first is told."""
        ...

    def restore(self, state: FeedState) -> None:
        """Go on where another feed of the same fingerprint stood, of however many processes."""
        ...


class Place(NamedTuple):
    """The next batch of a training, all counted from 0."""

    epoch: int = 0
    pool: int = 0
    batch: int = 0


class Section(NamedTuple):
    """A pool at its place. read: pairs of its epoch up to it, and pairs of the epoch."""

    place: Place
    pool: Pool
    read: tuple[int, int]
    is_last: bool


class StoreFeed:
    """The pairs of a store in epochs, of which the last update may have fewer batches than the others.

    An epoch has every pair once, or by `factors` as often as its corpus says: a pair comes the factor rounded up or
    down, and over many epochs every pair of a corpus comes equally often.
    """

    def __init__(
        self,
        store: PairStore,
        *,
        batch_tokens: int,
        pool: int,
        accumulate: int,
        seed: int,
        processes: Sharing,
        pad_to: int = 1,
        factors: Sequence[float] | None = None,
        sampler: Sampler | None = None,
    ) -> None:
        """batch_tokens, pad_to: see `plan_pool`. pool: pairs of one. accumulate: batches of an update. factors: how
        often a pair comes in an epoch, by number of its corpus. sampler: cuts pairs anew; the store has their texts.
        """
        assert factors is None or (min(factors) >= 0 and max(factors) > 0)
        if factors is not None and set(factors) == {1}:
            factors = None
        self.store = store
        self.batch_tokens = batch_tokens
        self.pool = pool
        self.accumulate = accumulate
        self.seed = seed
        self.pad_to = pad_to
        self.processes = processes
        self.factors = factors
        self.sampler = sampler
        self.fingerprint = store.fingerprint() + ("" if factors is None else f" {[float(one) for one in factors]}")
        self.passes = 0.0
        self.place = Place()

    @property
    def report(self) -> Report:
        """Of the whole corpus."""
        return self.store.report

    def updates(self) -> Generator[Portion, None, None]:
        """One portion an update, from where the feed stands."""
        group: list[tuple[Pool, int]] = []
        start = self.place
        with worker() as thread:
            for section in ahead(self.sections(start), thread):
                place, pool = section.place, section.pool
                begin = start.batch if place[:2] == start[:2] else 0
                used = section.read[0] + sum(map(len, pool.batches[:begin]))
                for number in range(begin, len(pool.batches)):
                    group.append((pool, number))
                    used += len(pool.batches[number])
                    ends = section.is_last and number + 1 == len(pool.batches)
                    if ends or len(group) == self.accumulate:
                        self.place = Place(place.epoch + 1) if ends else place._replace(batch=number + 1)
                        self.passes = place.epoch + used / section.read[1]
                        yield self.portion(group)
                        group = []

    def portion(self, group: Sequence[tuple[Pool, int]]) -> Portion:
        """Of an update that has these batches, this process's share with its pairs."""
        size = total([pool.size(number) for pool, number in group])
        own = self.processes.share(list(enumerate(group)))
        batches = [(place, pool.batch(number)) for place, (pool, number) in own]
        return Portion(batches, size.tokens, size.positions, size.filled)

    def state(self) -> FeedState:
        """Place and passes."""
        return FeedState({**self.place._asdict(), "passes": self.passes}, {})

    def restore(self, state: FeedState) -> None:
        """The pool under way is made again."""
        values = dict(state.values)
        self.passes = values.pop("passes")
        self.place = Place(**values)

    def sections(self, start: Place) -> Iterator[Section]:
        """Pool after pool without end, from the one of this place on."""
        for epoch in count(start.epoch):
            order = self.order(epoch)
            for first in range(start.pool * self.pool if epoch == start.epoch else 0, len(order), self.pool):
                place = Place(epoch, first // self.pool)
                pool = self.plan(np.array(order[first : first + self.pool]), place)
                yield Section(place, pool, (first, len(order)), first + self.pool >= len(order))

    def plan(self, rows: NDArray[Any], place: Place) -> Pool:
        """The pool of these rows."""
        generator = np.random.default_rng([self.seed, PLAN, *place[:2]])
        if self.sampler is not None:
            texts, plain = self.store.texts(rows.tolist()), self.store.pairs(rows.tolist())
            drawn = self.sampler.sample(texts, plain, np.random.default_rng([self.seed, PIECES, *place[:2]]))
            return Pool.of(drawn, batch_tokens=self.batch_tokens, pad_to=self.pad_to, generator=generator)
        return Pool.plan(
            self.store.source_lengths[rows],
            self.store.target_lengths[rows],
            lambda places: self.store.pairs(rows[places].tolist()),
            batch_tokens=self.batch_tokens,
            pad_to=self.pad_to,
            generator=generator,
        )

    def order(self, epoch: int) -> NDArray[Any]:
        """The rows of an epoch as they are drawn."""
        if self.factors is None:
            parts, size = blocks(len(self.store)), len(self.store)
        else:
            shares = [self.rows_of_member(member, factor, epoch) for member, factor in enumerate(self.factors)]
            parts, size = iter(shares), sum(map(len, shares))
        order = unnamed(parts, size, np.min_scalar_type(-len(self.store)))
        np.random.default_rng([self.seed, ORDER, epoch]).shuffle(order)
        return order

    def rows_of_member(self, member: int, factor: float, epoch: int) -> NDArray[Any]:
        """The rows of a corpus that an epoch has: the next of its own order, which begins again at its end."""
        rows = np.flatnonzero(self.store.corpus == member)
        np.random.default_rng([self.seed, MEMBER, member]).shuffle(rows)
        first, last = (round(number * (factor * len(rows))) for number in (epoch, epoch + 1))
        return rows.take(np.arange(first, last), mode="wrap")


def blocks(count: int) -> Iterator[NDArray[Any]]:
    """The numbers from 0 to count - 1, some at a time."""
    for begin in range(0, count, BLOCK):
        yield np.arange(begin, min(begin + BLOCK, count))


def unnamed(parts: Iterable[NDArray[Any]], count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The parts one after another, `count` numbers, in a file that has no name: the system may take their memory back.

    UserError where there is no room. Every byte is written before it is mapped: a page of a sparse file that finds the
    disk full ends the program.
    """
    if not count:
        return np.empty(0, dtype)
    try:
        with tempfile.TemporaryFile(prefix="nmt-") as file:
            for part in parts:
                file.write(part.astype(dtype).data)
            file.flush()
            return np.asarray(np.memmap(file, dtype, "r+", shape=(count,)))
    except OSError as error:
        raise UserError(
            f"{tempfile.gettempdir()}: no room for the order of an epoch, {count * dtype.itemsize:,} bytes "
            f"({error.strerror}); name another folder by TMPDIR"
        ) from error
