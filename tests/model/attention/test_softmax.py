"""The softmax normalizer: hand-checkable weights, rows with nothing to read, and a gain after it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.model.attention.normalizers.softmax import Softmax


def test_by_hand() -> None:
    """Energies ln 1, ln 2, ln 5 and one that is forbidden: 1/8, 2/8, 5/8, 0."""
    energies = torch.tensor([[[1.0, 2.0, 5.0, 100.0]]]).log()
    weights, mixture, log_choice, losses = Softmax()(energies, torch.tensor([[[True, True, True, False]]]), None)
    torch.testing.assert_close(weights, torch.tensor([[[0.125, 0.25, 0.625, 0.0]]]))
    assert weights[..., 3] == 0
    assert mixture is None
    assert log_choice is None
    assert losses == {}


def test_energies_of_any_size_are_no_overflow() -> None:
    energies = torch.tensor([[[1e38, -1e38, 3e38]]])
    weights = Softmax()(energies, torch.ones(1, 1, 3, dtype=torch.bool), None).weights
    torch.testing.assert_close(weights, torch.tensor([[[0.0, 0.0, 1.0]]]))


@given(st.lists(st.tuples(st.floats(0, 80, width=32), st.booleans()), min_size=1, max_size=40), st.integers(-500, 500))
def test_concentrated_is_not_discrete(energies: list[tuple[float, bool]], shift: int) -> None:
    """In single precision every allowed position within 80 of the highest has a positive weight, and the sum is one."""
    numbers = torch.tensor([[[energy + shift for energy, _ in energies]]])
    allowed = torch.tensor([[[allowed for _, allowed in energies]]])
    weights = Softmax()(numbers, allowed, None).weights
    assert weights.dtype == torch.float32
    assert torch.equal(weights > 0, allowed)
    assert float(weights.sum()) == pytest.approx(1.0 if allowed.any() else 0.0, abs=1e-5)
