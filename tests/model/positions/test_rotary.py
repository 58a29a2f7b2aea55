"""Rotary positions against multiplication by complex numbers of length one."""

from __future__ import annotations

import math

import pytest
import torch

from nmt.model.positions.rotary import Rotary


def test_by_hand() -> None:
    """One pair turns by one radian a position: (1, 0) at position 3 is (cos 3, sin 3), at position 0 itself."""
    rotary, x = Rotary(size=2, head_size=2), torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
    turned = rotary.turn(x, torch.tensor([[0, 3]]))
    torch.testing.assert_close(turned, torch.tensor([[[1.0, 0.0], [math.cos(3), math.sin(3)]]]))


@pytest.mark.parametrize("size", [2, 6, 7])
@torch.no_grad()
def test_complex_numbers(size: int) -> None:
    """x_2i + i x_(2i + 1), times e^(i p 10000^(-2i / d)); the last number of an odd size has no pair and stays."""
    x, position = torch.randn(3, 5, size).double(), torch.tensor([[0, 1, 2, 3, 4], [7, 0, 900, 2, 2], [5, 6, 7, 8, 9]])
    turned = Rotary(size=size, head_size=size).turn(x, position)
    even = size // 2 * 2
    theta = torch.tensor([10000 ** (-2 * i / even) for i in range(size // 2)], dtype=torch.float64)
    factor = torch.polar(torch.ones(()).double(), position.unsqueeze(-1) * theta)
    wanted = torch.view_as_complex(x[..., :even].unflatten(-1, (-1, 2)).contiguous()) * factor
    torch.testing.assert_close(turned[..., :even], torch.view_as_real(wanted).flatten(-2), atol=1e-10, rtol=0)
    assert torch.equal(turned[..., even:], x[..., even:])
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))


def test_products_depend_on_distance_alone() -> None:
    query, key = torch.randn(2, 1, 1, 6).double().unbind()
    rotary = Rotary(size=6, head_size=6)

    def product(m: int, n: int) -> float:
        return float((rotary.turn(query, torch.tensor([[m]])) * rotary.turn(key, torch.tensor([[n]]))).sum())

    for distance in (-3, 0, 5):
        near, far = product(10, 10 + distance), product(1000, 1000 + distance)
        assert near == pytest.approx(far, abs=1e-10)
    assert product(10, 10) == pytest.approx(float((query * key).sum()), abs=1e-10)
    assert product(10, 15) != pytest.approx(product(10, 5), abs=1e-3), "before and after are not the same"


def test_far_positions_lose_nothing() -> None:
    """Numbers in single precision, at a million: a float32 angle would be wrong in its second digit."""
    x, position = torch.randn(1, 1, 6), torch.tensor([[1_000_003]])
    rotary = Rotary(size=6, head_size=6)
    exact = rotary.turn(x.double(), position)
    torch.testing.assert_close(rotary.turn(x, position).double(), exact, atol=1e-6, rtol=0)


def test_a_head_of_one_number() -> None:
    with pytest.raises(ValueError, match="rotary positions turn pairs of numbers, and a head has 1: take fewer heads"):
        Rotary(size=6, head_size=1)
