"""A seam for what comes later: relative positions through the hooks of `Position`, in self-attention.

Shaw 2018 uses two hooks, a bias by keys (equation 4) and a term on values (equation 3); rotary positions (Su 2021) turn
queries and keys.

Shape letters: B sentences (x heads inside), T query positions, S key positions, d head size.
"""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from nmt.model.attention import kernel
from nmt.model.attention.attention import Attention
from nmt.model.positions.position import Position
from tests.laws.models import alone, toy_batch
from tests.laws.parts import EXACT, check_steps, scaled_head, transformer

REACH = 2


class Shaw(Position):
    """A learned vector for each distance from -REACH to REACH, on keys and on values."""

    explicit = True

    def __init__(self, *, size: int, head_size: int) -> None:
        super().__init__(size=size, head_size=head_size)
        self.keys = nn.Parameter(torch.randn(2 * REACH + 1, head_size))
        self.values = nn.Parameter(torch.randn(2 * REACH + 1, head_size))

    def distance(self, position: Tensor, size: int) -> Tensor:
        """[B or 1, T] -> rows of the tables [B or 1, T, S]."""
        return (torch.arange(size) - position.unsqueeze(-1)).clamp(-REACH, REACH) + REACH

    def bias(self, energies: Tensor, query: Tensor, position: Tensor) -> Tensor:
        vectors = self.keys[self.distance(position, energies.shape[-1])]
        return energies + (query.unsqueeze(2) * vectors).sum(-1) / math.sqrt(query.shape[-1])

    def read(self, context: Tensor, weights: Tensor, position: Tensor) -> Tensor:
        vectors = self.values[self.distance(position, weights.shape[-1])]
        return context + (weights.unsqueeze(-1) * vectors).sum(2)


class Rotary(Position):
    """The numbers 2i and 2i + 1 are turned by position x 10000^(-2i / d)."""

    def turn(self, x: Tensor, position: Tensor) -> Tensor:
        size = x.shape[-1] // 2 * 2
        rate = 10000.0 ** (-torch.arange(0, size, 2, dtype=x.dtype) / size)
        angle = position.unsqueeze(-1) * rate
        even, odd = x[..., 0:size:2], x[..., 1:size:2]
        turned = torch.stack([even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], dim=-1)
        return torch.cat([turned.flatten(-2), x[..., size:]], dim=-1)


@pytest.fixture(params=[Shaw, Rotary], ids=["shaw", "rotary"])
def relative(request: pytest.FixtureRequest) -> type[Position]:
    return request.param  # type: ignore[no-any-return]


def test_steps(relative: type[Position]) -> None:
    check_steps(transformer(relative=relative), toy_batch())


@torch.no_grad()
def test_alone_as_in_a_batch(relative: type[Position]) -> None:
    model, batch = transformer(relative=relative), toy_batch()
    states = model(batch).states
    for row in range(len(batch)):
        own = model(alone(batch, row)).states[0]
        torch.testing.assert_close(states[row, : len(own)], own, **EXACT)


@torch.no_grad()
def test_order_matters(relative: type[Position]) -> None:
    """Without positions an encoder does not see the order of its input; with these it does."""
    for kind, blind in ((Position, True), (relative, False)):
        model, batch = transformer(relative=kind), alone(toy_batch(), 0)
        there, back = (model.encoder(ids, batch.source_lengths).states for ids in (batch.source, batch.source.flip(1)))
        assert torch.allclose(there, back.flip(1), atol=1e-10) == blind


@torch.no_grad()
def test_shaw_equations() -> None:
    """z_i = sum_j a_ij (x_j + v_ij), a_i = softmax_j(q_i (k_j + k_ij) / sqrt(d)), one number after another."""
    attention = Attention(query_size=5, memory_size=5, position=Shaw, **scaled_head.keywords).double()
    x = torch.randn(1, 4, 5).double()
    attended, _ = attention(
        x, attention.prepare(x, torch.ones(1, 4, dtype=torch.bool), x[:, 0]), (), torch.arange(4)[None]
    )
    shaw = attention.position
    assert isinstance(shaw, Shaw)
    for i in range(4):
        rows = [max(-REACH, min(REACH, j - i)) + REACH for j in range(4)]
        energies = torch.stack([x[0, i] @ (x[0, j] + shaw.keys[row]) / math.sqrt(5) for j, row in enumerate(rows)])
        weights = energies.softmax(0)
        read = sum(weights[j] * (x[0, j] + shaw.values[row]) for j, row in enumerate(rows))
        torch.testing.assert_close(attended.context[0, i], read, **EXACT)


@torch.no_grad()
def test_rotary_energies_depend_on_distance_alone() -> None:
    attention = Attention(query_size=6, memory_size=6, position=Rotary, **scaled_head.keywords).double()
    x, valid = torch.randn(1, 5, 6).double(), torch.ones(1, 5, dtype=torch.bool)
    energies = [
        attention(x, attention.prepare(x, valid, x[:, 0], first), (), torch.arange(first, first + 5)[None])[0].energies
        for first in (0, 100)
    ]
    torch.testing.assert_close(energies[0], energies[1], atol=1e-10, rtol=0)
    plain = x @ x.transpose(1, 2) / math.sqrt(6)
    torch.testing.assert_close(energies[0][0, 0].diagonal(), plain[0].diagonal(), atol=1e-10, rtol=0)
    assert not torch.allclose(energies[0][0], plain)


@torch.no_grad()
def test_explicit_kinds_are_never_fused(monkeypatch: pytest.MonkeyPatch, relative: type[Position]) -> None:
    """A fused kernel forms no energies: only what turns queries and keys may go through it, and gives the same."""
    model, batch = transformer(relative=relative), toy_batch()
    before = model(batch).states
    calls: list[int] = []
    fused = kernel.fused
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: True)
    monkeypatch.setattr(kernel, "fused", lambda *given: (calls.append(1), fused(*given))[1])
    after = model(batch).states
    torch.testing.assert_close(before[0, 0], after[0, 0], atol=1e-10, rtol=0)
    assert len(calls) == {Shaw: 2, Rotary: 6}[relative], "two cross-attentions, which have no positions; and all six"


def test_factories_take_settings() -> None:
    """`relative` is any callable, so that a kind's own settings are bound before."""
    check_steps(transformer(relative=partial(Shaw)), toy_batch())
