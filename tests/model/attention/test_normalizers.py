"""Laws of every normalizer that configs/ names, found by listing it: distributions over what is allowed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nmt.build import build
from nmt.model.attention.attention import Normalizer
from tests.model.attention.leaves import NORMALIZERS

SOFT = ("softmax", "entmax", "sparsemax")
B, T, S = 2, 5, 7


def _make(name: str, training: bool) -> Normalizer:
    return build(NORMALIZERS[name], "normalizer").train(training)


def _rows() -> tuple[Tensor, Tensor]:
    """Energies [B, T, S], and a mask of which one row shows nothing and one a single position."""
    allowed = torch.rand(B, T, S) < 0.6
    allowed[0, 1] = False
    allowed[1, 2] = torch.arange(S) == 4
    return 3 * torch.randn(B, T, S).double(), allowed


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_a_distribution_over_what_is_allowed(name: str, training: bool) -> None:
    energies, allowed = _rows()
    weights = _make(name, training)(energies, allowed, None).weights
    assert (weights >= 0).all()
    assert not weights[~allowed].any()
    torch.testing.assert_close(weights.sum(-1), allowed.any(-1).double(), atol=1e-12, rtol=0)
    assert weights[1, 2, 4] == 1


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_nothing_allowed_gives_zeros_and_no_gradient(name: str, training: bool) -> None:
    energies, allowed = _rows()
    weights = _make(name, training)(energies.requires_grad_(), allowed, None).weights
    assert not weights[0, 1].any()
    if weights.requires_grad:
        (weights * torch.randn_like(weights)).sum().backward()
        assert energies.grad.isfinite().all()
        assert not energies.grad[~allowed].any()
        assert name not in SOFT or energies.grad[allowed].any()


@pytest.mark.parametrize("name", SOFT)
def test_masks_and_gains_broadcast(name: str) -> None:
    """One row of a mask for all steps [B, 1, S], a gain for all [S]."""
    normalizer, (energies, allowed), log_gain = _make(name, False), _rows(), torch.randn(S).double()
    short = normalizer(energies, allowed[:, :1], log_gain).weights
    full = normalizer(energies, allowed[:, :1].expand(B, T, S), log_gain.expand(B, T, S)).weights
    assert torch.equal(short, full)


@pytest.mark.parametrize("name", SOFT)
def test_a_gain_is_not_renormalised(name: str) -> None:
    """Two equal energies with gains 1/2 and 1/10: 1/4 and 1/20 (Luong 2015, equation 10)."""
    log_gain, allowed = torch.tensor([0.5, 0.1]).log(), torch.ones(1, 1, 2, dtype=torch.bool)
    weights = _make(name, False)(torch.zeros(1, 1, 2), allowed, log_gain).weights
    torch.testing.assert_close(weights, torch.tensor([[[0.25, 0.05]]]))


@pytest.mark.parametrize("name", SOFT)
@torch.no_grad()
def test_only_differences_of_energies_matter(name: str) -> None:
    normalizer, (energies, allowed) = _make(name, False), _rows()
    weights, shifted = (normalizer(moved, allowed, None).weights for moved in (energies, energies + 17))
    torch.testing.assert_close(weights, shifted, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", SOFT)
@torch.no_grad()
def test_energies_of_any_size_are_no_overflow(name: str) -> None:
    """The greatest that single precision holds, one of them forbidden."""
    energies, allowed = torch.tensor([[[1e38, -3e38, 3e38, 3.4e38]]]), torch.tensor([[[True, True, True, False]]])
    assert _make(name, False)(energies, allowed, None).weights.tolist() == [[[0, 0, 1, 0]]]
