"""General score times one learned number: score(h_t, h_s) = g h_t' W h_s, where g starts at 1.

The score is Luong's (2015, section 3.1); the number is no paper's: it lets one step of training sharpen or flatten all
weights at once.

Elsewhere: "scaled_luong" (TensorFlow nmt; its seq2seq library's LuongAttention with scale=True).

Shape letters: B sentences, T target positions, S source positions, Q query size.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model.attention.scores.general import General


class ScaledGeneral(General):
    """The general score with a gain g."""

    def __init__(self, *, query_size: int, memory_size: int) -> None:
        super().__init__(query_size=query_size, memory_size=memory_size)
        self.gain = nn.Parameter(torch.tensor(1.0))

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, Q] -> energies [B, T, S]."""
        return super().forward(self.gain * query, keys)
