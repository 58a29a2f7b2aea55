"""Masks against tables written by hand."""

from __future__ import annotations

import torch

from nmt.model import masks


def test_valid_mask() -> None:
    assert masks.valid_mask(torch.tensor([3, 0, 1]), 3).tolist() == [[True] * 3, [False] * 3, [True, False, False]]


def test_causal_mask_of_a_whole_target() -> None:
    """Query t may read keys 0 .. t."""
    assert masks.causal_mask(torch.arange(3)[None], 3).tolist() == [
        [[True, False, False], [True, True, False], [True, True, True]]
    ]


def test_causal_mask_of_one_position_a_row() -> None:
    """Rows of a search stand at positions of their own."""
    assert masks.causal_mask(torch.tensor([[0], [2]]), 4).tolist() == [
        [[True, False, False, False]],
        [[True, True, True, False]],
    ]


def test_both() -> None:
    valid = torch.tensor([[True, True, False]]).unsqueeze(1)
    assert masks.both(valid, masks.causal_mask(torch.arange(2)[None], 3)).tolist() == [
        [[True, False, False], [True, True, False]]
    ]


def test_hidden_before_a_softmax_has_no_weight() -> None:
    """Softmax of (0, ln 3) is (1/4, 3/4), whatever stood at the hidden place."""
    for hidden in (-50.0, 1e30):
        energies = torch.tensor([0.0, hidden, torch.tensor(3.0).log()])
        weights = masks.hide(energies, torch.tensor([True, False, True])).softmax(-1)
        torch.testing.assert_close(weights, torch.tensor([0.25, 0.0, 0.75]))


def test_a_row_with_nothing_to_read_stays_finite() -> None:
    """Where -inf would give nan, in the numbers and in the gradients of whoever does not clear them."""
    energies = torch.randn(3, requires_grad=True)
    log_weights = masks.hide(energies, torch.zeros(3, dtype=torch.bool)).log_softmax(-1)
    assert log_weights.isfinite().all()
    log_weights.sum().backward()
    assert energies.grad.isfinite().all()


def test_clear() -> None:
    weights = masks.clear(torch.full((2, 2), 0.5), torch.tensor([[True, False], [False, False]]))
    assert weights.tolist() == [[0.5, 0.0], [0.0, 0.0]]
