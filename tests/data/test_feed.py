"""Portions of a store: every pair as often as it should come, the same whatever the processes, going on anywhere."""

from __future__ import annotations

import resource
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data.feed import Portion, StoreFeed
from nmt.data.pairs import IdPair, TextPair
from nmt.data.sampling import Sampler
from nmt.errors import UserError
from nmt.train.distributed import Processes
from tests.laws.models import ToyStore


class TextStore(ToyStore):
    """Pair r has the text `r`, and is of corpus r mod 3."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.corpus = np.arange(len(self)) % 3

    def texts(self, rows: list[int]) -> list[TextPair]:
        return [TextPair(row, f"{row}", f"{row}") for row in rows]


class Scissors:
    """Cuts a line into 1 to 9 pieces by its seed."""

    def sample(self, line: str, alpha: float, seed: int) -> list[int]:
        return [4 + int(line)] * (1 + seed % 9)


def sampler(max_pieces: int | None = None) -> Sampler:
    scissors: Any = Scissors()
    return Sampler(scissors, scissors, alpha=0.1, max_pieces=max_pieces)


def store(size: int) -> Any:
    """Random lengths; a pair's ids say which it is."""
    lengths = np.random.default_rng(3).integers(1, 12, size=(size, 2)).tolist()
    return TextStore([[4 + row] * own[0] for row, own in enumerate(lengths)], [[5] * own[1] for own in lengths])


def feed(size: int = 50, **changed: Any) -> StoreFeed:
    given: dict[str, Any] = {"batch_tokens": 40, "pool": 16, "accumulate": 2, "seed": 5, "processes": Processes()}
    return StoreFeed(store(size), **{**given, **changed})


@contextmanager
def portions(of: StoreFeed) -> Iterator[Iterator[Portion]]:
    updates = of.updates()
    try:
        yield updates
    finally:
        updates.close()


def first(of: StoreFeed, updates: int) -> list[Portion]:
    with portions(of) as coming:
        return list(islice(coming, updates))


def epochs(of: StoreFeed, number: int) -> list[list[Portion]]:
    """The updates of so many epochs."""
    found: list[list[Portion]] = [[] for _ in range(number)]
    with portions(of) as coming:
        for portion in coming:
            epoch = int(of.passes - 1e-9)
            if epoch == number:
                return found
            found[epoch].append(portion)
    raise AssertionError


def rows(updates: list[Portion]) -> list[int]:
    return [pair.index for portion in updates for _, batch in portion.batches for pair in batch]


@given(st.integers(1, 60), st.integers(1, 70), st.integers(1, 4), st.integers(1, 5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_pair_once_an_epoch(size: int, pool: int, accumulate: int, pad_to: int, sampled: bool) -> None:
    """In updates of `accumulate` batches but for the last, each within the budget of the lengths that are used."""
    of = feed(size, pool=pool, accumulate=accumulate, pad_to=pad_to, sampler=sampler() if sampled else None)
    for updates in epochs(of, 2):
        assert sorted(rows(updates)) == list(range(size))
        counts = [len(portion.batches) for portion in updates]
        assert set(counts[:-1]) <= {accumulate}
        assert 0 < counts[-1] <= accumulate
        for portion in updates:
            for _, batch in portion.batches:
                widest = max(max(len(pair.source), len(pair.target)) + 1 for pair in batch)
                assert len(batch) == 1 or -(-widest // pad_to) * pad_to * len(batch) <= 40


def test_epochs_differ_and_are_functions_of_the_seed() -> None:
    one, other = epochs(feed(), 2)
    assert rows(one) != rows(other)
    pools = [set(feed().order(epoch)[:16].tolist()) for epoch in range(2)]
    assert pools[0] != pools[1], "other pairs together, and not only in another order"
    assert epochs(feed(), 2) == [one, other]
    assert rows(epochs(feed(seed=6), 1)[0]) != rows(one)


def test_passes_count_pairs() -> None:
    of = feed(50)
    read = 0
    with portions(of) as coming:
        for portion in islice(coming, 40):
            read += sum(len(batch) for _, batch in portion.batches)
            assert of.passes == pytest.approx(read / 50)


def test_counts_are_of_the_whole_update() -> None:
    """Tokens, positions and what is filled, by hand from the pairs."""
    for portion in first(feed(pad_to=4), 8):
        batches = [batch for _, batch in portion.batches]
        sides = [[[*pair.source, 0] for pair in batch] for batch in batches] + [
            [[*pair.target, 0] for pair in batch] for batch in batches
        ]
        assert portion.tokens == sum(len(line) for side in sides[len(batches) :] for line in side)
        assert portion.filled == sum(len(line) for side in sides for line in side)
        assert portion.positions == sum(len(side) * -(-max(map(len, side)) // 4) * 4 for side in sides)


@given(
    st.integers(1, 60),
    st.integers(1, 70),
    st.integers(1, 4),
    st.integers(0, 30),
    st.booleans(),
    st.sampled_from([None, (1.0, 0.4, 2.5)]),
)
@settings(max_examples=40, deadline=None)
def test_a_stop_anywhere_changes_nothing(
    size: int, pool: int, accumulate: int, stop: int, sampled: bool, factors: tuple[float, ...] | None
) -> None:
    def made() -> StoreFeed:
        own = sampler() if sampled else None
        return feed(size, pool=pool, accumulate=accumulate, sampler=own, factors=factors)

    whole = first(made(), stop + 5)
    one, other = made(), made()
    before = first(one, stop)
    other.restore(one.state())
    assert other.passes == one.passes
    assert before + first(other, 5) == whole


def test_nothing_counts_before_it_is_used() -> None:
    of, other = feed(), feed()
    with portions(of) as coming:
        next(coming)
        state = of.state()
        following = next(coming)
    other.restore(state)
    assert first(other, 1) == [following]


@given(st.integers(1, 5), st.integers(1, 6), st.booleans())
@settings(max_examples=20, deadline=None)
def test_processes_share_what_one_has(size: int, accumulate: int, sampled: bool) -> None:
    own = sampler() if sampled else None
    alone = first(feed(accumulate=accumulate, sampler=own), 10)
    shares = [
        first(feed(accumulate=accumulate, sampler=own, processes=Processes(rank, size)), 10) for rank in range(size)
    ]
    for portion, *parts in zip(alone, *shares, strict=True):
        assert sorted(batch for part in parts for batch in part.batches) == portion.batches
        assert all(part[1:] == portion[1:] for part in parts)
        assert [[number for number, _ in part.batches] for part in parts] == [
            list(range(len(portion.batches)))[rank::size] for rank in range(size)
        ]


def test_factors_are_kept_over_the_epochs() -> None:
    """Corpora 0, 1 and 2 of 17, 17 and 16 pairs: each pair once, 0.4 and 2.5 times an epoch, all of one corpus equally
    often, and never all of an epoch in one order."""
    totals: Counter[int] = Counter()
    for number, updates in enumerate(epochs(feed(50, factors=(1.0, 0.4, 2.5)), 10), start=1):
        now = Counter(rows(updates))
        assert all(now[row] == 1 for row in range(0, 50, 3))
        assert {now[row] for row in range(1, 50, 3)} == {0, 1}
        assert {now[row] for row in range(2, 50, 3)} == {2, 3}
        totals += now
        for corpus, factor in enumerate((1.0, 0.4, 2.5)):
            own = [totals[row] for row in range(corpus, 50, 3)]
            assert max(own) - min(own) <= 1
            assert sum(own) == pytest.approx(number * factor * len(own), abs=0.5)


def test_other_factors_are_another_training() -> None:
    prints = [feed(factors=factors).fingerprint for factors in (None, (1, 1, 2), (2, 1, 1))]
    assert len(set(prints)) == 3
    assert feed(factors=(1, 1, 2.0)).fingerprint == prints[1]
    assert feed(factors=(1.0, 1.0, 1.0)).fingerprint == prints[0], "which is every pair once"


def test_sampled_pieces_are_others_in_every_epoch() -> None:
    """The same pair, cut anew; and copies within an epoch are cut each in its way."""
    one, other = (
        {pair.index: pair for portion in updates for _, batch in portion.batches for pair in batch}
        for updates in epochs(feed(sampler=sampler()), 2)
    )
    assert sum(one[row] != other[row] for row in range(50)) > 40
    copies = Counter()
    for portion in epochs(feed(sampler=sampler(), factors=(20.0, 0, 0)), 1)[0]:
        copies.update((pair.index, len(pair.source)) for _, batch in portion.batches for pair in batch)
    assert len({size for row, size in copies if row == 0}) > 5


def test_a_sample_that_is_too_long_stays_plain() -> None:
    given = store(50)
    for portion in epochs(feed(sampler=sampler(max_pieces=4)), 1)[0]:
        for _, batch in portion.batches:
            for pair in batch:
                drawn = len(pair.source) <= 4 and len(pair.target) <= 4
                assert drawn or replace(pair) == given.pairs([pair.index])[0]


def test_what_goes_wrong_ahead_is_told() -> None:
    of = feed()

    def broken(rows: Any) -> list[IdPair]:
        raise ValueError("a disk has gone")

    of.store.texts = broken  # type: ignore[method-assign]
    of.sampler = sampler()
    with portions(of) as coming, pytest.raises(ValueError, match="a disk has gone"):
        next(coming)


def test_an_order_is_no_list_in_memory() -> None:
    """It lies in a file, 4 bytes a pair."""
    order = feed(1000).order(0)
    assert order.dtype.itemsize <= 4
    assert isinstance(order.base, np.memmap)
    assert sorted(order.tolist()) == list(range(1000))


def test_an_epoch_without_pairs_has_no_update() -> None:
    """One pair in every other epoch."""
    of = feed(3, factors=(0.5, 0.0, 0.0))
    assert [rows([portion]) for portion in first(of, 5)] == [[0]] * 5
    assert of.passes == pytest.approx(10, abs=1)


def test_an_order_that_finds_no_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sparse file would end the program when its pages are first touched."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        with pytest.raises(
            UserError, match=r"no room for the order of an epoch, 50 bytes \(File too large\); .*TMPDIR"
        ):
            feed().order(0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert sorted(feed().order(0)) == list(range(50))
