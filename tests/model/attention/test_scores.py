"""Each score against its paper's formula, one number after another."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from nmt.model.attention.scores.additive import Additive
from nmt.model.attention.scores.dot import Dot
from nmt.model.attention.scores.general import General
from nmt.model.attention.scores.scaled_dot import ScaledDot

B, T, S, Q, D = 2, 3, 5, 7, 11


def _inputs(query_size: int, memory_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(B, T, query_size).double(), torch.randn(B, S, memory_size).double()


@pytest.mark.parametrize("size", [0, 13])
@torch.no_grad()
def test_additive(size: int) -> None:
    """Bahdanau 2015, A.1.2: v' tanh(W s + U h)."""
    score = Additive(query_size=Q, memory_size=D, size=size).double()
    assert score.query.out_features == (size or Q)
    query, states = _inputs(Q, D)
    energies = score(query, score.project(states)).numpy()
    w, u, v = (part.weight.numpy() for part in (score.query, score.memory, score.energy))
    for b, t, s in np.ndindex(B, T, S):
        wanted = v[0] @ np.tanh(w @ query[b, t].numpy() + u @ states[b, s].numpy())
        assert energies[b, t, s] == pytest.approx(wanted, abs=1e-12)


@torch.no_grad()
def test_additive_is_luongs_concat() -> None:
    """Luong 2015, equation 8, third line: v' tanh(W [h_t; h_s]), with W = [W_1 W_2]."""
    score = Additive(query_size=Q, memory_size=D).double()
    query, states = _inputs(Q, D)
    joined = np.concatenate([score.query.weight.numpy(), score.memory.weight.numpy()], axis=1)
    pair = np.concatenate([query[1, 2].numpy(), states[1, 4].numpy()])
    wanted = score.energy.weight.numpy()[0] @ np.tanh(joined @ pair)
    assert float(score(query, score.project(states))[1, 2, 4]) == pytest.approx(wanted, abs=1e-12)


@torch.no_grad()
def test_general() -> None:
    """Luong 2015, equation 8, second line: h_t' W h_s."""
    score = General(query_size=Q, memory_size=D).double()
    query, states = _inputs(Q, D)
    energies = score(query, score.project(states))
    wanted = np.einsum("btq,qd,bsd->bts", query.numpy(), score.matrix.weight.numpy(), states.numpy())
    np.testing.assert_allclose(energies.numpy(), wanted, atol=1e-12)


@torch.no_grad()
def test_dot_and_scaled_dot() -> None:
    """Luong 2015, equation 8, first line; Vaswani 2017, equation 1: (3, 4, 0, 0) . (1, 2, 9, 9) = 11, and 11 / 2."""
    query, keys = torch.tensor([[[3.0, 4.0, 0.0, 0.0]]]), torch.tensor([[[1.0, 2.0, 9.0, 9.0]]])
    assert float(Dot(query_size=4, memory_size=4)(query, keys)) == 11.0
    assert float(ScaledDot(query_size=4, memory_size=4)(query, keys)) == 5.5


@pytest.mark.parametrize("kind", [Dot, ScaledDot])
def test_dot_needs_one_size(kind: type[Dot]) -> None:
    with pytest.raises(ValueError, match="one size, not 7 and 11"):
        kind(query_size=7, memory_size=11)


def test_variance_grows_with_the_size_unless_scaled() -> None:
    """Vaswani 2017, note 4: q . k of unit normals has variance d; divided by sqrt(d), 1."""
    for size in (4, 64, 256):
        query, keys = torch.randn(1, 200, size), torch.randn(1, 200, size)
        assert float(Dot(query_size=size, memory_size=size)(query, keys).var()) == pytest.approx(size, rel=0.15)
        scaled = ScaledDot(query_size=size, memory_size=size)(query, keys)
        assert float(scaled.var()) == pytest.approx(1.0, rel=0.15)
        assert math.isfinite(float(scaled.max()))
