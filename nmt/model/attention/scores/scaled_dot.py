"""Scaled dot product: q . k / sqrt(Q) (Vaswani 2017, equation 1): the variance of q . k grows with Q, this one not.

Elsewhere: what every Transformer's multi-head attention does in each head; "dot_scaled" for Sockeye's recurrent models.

Shape letters: B sentences, T target positions, S source positions, Q query and memory size.
"""

from __future__ import annotations

import math

from torch import Tensor

from nmt.model.attention.scores.dot import Dot


class ScaledDot(Dot):
    """The dot score divided by the square root of the size."""

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, Q] -> energies [B, T, S]."""
        return super().forward(query * (1.0 / math.sqrt(query.shape[-1])), keys)
