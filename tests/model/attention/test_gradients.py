"""Gradients of every score x window x smooth normalizer are those of finite differences, in double precision.

A window's edges move with the query in local-p, and a sparse normalizer's support with the energies: there the weights
are no smooth function, and finite differences across an edge say nothing. Inputs near an edge are drawn again.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from nmt.model.attention.attention import Attention
from tests.model.attention.leaves import SCORES, SMALL, WINDOWS, inputs, make

SMOOTH = ("softmax", "entmax", "sparsemax")  # the hard ones choose, and a choice has no derivative
NEAR = 1e-3


class Reading(nn.Module):
    """Context as a function of query and states."""

    def __init__(self, attention: Attention, valid: Tensor, position: Tensor) -> None:
        super().__init__()
        self.attention, self.valid, self.position = attention, valid, position

    def forward(self, query: Tensor, states: Tensor) -> Tensor:
        prepared = self.attention.prepare(states, self.valid, states[:, 0])
        attended, _ = self.attention(query, prepared, self.attention.start(prepared), self.position)
        return attended.context


def _edges_are_far(attention: Attention, query: Tensor, states: Tensor, valid: Tensor, position: Tensor) -> bool:
    """Whether no window's edge lies near a position, and energies may move by NEAR without a change of support."""
    windowed = attention.window(query, valid, position)
    if windowed.log_gain is not None:  # of local-p: -(s - p)^2 / (2 (reach / 2)^2)
        reach = SMALL["reach"]
        distance = (-2 * windowed.log_gain).sqrt() * reach / 2
        if bool(((distance - reach).abs() < NEAR).any()):
            return False
    energies = attention.score(query, attention.score.project(states))
    supports = [
        attention.normalizer(moved, windowed.allowed, None).weights > 0
        for moved in (energies, *(energies + NEAR * torch.randn_like(energies).sign() for _ in range(20)))
    ]
    return all(torch.equal(support, supports[0]) for support in supports)


def _draw(attention: Attention) -> tuple[Tensor, ...]:
    for _ in range(50):
        drawn = inputs(attention)
        if _edges_are_far(attention, *drawn):
            return drawn
    raise AssertionError("no inputs away from the edges in 50 draws")


@pytest.mark.parametrize("normalizer", SMOOTH)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("score", SCORES)
def test_gradients(score: str, window: str, normalizer: str) -> None:
    """To query, states and every parameter; fast mode compares in a random direction of each, not number by number."""
    attention = make(score, window, normalizer)
    query, states, valid, position = _draw(attention)
    reading = Reading(attention, valid, position)
    parameters = dict(reading.named_parameters())

    def read(query: Tensor, states: Tensor, *values: Tensor) -> Tensor:
        return functional_call(reading, dict(zip(parameters, values, strict=True)), (query, states))

    given = (query.requires_grad_(), states.requires_grad_(), *parameters.values())
    assert torch.autograd.gradcheck(read, given, fast_mode=True)
