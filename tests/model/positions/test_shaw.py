"""Shaw's relative positions by hand, against the equations one number after another, and in their size."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from nmt.model.attention.attention import Attention
from nmt.model.attention.multihead import MultiHead
from nmt.model.positions.shaw import Shaw
from tests.laws.parts import EXACT, scaled_head


@torch.no_grad()
def test_worked_example() -> None:
    """Three words, each the number 1; what follows counts twice, and brings 20; what goes before brings 10.

    word 1 is at distances  0, +1, +2 (as +1): weights 1 : 2 : 2,  reads 1 + (0 + 2 * 20 + 2 * 20) / 5 = 17
    word 2 is at distances -1,  0, +1:         weights 1 : 1 : 2,  reads 1 + (10 + 0 + 2 * 20) / 4     = 13.5
    word 3 is at distances -2 (as -1), -1, 0:  weights 1 : 1 : 1,  reads 1 + (10 + 10 + 0) / 3         = 7 2/3
    """
    attention: Any = Attention(query_size=1, memory_size=1, position=partial(Shaw, reach=1), **scaled_head.keywords)
    attention.position.keys.copy_(torch.tensor([[0.0], [0.0], [math.log(2)]]))
    attention.position.values.copy_(torch.tensor([[10.0], [0.0], [20.0]]))
    words = torch.ones(1, 3, 1)
    prepared = attention.prepare(words, torch.ones(1, 3, dtype=torch.bool), words[:, 0])
    attended, _ = attention(words, prepared, (), torch.arange(3)[None])
    wanted = torch.tensor([[1 / 5, 2 / 5, 2 / 5], [1 / 4, 1 / 4, 2 / 4], [1 / 3, 1 / 3, 1 / 3]])
    torch.testing.assert_close(attended.weights[0, 0], wanted)
    torch.testing.assert_close(attended.context[0, :, 0], torch.tensor([17.0, 13.5, 7 + 2 / 3]))


def naive(shaw: Shaw, query: Tensor, keys: Tensor, values: Tensor, first: int) -> tuple[Tensor, Tensor]:
    """Equations 4 and 3 of one sentence: query [T, d] from position `first` on, keys and values [S, d]."""
    energies, reads = torch.zeros(len(query), len(keys)).double(), torch.zeros_like(query)
    for i in range(len(query)):
        rows = [max(-shaw.reach, min(shaw.reach, j - first - i)) + shaw.reach for j in range(len(keys))]
        for j, row in enumerate(rows):
            energies[i, j] = query[i] @ (keys[j] + shaw.keys[row]) / math.sqrt(query.shape[1])
        weights = energies[i].softmax(0)
        for j, row in enumerate(rows):
            reads[i] += weights[j] * (values[j] + shaw.values[row])
    return energies, reads


@pytest.mark.parametrize("reach", [1, 2, 11])
@pytest.mark.parametrize("first", [0, 3])
@torch.no_grad()
def test_equations(reach: int, first: int) -> None:
    """Positions of their own in every sentence as well: the second starts one later."""
    shaw = Shaw(size=5, head_size=5, reach=reach).double()
    query, keys, values = (torch.randn(2, size, 5).double() for size in (4, 7, 7))
    position = torch.arange(first, first + 4) + torch.tensor([[0], [1]])
    energies = shaw.bias(query @ keys.transpose(1, 2) / math.sqrt(5), query, position)
    weights = energies.softmax(-1)
    context = shaw.read(weights @ values, weights, position)
    for row in range(2):
        wanted = naive(shaw, query[row], keys[row], values[row], first + row)
        torch.testing.assert_close((energies[row], context[row]), wanted, **EXACT)


def test_heads_of_a_layer_share_the_vectors() -> None:
    attention = MultiHead(query_size=6, memory_size=6, heads=2, head=scaled_head, position=partial(Shaw, reach=4))
    shapes = {name: tuple(part.shape) for name, part in attention.named_parameters() if "position" in name}
    assert shapes == {"head.position.keys": (9, 3), "head.position.values": (9, 3)}


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor has that any operation makes."""

    numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


def test_no_vector_a_pair() -> None:
    """Nothing is larger than the energies [B, T, S], gradients included."""
    shaw = Shaw(size=7, head_size=7, reach=2)
    query, position = torch.randn(3, 31, 7), torch.arange(31)[None]
    with Largest() as largest:
        weights = shaw.bias(torch.zeros(3, 31, 31), query, position).softmax(-1)
        shaw.read(query, weights, position).sum().backward()
    assert largest.numbers == 3 * 31 * 31


@pytest.mark.parametrize("reach", [0, -3])
def test_a_reach_of_nothing(reach: int) -> None:
    with pytest.raises(ValueError, match=f"reach is {reach}: it is the longest distance told apart, at least 1"):
        Shaw(size=6, head_size=3, reach=reach)
