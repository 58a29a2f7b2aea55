"""Positions against their formulas, and where they end."""

from __future__ import annotations

import math

import pytest
import torch

from nmt.errors import UserError
from nmt.model.positions.learned import Learned
from nmt.model.positions.position import Position
from nmt.model.positions.sinusoidal import Sinusoidal, sinusoids


@pytest.mark.parametrize("size", [6, 7])
def test_sinusoids(size: int) -> None:
    """Vaswani 2017, section 3.5, one number after another; an odd size lacks the last cosine."""
    table = sinusoids(3, 20, size, torch.device("cpu"))
    for row in range(20):
        for column in range(size):
            angle = (3 + row) / 10000 ** (column // 2 * 2 / size)
            wanted = math.sin(angle) if column % 2 == 0 else math.cos(angle)
            assert float(table[row, column]) == pytest.approx(wanted, abs=1e-12)


def test_position_zero_by_hand() -> None:
    x = torch.zeros(1, 1, 4)
    assert Sinusoidal(size=4, head_size=4).embed(x, 0).tolist() == [[[0.0, 1.0, 0.0, 1.0]]]


@pytest.mark.parametrize("position", [Sinusoidal(size=6, head_size=6), Learned(size=6, head_size=6, maximum=9)])
def test_parts_are_cut_from_the_whole(position: Position) -> None:
    x = torch.randn(2, 9, 6)
    whole = position.embed(x, 0)
    assert not torch.equal(whole, x)
    torch.testing.assert_close(position.embed(x[:, 4:7], 4), whole[:, 4:7])


def test_learned_reach() -> None:
    """Maximum 9: positions 0 to 8, and not one more."""
    learned = Learned(size=6, head_size=6, maximum=9)
    assert learned.longest == 9
    learned.embed(torch.zeros(1, 1, 6), 8)
    with pytest.raises(UserError, match=r"10 tokens: learned positions reach to 9 \(position.maximum\)"):
        learned.embed(torch.zeros(1, 1, 6), 9)
    with pytest.raises(UserError, match="position=sinusoidal"):
        learned.embed(torch.zeros(1, 10, 6), 0)


def test_none_changes_nothing() -> None:
    none, x = Position(size=6, head_size=3), torch.randn(2, 5, 6)
    assert none.longest is None
    assert none.embed(x, 3) is x
    assert none.turn(x, torch.arange(5)[None]) is x
    assert none.bias(x, x, torch.arange(5)[None]) is x
    assert none.read(x, x, torch.arange(5)[None]) is x
