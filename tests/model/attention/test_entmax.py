"""Entmax-1.5 (Peters 2019) by hand, against the package entmax, and its Jacobian's closed form."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from entmax import entmax15 as oracle

from nmt.model.attention.normalizers.entmax import Entmax
from tests.model.attention.oracles import check_masked

ALL = torch.ones(1, 1, 1, dtype=torch.bool)


def test_by_hand() -> None:
    """Energies 1.6, 1.2, -1, halved 0.8, 0.6, -0.5. Two are in: mean 0.7, variance 0.01, tau = 0.7 - sqrt(1/2 - 0.01)
    = 0, and weights 0.8^2, 0.6^2. (With the third, tau would be 0.218, and -0.5 is below.)"""
    weights, mixture, log_choice, losses = Entmax()(torch.tensor([[[-1.0, 1.6, 1.2]]]), ALL, None)
    torch.testing.assert_close(weights, torch.tensor([[[0.0, 0.64, 0.36]]]))
    assert weights[..., 0] == 0
    assert (mixture, log_choice, losses) == (None, None, {})


def test_gradient_by_hand() -> None:
    """Of p_1: r = (0.8, 0.6), so that r_1 - r_1^2 / 1.4 = 0.8 * 0.6 / 1.4, and the same with a minus for the second."""
    energies = torch.tensor([[[1.6, 1.2, -1.0]]], requires_grad=True)
    Entmax()(energies, ALL, None).weights[0, 0, 0].backward()
    torch.testing.assert_close(energies.grad, torch.tensor([[[0.48 / 1.4, -0.48 / 1.4, 0.0]]]))


def test_a_gap_of_two_reads_one_position() -> None:
    """And equal energies share equally."""
    assert Entmax()(torch.tensor([[[7.0, 5.0, 4.5]]]), ALL, None).weights.tolist() == [[[1, 0, 0]]]
    torch.testing.assert_close(Entmax()(torch.zeros(1, 1, 5), ALL, None).weights, torch.full((1, 1, 5), 0.2))


def test_lies_between_softmax_and_sparsemax() -> None:
    """A gap of 1.9 still reads both positions, where sparsemax stopped at 1."""
    weights = Entmax()(torch.tensor([[[0.0, -1.9]]]), ALL, None).weights
    assert 0 < float(weights[..., 1]) < 0.01


def test_jacobian_is_the_closed_form() -> None:
    """diag(r) - r r' / sum(r), r being the weights' square roots."""
    energies = 2 * torch.randn(11).double()

    def weights(energies: torch.Tensor) -> torch.Tensor:
        return Entmax()(energies[None, None], ALL, None).weights[0, 0]

    r = weights(energies).sqrt().numpy()
    assert 1 < (r > 0).sum() < 11
    jacobian = torch.autograd.functional.jacobian(weights, energies)
    np.testing.assert_allclose(jacobian.numpy(), np.diag(r) - np.outer(r, r) / r.sum(), atol=1e-12)


def test_is_the_oracles() -> None:
    check_masked(Entmax(), oracle)


@pytest.mark.parametrize("size", [2, 101, 1009])
def test_single_precision_is_enough(size: int) -> None:
    """One position at the top and all others just inside: the hardest sum, where the root of 1 / k - V_k is least."""
    energies = torch.full((1, 1, size), -1.999)
    energies[..., 0] = 0
    single, double = (Entmax()(energies.to(kind), ALL, None).weights for kind in (torch.float32, torch.float64))
    torch.testing.assert_close(single.double(), double, atol=1e-5, rtol=0)
