"""One head: causality before the softmax, dropout on what reads alone, rows of a beam, and what may be read at all.

Shape letters: B sentences, T query positions, S source positions.
"""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.model.attention.attention import Attention
from nmt.model.attention.none import NoAttention
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.dot import Dot
from nmt.model.attention.scores.scaled_dot import ScaledDot
from nmt.model.attention.windows.global_ import Global
from nmt.model.interface import select
from tests.model.attention.leaves import NORMALIZERS, SCORES, WINDOWS, inputs, make

single = partial(Attention, score=Dot, window=Global, normalizer=Softmax)


def _read(attention: Attention, x: Tensor, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
    valid = torch.ones(x.shape[:2], dtype=torch.bool) if valid is None else valid
    prepared = attention.prepare(x, valid, x[:, 0])
    attended, state = attention(x, prepared, attention.start(prepared), torch.arange(x.shape[1])[None])
    assert state == ()
    return attended.context, attended.weights


def test_causality_acts_before_the_softmax() -> None:
    """A row's weights sum to 1 over the past: what would come later is given no share that is then thrown away."""
    x = torch.randn(2, 5, 3)
    _, weights = _read(single(query_size=3, memory_size=3, causal=True), x)
    assert not weights.triu(1).any()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 1, 5))
    energies = x[0, 3] @ x[0, :4].T
    torch.testing.assert_close(weights[0, 0, 3, :4], energies.softmax(0))


def test_causality_and_padding_meet() -> None:
    x, valid = torch.randn(1, 4, 3), torch.tensor([[False, True, True, False]])
    context, weights = _read(single(query_size=3, memory_size=3, causal=True), x, valid)
    assert not weights[0, 0, 0].any()
    assert not context[0, 0].any()
    torch.testing.assert_close(weights[0, 0, 1], torch.tensor([0.0, 1.0, 0.0, 0.0]))
    assert not weights[..., 3].any()


def test_context_is_the_mean_by_weights() -> None:
    """Two equal energies: the middle of two annotations."""
    attention = single(query_size=2, memory_size=2)
    states = torch.tensor([[[2.0, 0.0], [0.0, 2.0]]])
    prepared = attention.prepare(states, torch.ones(1, 2, dtype=torch.bool), states[:, 0])
    attended, _ = attention(torch.tensor([[[1.0, 1.0]]]), prepared, (), torch.zeros(1, 1))
    torch.testing.assert_close(attended.context, torch.tensor([[[1.0, 1.0]]]))
    torch.testing.assert_close(attended.energies, torch.tensor([[[[2.0, 2.0]]]]))


def test_dropout_acts_on_what_reads_never_on_what_is_returned() -> None:
    attention, x = single(query_size=3, memory_size=3, dropout=0.5), torch.randn(2, 50, 3)
    _, quiet = _read(attention.eval(), x)
    context, weights = _read(attention.train(), x)
    torch.testing.assert_close(weights, quiet)
    assert not torch.allclose(context, weights.squeeze(1) @ x)


@pytest.mark.parametrize("steps", [1, 3])
def test_rows_of_a_beam_are_rows_of_their_own(steps: int) -> None:
    """B x beam queries over B sentences against as many sentences: context, weights, energies."""
    attention, beam = single(query_size=3, memory_size=3, causal=True), 4
    x, query = torch.randn(2, 5, 3), torch.randn(2 * beam, steps, 3)
    prepared = attention.prepare(x, torch.arange(5) < torch.tensor([[5], [3]]), x[:, 0])
    position = torch.arange(2 * beam)[:, None] % 4 + torch.arange(steps)
    folded, _ = attention(query, prepared, (), position)
    rows = select(prepared, torch.arange(2).repeat_interleave(beam))
    plain, _ = attention(query, rows, (), position)
    for one, other in zip(folded[:3], plain[:3], strict=True):
        assert one.shape == other.shape
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("feed", [False, True])
def test_none_reads_the_summary_or_nothing(feed: bool) -> None:
    attention = NoAttention(query_size=3, memory_size=5, feed_summary=feed)
    states, summary = torch.randn(2, 7, 5), torch.randn(2, 5)
    prepared = attention.prepare(states, torch.ones(2, 7, dtype=torch.bool), summary)
    attended, _ = attention(torch.randn(6, 4, 3), prepared, attention.start(prepared), torch.arange(4)[None])
    assert attention.context_size == (5 if feed else 0)
    assert attended.context.shape == (6, 4, attention.context_size)
    assert not attended.weights.any()
    assert attended.weights.shape == (6, 1, 4, 7)
    if feed:
        torch.testing.assert_close(attended.context[4, 2], summary[1])


@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_one_head_is_torchs(causal: bool) -> None:
    """torch's scaled dot-product attention, in single precision."""
    attention = Attention(
        query_size=5, memory_size=5, score=ScaledDot, window=Global, normalizer=Softmax, causal=causal
    )
    x = torch.randn(2, 7, 5)
    context, _ = _read(attention, x)
    wanted = F.scaled_dot_product_attention(x, x, x, is_causal=causal)
    torch.testing.assert_close(context, wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("normalizer", NORMALIZERS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("score", SCORES)
@torch.no_grad()
def test_what_is_read_lies_among_the_values(score: str, window: str, normalizer: str) -> None:
    """Before a window's gain, a context is a mean of the values that are shown, with weights that sum to one: no
    coordinate is below their lowest or above their highest. Queries and keys differ in number, and in size."""
    attention = make(score, window, normalizer).eval()
    query, states, valid, position = inputs(attention)
    windowed = attention.window(query, valid, position)
    energies = attention.score(query, attention.score.project(states))
    weights = attention.normalizer(energies, windowed.allowed, None).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(query.shape[:2]).double(), atol=1e-12, rtol=0)
    shown = windowed.allowed.expand_as(weights).unsqueeze(-1)
    values, context = states.unsqueeze(1), weights @ states
    assert (context >= values.masked_fill(~shown, math.inf).amin(2) - 1e-12).all()
    assert (context <= values.masked_fill(~shown, -math.inf).amax(2) + 1e-12).all()
    prepared = attention.prepare(states, valid, states[:, 0])
    attended, _ = attention(query, prepared, attention.start(prepared), position)
    if windowed.log_gain is None:
        assert torch.equal(attended.weights.squeeze(1), weights)
    if attended.log_prior is None:
        torch.testing.assert_close(attended.context, attended.weights.squeeze(1) @ states, atol=1e-12, rtol=0)


@pytest.mark.parametrize("score", SCORES)
def test_keys_and_values_are_equal_in_number(score: str) -> None:
    attention = make(score)
    query, states, valid, position = inputs(attention)
    prepared = attention.prepare(states, valid, states[:, 0])
    with pytest.raises(RuntimeError):
        attention(query, prepared._replace(values=states[:, :-1]), (), position)
