"""Luong's general score: score(h_t, h_s) = h_t' W h_s (Luong 2015, equation 8, second line).

Other toolkits call it "general" (OpenNMT), "luong" (JoeyNMT) or "bilinear" (Sockeye).
"""

from __future__ import annotations

from torch import Tensor, nn


class General(nn.Module):
    """A matrix W [Q, D] between query and memory, whose sizes may differ."""

    def __init__(self, *, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.matrix = nn.Linear(memory_size, query_size, bias=False)

    def project(self, states: Tensor) -> Tensor:
        """States [B, S, D] -> keys W h_s [B, S, Q]."""
        keys: Tensor = self.matrix(states)
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, Q] -> energies [B, T, S]."""
        return query @ keys.transpose(1, 2)
