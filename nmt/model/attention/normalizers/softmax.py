"""Softmax over the allowed positions (Bahdanau 2015, equation 6; Luong 2015, equation 7)."""

from __future__ import annotations

from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.normalizers.normalized import Normalized


class Softmax(nn.Module):
    """Weights that sum to one over what is allowed; the window's gain multiplies them and is not renormalised."""

    def forward(self, energies: Tensor, allowed: Tensor, gain: Tensor | None) -> Normalized:
        """Energies [B, T, S], allowed and gain broadcastable to it -> weights [B, T, S], zero where nothing is."""
        weights = masks.clear(masks.hide(energies, allowed).softmax(-1), allowed)
        return Normalized(weights if gain is None else weights * gain, None, {})
