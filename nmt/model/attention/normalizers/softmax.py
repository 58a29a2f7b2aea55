"""Softmax over the allowed positions (Bahdanau 2015, equation 6; Luong 2015, equation 7)."""

from __future__ import annotations

from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.normalizers.normalized import Normalized, soft


class Softmax(nn.Module):
    """Weights that sum to one over what is allowed, and are positive on all of it."""

    mixes = False
    samples = False

    def forward(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
        """Energies [B, T, S], allowed and log_gain broadcastable to it -> weights [B, T, S], zero where nothing is."""
        return soft(masks.hide(energies, allowed).softmax(-1), allowed, log_gain)
