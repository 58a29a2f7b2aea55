"""Padding and plans: every pair once, no batch over its budget, the same plan for the same seed and epoch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.batch import Ints, batch_pairs, make_batch, plan_in_order, plan_pool
from nmt.data.pairs import IdPair
from nmt.data.special import BOS, EOS

LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), max_size=200)


def test_batch_by_hand() -> None:
    batch = make_batch([[5, 6], [7]], [[8], [9, 10, 11]], [40, 2])
    assert batch.source_lengths.tolist() == [3, 2]
    assert batch.target_lengths.tolist() == [2, 4]
    assert batch.source[0].tolist() == [5, 6, EOS]
    assert batch.source[1, :2].tolist() == [7, EOS]
    assert batch.target_in[0, :2].tolist() == [BOS, 8]
    assert batch.target_in[1].tolist() == [BOS, 9, 10, 11]
    assert batch.target_out[0, :2].tolist() == [8, EOS]
    assert batch.target_out[1].tolist() == [9, 10, 11, EOS]
    assert batch.index.tolist() == [40, 2]
    assert len(batch) == 2
    assert torch.equal(batch.to(torch.device("cpu")).source, batch.source)


def plan(source: Ints, target: Ints, batch_tokens: int, pad_to: int = 1, seed: int = 1) -> list[list[int]]:
    generator = np.random.default_rng(seed)
    return plan_pool(source, target, batch_tokens=batch_tokens, pad_to=pad_to, generator=generator)


@given(st.lists(st.integers(0, 9), max_size=5), st.integers(1, 8))
def test_shapes_are_multiples_and_lengths_stay(lengths: list[int], pad_to: int) -> None:
    pairs = [IdPair(7, [5] * length, [6, 6]) for length in lengths]
    batch, plain = batch_pairs(pairs, pad_to=pad_to), batch_pairs(pairs)
    for name in ("source", "target_in", "target_out"):
        padded, own = getattr(batch, name), getattr(plain, name)
        assert padded.shape[1] % pad_to == 0
        assert padded.shape[1] - own.shape[1] < pad_to
        assert torch.equal(padded[:, : own.shape[1]], own)
    assert torch.equal(batch.source_lengths, plain.source_lengths)
    assert batch.links is None


def test_pairs_take_their_links_along() -> None:
    batch = batch_pairs([IdPair(0, [5], [6, 7], (0, 1)), IdPair(1, [5], [6])], linked=True)
    assert batch.links is not None
    assert batch.links.tolist() == [[0, 0, 1]]


@given(LENGTHS, st.integers(1, 200), st.integers(1, 9))
def test_every_row_once_within_the_budget(lengths: list[tuple[int, int]], batch_tokens: int, pad_to: int) -> None:
    """Of the shapes that are really made, padding counted."""
    source, target = np.array(lengths, dtype=np.int32).reshape(-1, 2).T
    found = plan(source, target, batch_tokens, pad_to)
    assert sorted(row for batch in found for row in batch) == list(range(len(lengths)))
    for rows in found:
        batch = make_batch(
            [[5] * (source[row] - 1) for row in rows], [[5] * (target[row] - 1) for row in rows], pad_to=pad_to
        )
        assert len(rows) == 1 or max(batch.source.shape[1], batch.target_in.shape[1]) * len(rows) <= batch_tokens


@given(LENGTHS, st.integers(1, 200))
def test_evaluation_goes_through_all_rows_by_length(lengths: list[tuple[int, int]], batch_tokens: int) -> None:
    sizes = np.array([max(pair) for pair in lengths], dtype=np.int64)
    plan = plan_in_order(sizes, batch_tokens)
    order = [row for batch in plan for row in batch]
    assert order == sorted(range(len(sizes)), key=lambda row: sizes[row])
    assert all(len(batch) == 1 or sizes[batch[-1]] * len(batch) <= batch_tokens for batch in plan)
    for batch, following in pairwise(plan):
        assert sizes[following[0]] * (len(batch) + 1) > batch_tokens, "a batch ends only where one row more is too much"


def test_the_plan_is_a_function_of_its_generator() -> None:
    lengths = np.random.default_rng(3).integers(1, 40, size=(2, 500))
    assert plan(*lengths, 200, seed=1) == plan(*lengths, 200, seed=1) != plan(*lengths, 200, seed=2)


def test_a_batch_holds_like_lengths() -> None:
    """Its lengths are neighbours in the sorted pool, so batches overlap at their ends at most; they are shuffled."""
    lengths = np.random.default_rng(3).integers(1, 40, size=500)
    found = plan(lengths, lengths, 300)
    spans = sorted((lengths[batch].min(), lengths[batch].max()) for batch in found)
    assert all(span[1] <= following[0] for span, following in pairwise(spans))
    assert [lengths[batch].min() for batch in found] != sorted(lengths[batch].min() for batch in found)


def test_widths_that_are_padded_alike_stay_as_they_come() -> None:
    """Sorted by the very length, batches of multiples of 8 would always have the same neighbours."""
    lengths = np.array([8, 3, 7, 9, 1])
    found = plan(lengths, lengths, 16, pad_to=8)
    assert sorted(found) == [[0, 1], [2, 4], [3]]


def test_a_pool_smaller_than_a_batch_is_one_batch() -> None:
    lengths = np.array([3, 1, 2])
    (batch,) = plan(lengths, lengths, 4096)
    assert sorted(batch) == [0, 1, 2]


def test_a_batch_may_fill_its_budget_exactly() -> None:
    assert plan_in_order(np.full(16, 5), 40) == [list(range(8)), list(range(8, 16))]
