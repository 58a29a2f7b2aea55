"""Entmax-1.5, between softmax and sparsemax: zeros, but a smooth way to them (Peters, Niculae & Martins 2019).

Weights are (z_s / 2 - tau)_+^2, with tau such that they sum to one. Let x = z / 2 and
M_k, V_k be mean and variance of the k highest x: the support is the k highest x for the largest k with tau_k <= x_(k),
where tau_k = M_k - sqrt(1 / k - V_k) (their algorithm 2). Autograd goes through mean and variance of the support, which
is the closed form of the Jacobian, diag(r) - r r' / sum(r) with r the weights' square roots.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model.attention.normalizers.normalized import Normalized, soft
from nmt.model.attention.normalizers.sparsemax import below_top


class Entmax(nn.Module):
    """Weights that sum to one over what is allowed, some of them exactly zero."""

    mixes = False
    samples = False

    def forward(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
        """Energies [B, T, S], allowed and log_gain broadcastable to it -> weights [B, T, S], zero where nothing is."""
        return soft(entmax(below_top(energies, allowed)), allowed, log_gain)


def entmax(z: Tensor) -> Tensor:
    """Numbers [..., S] -> their entmax-1.5 over the last axis."""
    x = z / 2
    inside = support(x.detach())
    count = inside.sum(-1, keepdim=True)
    mean = x.where(inside, 0).sum(-1, keepdim=True) / count
    spread = (x - mean).where(inside, 0).square().sum(-1, keepdim=True)
    tau = mean - ((1 - spread) / count).sqrt()
    return (x - tau).relu().square()


def support(x: Tensor) -> Tensor:
    """Halved numbers [..., S] -> which of them get a weight [..., S] bool."""
    ordered = x.sort(-1, descending=True).values
    ranks = torch.arange(1, x.shape[-1] + 1, device=x.device)
    mean = ordered.cumsum(-1) / ranks
    variance = ordered.square().cumsum(-1) / ranks - mean.square()
    # beyond the support the root may be that of a negative number: tau is then the mean, which is no less than x_(k)
    tau = mean - (1 / ranks - variance).clamp(min=0).sqrt()
    last = (tau <= ordered).sum(-1, keepdim=True) - 1
    return x >= ordered.gather(-1, last)
