"""Sparsemax (Martins & Astudillo 2016) by hand, against the package entmax, and its Jacobian's closed form."""

from __future__ import annotations

import numpy as np
import torch
from entmax import sparsemax as oracle

from nmt.model.attention.normalizers.sparsemax import Sparsemax
from tests.model.attention.oracles import check_masked

ALL = torch.ones(1, 1, 1, dtype=torch.bool)


def test_by_hand() -> None:
    """Energies 1, 0.8, 0.1. Two are in: 1 + 2 * 0.8 > 1.8, but not 1 + 3 * 0.1 > 1.9. tau = (1.8 - 1) / 2 = 0.4."""
    weights, mixture, log_choice, losses = Sparsemax()(torch.tensor([[[0.1, 1.0, 0.8]]]), ALL, None)
    torch.testing.assert_close(weights, torch.tensor([[[0.0, 0.6, 0.4]]]))
    assert weights[..., 0] == 0
    assert (mixture, log_choice, losses) == (None, None, {})


def test_gradient_by_hand() -> None:
    """Of p_1 + 5 p_3: on the support (1, 0) less its mean; the third has no weight and no gradient."""
    energies = torch.tensor([[[1.0, 0.8, 0.1]]], requires_grad=True)
    (Sparsemax()(energies, ALL, None).weights * torch.tensor([1.0, 0.0, 5.0])).sum().backward()
    torch.testing.assert_close(energies.grad, torch.tensor([[[0.5, -0.5, 0.0]]]))


def test_a_gap_of_one_reads_one_position() -> None:
    """And equal energies share equally."""
    assert Sparsemax()(torch.tensor([[[7.0, 6.0, 5.5]]]), ALL, None).weights.tolist() == [[[1, 0, 0]]]
    torch.testing.assert_close(Sparsemax()(torch.zeros(1, 1, 5), ALL, None).weights, torch.full((1, 1, 5), 0.2))


def test_jacobian_is_the_closed_form() -> None:
    """diag(s) - s s' / k, s being one on the support."""
    energies = torch.randn(11).double()

    def weights(energies: torch.Tensor) -> torch.Tensor:
        return Sparsemax()(energies[None, None], ALL, None).weights[0, 0]

    s = (weights(energies) > 0).double().numpy()
    assert 1 < s.sum() < 11
    jacobian = torch.autograd.functional.jacobian(weights, energies)
    np.testing.assert_allclose(jacobian.numpy(), np.diag(s) - np.outer(s, s) / s.sum(), atol=1e-12)


def test_is_the_oracles() -> None:
    check_masked(Sparsemax(), oracle)
