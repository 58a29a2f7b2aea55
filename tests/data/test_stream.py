"""Portions of a stream: every pair once a pass, few in memory, whatever the processes, going on anywhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data.feed import FeedState, Portion
from nmt.data.pairs import IdPair, TextPair
from nmt.data.reading import Stream
from nmt.data.stream import Packed, Shard, Stand, StreamFeed, packed_stand, unpacked_stand
from nmt.errors import UserError
from nmt.train.distributed import Processes
from tests.data.test_feed import portions, sampler


def read(size: int | None, start: int = 0) -> Iterator[TextPair]:
    """Pair i has the text `i`."""
    numbers = count(start) if size is None else range(start, size)
    return (TextPair(number, f"{number}", f"{number}") for number in numbers)


def encode(pairs: Iterable[TextPair]) -> Iterator[IdPair]:
    """Every seventh pair is left out; lengths are of 1 to 5 by number and corpus; ids say which pair it is."""
    for pair in pairs:
        if pair.index % 7 != 6:
            sizes = (1 + pair.index % 5, 1 + (pair.index + pair.corpus) % 3)
            source, target = ([4 + pair.index] * size for size in sizes)
            yield IdPair(pair.index, source, target, (0, 0), pair.corpus, pair)


def feed(*sizes: int | None, **changed: Any) -> StreamFeed:
    """Of corpora of these sizes (None: without end), 50 pairs unless others are given."""
    given: dict[str, Any] = {"batch_tokens": 20, "pool": 16, "accumulate": 2, "shuffle_buffer": 12, "seed": 5}
    given["processes"] = Processes()
    members = [partial(read, size) for size in sizes or (50,)]
    return StreamFeed(members, encode, name="toy", **{**given, **changed})


class Apart(Processes):
    """One of several processes that are run one after another: what they would add up and gather is left in parts."""

    def total(self, values: Sequence[float]) -> list[float]:
        return list(values)

    def gather(self, own: Sequence[Any]) -> list[Any]:
        return list(own)


def first(of: StreamFeed, updates: int) -> list[Portion]:
    with portions(of) as coming:  # type: ignore[arg-type]
        return list(islice(coming, updates))


def rows(updates: Iterable[Portion]) -> list[int]:
    return [pair.index for portion in updates for _, batch in portion.batches for pair in batch]


def through_json(state: FeedState) -> FeedState:
    """As a checkpoint has it."""
    return FeedState(json.loads(json.dumps(state.values)), state.tensors)


@given(st.integers(1, 60), st.integers(1, 40), st.integers(1, 4), st.integers(0, 80), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_every_pair_once_a_pass(size: int, pool: int, accumulate: int, buffer: int, pad_to: int) -> None:
    """In batches within the budget, one of every shard an update; shards are not equally far, so passes overlap."""
    of = feed(size, pool=pool, accumulate=accumulate, shuffle_buffer=buffer, pad_to=pad_to)
    kept = [pair.index for pair in encode(read(size))]
    given = Counter[int]()
    with portions(of) as coming:  # type: ignore[arg-type]
        while min(given[row] for row in kept) < 3:
            portion = next(coming)
            assert [number for number, _ in portion.batches] == list(range(accumulate))
            given.update(rows([portion]))
            for _, batch in portion.batches:
                widest = max(max(len(pair.source), len(pair.target)) + 1 for pair in batch)
                assert len(batch) == 1 or -(-widest // pad_to) * pad_to * len(batch) <= 20
    assert given.keys() == set(kept)
    if accumulate == 1:
        assert max(given.values()) <= 4


def test_a_pass_is_whole_before_the_next() -> None:
    """One shard gives every pair once, then every pair once again in another order; passes count them."""
    of = feed(50, accumulate=1, shuffle_buffer=10)
    kept = sorted(pair.index for pair in encode(read(50)))
    passes: list[list[int]] = [[], [], []]
    with portions(of) as coming:  # type: ignore[arg-type]
        for portion in coming:
            if of.passes > 3:
                break
            passes[sum(len(one) >= len(kept) for one in passes)] += rows([portion])
            assert of.passes <= sum(map(len, passes)) / len(kept) + 1e-9
    assert all(sorted(one) == kept for one in passes)
    assert passes[0] != passes[1]
    assert of.passes == pytest.approx(3 + len(rows([portion])) / len(kept))


@given(
    st.integers(7, 60),
    st.integers(1, 40),
    st.integers(1, 4),
    st.integers(0, 80),
    st.integers(0, 30),
    st.booleans(),
    st.sampled_from([(), (30,), (None,)]),
)
@settings(max_examples=40, deadline=None)
def test_a_stop_anywhere_changes_nothing(
    size: int, pool: int, accumulate: int, buffer: int, stop: int, sampled: bool, others: tuple[int | None, ...]
) -> None:
    def made() -> StreamFeed:
        own = sampler() if sampled else None
        return feed(size, *others, pool=pool, accumulate=accumulate, shuffle_buffer=buffer, sampler=own)

    whole = first(made(), stop + 8)
    one, other = made(), made()
    before = first(one, stop)
    other.restore(through_json(one.state()))
    assert other.passes == one.passes
    assert before + first(other, 8) == whole


def test_nothing_counts_before_it_is_used() -> None:
    of, other = feed(), feed()
    with portions(of) as coming:  # type: ignore[arg-type]
        next(coming)
        state = of.state()
        following = next(coming)
    other.restore(state)
    assert first(other, 1) == [following]


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("sampled", [False, True])
def test_processes_share_what_one_has(size: int, sampled: bool) -> None:
    """Each encodes its own pairs alone; together they have the batches and the counts of one, and so after a stop of
    which another number of processes goes on."""
    own = sampler() if sampled else None
    alone = feed(accumulate=4, sampler=own)
    whole = first(alone, 40)
    parts = [feed(accumulate=4, sampler=own, processes=Apart(rank, size)) for rank in range(size)]
    shares = [first(part, 25) for part in parts]
    check_shares(whole[:25], shares)
    states = [part.state() for part in parts]
    shards = [state.values["shards"] for state in states]
    tensors = {
        f"{rank + place * size}.{name.partition('.')[2]}": tensor
        for rank, state in enumerate(states)
        for name, tensor in state.tensors.items()
        for place in [int(name.partition(".")[0])]
    }
    every = [shards[number % size][number // size] for number in range(4)]
    state = FeedState({"passes": states[0].values["passes"], "shards": every}, tensors)
    again = feed(accumulate=4, sampler=own)
    again.restore(through_json(state))
    assert first(again, 15) == whole[25:]
    others = [feed(accumulate=4, sampler=own, processes=Apart(rank, 5 - size)) for rank in range(5 - size)]
    for one in others:
        one.restore(through_json(state))
    check_shares(whole[25:], [first(one, 15) for one in others])


def check_shares(whole: list[Portion], shares: list[list[Portion]]) -> None:
    for portion, *parts in zip(whole, *shares, strict=True):
        assert sorted(batch for part in parts for batch in part.batches) == portion.batches
        for name in ("tokens", "positions", "filled"):
            assert sum(getattr(part, name) for part in parts) == getattr(portion, name)


def test_a_process_encodes_its_own_pairs_alone() -> None:
    seen: list[int] = []

    def watched(pairs: Iterable[TextPair]) -> Iterator[IdPair]:
        for pair in encode(pairs):
            seen.append(pair.index)
            yield pair

    part = feed(10**6, accumulate=4, processes=Apart(1, 2))
    part.encode = watched
    given = rows(first(part, 20))
    assert {row % 4 for row in seen} == {1, 3}
    assert set(given) <= set(seen)


def test_an_endless_corpus_is_read_as_far_as_it_is_needed() -> None:
    """What is in memory is the buffer and two chunks, whatever was read."""
    furthest = [0]

    def watched(start: int) -> Iterator[TextPair]:
        for pair in read(None, start):
            furthest[0] = pair.index
            yield pair

    of = feed(pool=40, shuffle_buffer=100)
    of.stream.members = [watched]
    given = 0
    with portions(of) as coming:  # type: ignore[arg-type]
        for portion in islice(coming, 300):
            given += len(rows([portion]))
            assert furthest[0] * 6 / 7 - given < 100 + 5 * 40
    assert given > 900
    assert of.passes == 0
    assert all(len(stand.shard.buffer) <= 50 + 2 * 20 for stand in of.stands.values())


def test_corpora_come_by_their_weights() -> None:
    """Three times as many pairs of the second, of whatever sizes; each corpus goes on where it was."""
    of = feed(10**6, 100, weights=(1, 3), shuffle_buffer=50, pool=200)
    corpora = Counter(pair.corpus for portion in first(of, 400) for _, batch in portion.batches for pair in batch)
    assert corpora[1] / corpora.total() == pytest.approx(0.75, abs=0.04)
    assert of.passes == 0, "the first corpus has not ended"


def test_a_pass_of_several_corpora_ends_with_the_last() -> None:
    stream = Stream([partial(read, 5), partial(read, 30)], weights=None, size=8, seed=1, name="toy")
    blocks = list(islice(stream.blocks(stream.start), 40))
    pairs = [pair for block in blocks if block.after.passes == 0 or block.before.passes == 0 for pair in block.pairs]
    seconds = [pair.index for pair in pairs if pair.corpus == 1]
    assert seconds == list(range(30)), "the last pair of the pass is the second corpus's last"
    firsts = [pair.index for pair in pairs if pair.corpus == 0]
    assert firsts == [place % 5 for place in range(len(firsts))]
    chosen = [[pair.corpus for pair in block.pairs] for block in blocks[:4]]
    assert len({str(one) for one in chosen}) == 4, "drawn anew for every block"
    for block in blocks[1::7]:
        assert next(stream.blocks(block.before)) == block, "a stream goes on from anywhere"


def test_small_corpora_are_dealt_to_every_shard() -> None:
    """Two pairs for two shards: each has either, in turn."""
    updates = first(feed(2), 20)
    for shard in range(2):
        assert {pair.index for portion in updates for pair in portion.batches[shard][1]} == {0, 1}


@pytest.mark.parametrize("size", [0, 1])
def test_nothing_to_use(size: int) -> None:
    """No pairs at all, and none that is kept."""

    def nothing(pairs: Iterable[TextPair]) -> Iterator[IdPair]:
        return iter([pair for pair in encode(pairs) if pair.index < 0])

    of = feed(size)
    of.encode = nothing
    message = "no pairs to use in toy" if size else "toy: corpus 1 of a stream has no pairs"
    with portions(of) as coming, pytest.raises(UserError, match=message):  # type: ignore[arg-type]
        next(coming)


def test_what_it_is_known_by() -> None:
    prints = {
        feed(**changed).fingerprint for changed in ({}, {"shuffle_buffer": 13}, {"weights": (2,)}, {"known_by": "x"})
    }
    assert len(prints) == 4
    assert feed(weights=(2.0,)).fingerprint == feed(weights=(2,)).fingerprint


PAIRS = st.builds(
    IdPair,
    st.integers(0, 2**40),
    st.lists(st.integers(0, 2**31 - 1), max_size=5),
    st.lists(st.integers(0, 2**31 - 1), max_size=5),
    st.lists(st.integers(0, 100), max_size=4),
    st.integers(0, 300),
)


@given(st.lists(PAIRS, max_size=6))
def test_a_buffer_comes_back(pairs: list[IdPair]) -> None:
    start = Stream([partial(read, 5)] * 2, weights=None, size=8, seed=1, name="toy").start
    stand = Stand(Shard(start, [Packed.of(pair) for pair in pairs], 7, 5, 9, True), 3)
    values, tensors = packed_stand(stand)
    assert unpacked_stand(json.loads(json.dumps(values)), tensors) == stand
    assert [one.pair() for one in stand.shard.buffer] == pairs
    assert all(isinstance(tensor, torch.Tensor) for tensor in tensors.values())
    assert np.prod(tensors["sizes"].shape) == 3 * len(pairs)
