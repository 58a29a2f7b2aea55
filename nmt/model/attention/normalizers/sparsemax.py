"""Sparsemax: the distribution that is nearest to the energies as a point (Martins & Astudillo 2016, equation 2).

Weights are (z_s - tau)_+, with tau such that they sum to one: positions far below the highest get exactly zero. The
k highest z are the support, for the largest k with 1 + k z_(k) > z_(1) + ... + z_(k) (algorithm 1), and
tau = (z_(1) + ... + z_(k) - 1) / k. Autograd goes through these very sums, which is the closed form of the Jacobian,
the centring diag(s) - s s' / k, with s one on the support and zero elsewhere.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.normalizers.normalized import Normalized, soft


class Sparsemax(nn.Module):
    """Weights that sum to one over what is allowed, many of them exactly zero."""

    mixes = False
    samples = False

    def forward(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
        """Energies [B, T, S], allowed and log_gain broadcastable to it -> weights [B, T, S], zero where nothing is."""
        return soft(sparsemax(below_top(energies, allowed)), allowed, log_gain)


def below_top(energies: Tensor, allowed: Tensor) -> Tensor:
    """Energies [B, T, S] less the highest allowed one of their row: in [-3, 0], and -3 where nothing may be read.

    Neither the shift nor the floor changes weights, which are zero from a distance of 1 (sparsemax) or 2 (entmax-1.5)
    on; and sums over a row that has the lowest finite number in it stay exact.
    """
    hidden = masks.hide(energies, allowed)
    return (hidden - hidden.detach().amax(-1, keepdim=True)).clamp(min=-3)


def sparsemax(z: Tensor) -> Tensor:
    """Numbers [..., S] -> their sparsemax over the last axis."""
    ordered = z.sort(-1, descending=True).values
    sums = ordered.cumsum(-1)
    ranks = torch.arange(1, z.shape[-1] + 1, device=z.device)
    support = (1 + ranks * ordered > sums).sum(-1, keepdim=True)
    tau = (sums.gather(-1, support - 1) - 1) / support
    return (z - tau).relu()
