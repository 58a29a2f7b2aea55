"""Sparse normalizers against another implementation, values and gradients, on rows with any number hidden."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from nmt.model.attention.attention import Normalizer


def check_masked(normalizer: Normalizer, oracle: Callable[[Tensor], Tensor]) -> None:
    """Each row against the oracle on what is allowed alone, to 1e-10; energies are large, small and in between.

    Of 31 positions from none to all are hidden, in the last axis as in a padded batch and anywhere.
    """
    size = 31
    hidden = torch.arange(size + 1)[:, None]
    anywhere = torch.rand(size + 1, size).argsort(-1) >= hidden
    padded = torch.arange(size) < size - hidden
    for allowed in (anywhere, padded):
        for scale in (0.01, 1.0, 100.0):
            _check_rows(normalizer, oracle, scale * torch.randn(1, size + 1, size).double(), allowed[None])


def _check_rows(normalizer: Normalizer, oracle: Callable[[Tensor], Tensor], energies: Tensor, allowed: Tensor) -> None:
    energies.requires_grad_()
    weights = normalizer(energies, allowed, None).weights
    direction = torch.randn_like(weights)
    (gradient,) = torch.autograd.grad((weights * direction).sum(), energies)
    for row, shown in enumerate(allowed[0]):
        assert not weights[0, row, ~shown].any()
        assert not gradient[0, row, ~shown].any()
        if shown.any():
            alone = energies[0, row, shown].detach().requires_grad_()
            wanted = oracle(alone)
            (wanted_gradient,) = torch.autograd.grad((wanted * direction[0, row, shown]).sum(), alone)
            torch.testing.assert_close(weights[0, row, shown], wanted, atol=1e-10, rtol=0)
            torch.testing.assert_close(gradient[0, row, shown], wanted_gradient, atol=1e-10, rtol=0)
