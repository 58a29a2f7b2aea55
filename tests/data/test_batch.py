"""Padding and plans: every pair once, no batch over its budget, the same plan for the same seed and epoch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.batch import make_batch, plan_epoch, plan_in_order
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


@given(LENGTHS, st.integers(1, 200), st.integers(1, 70), st.integers(0, 3))
def test_every_row_once_within_the_budget(
    lengths: list[tuple[int, int]], batch_tokens: int, pool: int, epoch: int
) -> None:
    source, target = np.array(lengths, dtype=np.int64).reshape(-1, 2).T
    plan = plan_epoch(source, target, batch_tokens=batch_tokens, pool=pool, seed=1, epoch=epoch)
    assert sorted(row for batch in plan for row in batch) == list(range(len(lengths)))
    for batch in plan:
        assert len(batch) == 1 or max(max(lengths[row]) for row in batch) * len(batch) <= batch_tokens


@given(LENGTHS, st.integers(1, 200))
def test_evaluation_goes_through_all_rows_by_length(lengths: list[tuple[int, int]], batch_tokens: int) -> None:
    sizes = np.array([max(pair) for pair in lengths], dtype=np.int64)
    plan = plan_in_order(sizes, batch_tokens)
    order = [row for batch in plan for row in batch]
    assert order == sorted(range(len(sizes)), key=lambda row: sizes[row])
    assert all(len(batch) == 1 or sizes[batch[-1]] * len(batch) <= batch_tokens for batch in plan)
    for batch, following in pairwise(plan):
        assert sizes[following[0]] * (len(batch) + 1) > batch_tokens, "a batch ends only where one row more is too much"


def test_the_plan_is_a_function_of_seed_and_epoch() -> None:
    lengths = np.random.default_rng(3).integers(1, 40, size=(2, 500))

    def plan(seed: int, epoch: int) -> list[list[int]]:
        return plan_epoch(*lengths, batch_tokens=200, pool=100, seed=seed, epoch=epoch)

    assert plan(1, 0) == plan(1, 0)
    assert len({str(plan(seed, epoch)) for seed in (1, 2) for epoch in (0, 1)}) == 4


def test_a_pool_of_everything_holds_like_lengths_together() -> None:
    """With one pool a batch's lengths are neighbours in the sorted corpus, so batches overlap at their ends at most."""
    lengths = np.random.default_rng(3).integers(1, 40, size=500)
    plan = plan_epoch(lengths, lengths, batch_tokens=300, pool=500, seed=1, epoch=0)
    spans = sorted((lengths[batch].min(), lengths[batch].max()) for batch in plan)
    assert all(span[1] <= following[0] for span, following in pairwise(spans))
    assert [lengths[batch].min() for batch in plan] != sorted(lengths[batch].min() for batch in plan), "not shuffled"


def test_equal_lengths_are_shuffled_between_epochs() -> None:
    lengths = np.full(64, 5)
    plans = [plan_epoch(lengths, lengths, batch_tokens=40, pool=64, seed=1, epoch=epoch) for epoch in (0, 1)]
    assert {frozenset(batch) for batch in plans[0]} != {frozenset(batch) for batch in plans[1]}


def test_a_corpus_smaller_than_a_batch_is_one_batch() -> None:
    lengths = np.array([3, 1, 2])
    (batch,) = plan_epoch(lengths, lengths, batch_tokens=4096, pool=1000, seed=1, epoch=0)
    assert sorted(batch) == [0, 1, 2]


def test_a_batch_may_fill_its_budget_exactly() -> None:
    assert plan_in_order(np.full(16, 5), 40) == [list(range(8)), list(range(8, 16))]
