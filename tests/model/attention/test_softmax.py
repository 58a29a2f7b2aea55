"""The softmax normalizer: hand-checkable weights, rows with nothing to read, and a gain after it."""

from __future__ import annotations

import torch

from nmt.model.attention.normalizers.softmax import Softmax


def test_by_hand() -> None:
    """Energies ln 1, ln 2, ln 5 and one that is forbidden: 1/8, 2/8, 5/8, 0."""
    energies = torch.tensor([[[1.0, 2.0, 5.0, 100.0]]]).log()
    weights, prior, losses = Softmax()(energies, torch.tensor([[[True, True, True, False]]]), None)
    torch.testing.assert_close(weights, torch.tensor([[[0.125, 0.25, 0.625, 0.0]]]))
    assert weights[..., 3] == 0
    assert prior is None
    assert losses == {}


def test_nothing_allowed_gives_zeros_and_finite_gradients() -> None:
    energies = torch.randn(1, 2, 3, requires_grad=True)
    allowed = torch.tensor([[[False, False, False], [True, False, True]]])
    weights = Softmax()(energies, allowed, None).weights
    assert not weights[0, 0].any()
    (weights * torch.arange(3.0)).sum().backward()
    assert energies.grad.isfinite().all()
    assert not energies.grad[0, 0].any()
    assert energies.grad[0, 1].any()


def test_energies_of_any_size_are_no_overflow() -> None:
    energies = torch.tensor([[[1e38, -1e38, 3e38]]])
    weights = Softmax()(energies, torch.ones(1, 1, 3, dtype=torch.bool), None).weights
    torch.testing.assert_close(weights, torch.tensor([[[0.0, 0.0, 1.0]]]))


def test_gain_is_not_renormalised() -> None:
    """Luong 2015, equation 10."""
    weights = Softmax()(torch.zeros(1, 1, 2), torch.ones(1, 1, 2, dtype=torch.bool), torch.tensor([0.5, 0.1])).weights
    torch.testing.assert_close(weights, torch.tensor([[[0.25, 0.05]]]))
