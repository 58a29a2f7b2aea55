"""Coverage by hand: what enters the score, and what reading again costs.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor

from nmt.model.attention.attention import Attention
from nmt.model.attention.coverage import Coverage
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.additive import Additive
from nmt.model.attention.scores.general import General
from nmt.model.attention.windows.global_ import Global

SIZES = {"query_size": 5, "memory_size": 3}


def steps(attention: Attention, queries: Tensor, states: Tensor) -> tuple[list[Tensor], list[dict[str, Tensor]]]:
    """Weights [S] and losses of one query after another over one sentence."""
    valid = torch.ones(1, len(states), dtype=torch.bool)
    prepared = attention.prepare(states.unsqueeze(0), valid, states[:1])
    state, weights, losses = attention.start(prepared), [], []
    for number, query in enumerate(queries):
        attended, state = attention(query.view(1, 1, -1), prepared, state, torch.tensor([[number]]))
        weights.append(attended.weights[0, 0, 0])
        losses.append(attended.losses)
    return weights, losses


@torch.no_grad()
def test_linguistic_coverage_enters_the_additive_score() -> None:
    """v' tanh(W s + U h_j + V C_j), C_j the weights so far over N sigmoid(u' h_j) (Tu 2016, section 3.1)."""
    torch.manual_seed(3)
    attention = Attention(
        **SIZES, score=Additive, window=Global, normalizer=Softmax, coverage=partial(Coverage, fertility=2.0)
    ).double()
    queries, states = torch.randn(4, 5).double(), torch.randn(7, 3).double()
    found, losses = steps(attention, queries, states)
    score, coverage = attention.score, attention.coverage
    assert isinstance(score, Additive)
    assert coverage is not None
    assert coverage.wants is not None
    fertility = 2.0 * torch.sigmoid(states @ coverage.wants.weight[0])
    covered = torch.zeros(7).double()
    for query, weights in zip(queries, found, strict=True):
        units = score.query.weight @ query + states @ score.memory.weight.T + covered[:, None] * coverage.entry
        expected = (units.tanh() @ score.energy.weight[0]).softmax(0)
        torch.testing.assert_close(weights, expected, atol=1e-12, rtol=0)
        covered = covered + expected / fertility
    assert losses == [{}] * 4


@torch.no_grad()
def test_without_fertility_it_is_the_sum_of_weights() -> None:
    """See 2017, equations 10 and 11; here with the general score: q' (W h_j + v c_j)."""
    torch.manual_seed(3)
    attention = Attention(**SIZES, score=General, window=Global, normalizer=Softmax, coverage=Coverage).double()
    queries, states = torch.randn(4, 5).double(), torch.randn(7, 3).double()
    found, _ = steps(attention, queries, states)
    score, coverage = attention.score, attention.coverage
    assert isinstance(score, General)
    assert coverage is not None
    covered = torch.zeros(7).double()
    for query, weights in zip(queries, found, strict=True):
        keys = states @ score.matrix.weight.T + covered[:, None] * coverage.entry
        torch.testing.assert_close(weights, (keys @ query).softmax(0), atol=1e-12, rtol=0)
        covered = covered + weights


def test_reading_again_costs() -> None:
    """sum_j min(a_j, c_j) (See 2017, equation 12): (1/4, 3/4) after (1/2, 0), and after nothing, times the weight 2."""
    coverage = Coverage(memory_size=2, key_size=2, loss=2.0)
    weights = torch.tensor([[0.25, 0.75]])
    assert coverage.losses(weights, torch.zeros(1, 2))["coverage"].tolist() == [[0.0]]
    assert coverage.losses(weights, torch.tensor([[0.5, 0.0]]))["coverage"].tolist() == [[0.5]]


def test_not_into_a_score_that_sees_no_words() -> None:
    with pytest.raises(ValueError, match="no keys for coverage to enter"):
        Coverage(memory_size=2, key_size=0)


@pytest.mark.parametrize("setting", [{"fertility": -1.0}, {"loss": -1.0}])
def test_no_negative_settings(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be 0 \\(off\\) or positive"):
        Coverage(memory_size=2, key_size=2, **setting)
