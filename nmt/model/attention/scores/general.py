"""Luong's general score: score(h_t, h_s) = h_t' W h_s (Luong 2015, section 3.1).

Elsewhere: "general" (OpenNMT-py), "luong" (JoeyNMT, TensorFlow nmt), "bilinear" (Sockeye); without a name, what
Fairseq's LSTM attends with.

Shape letters: B sentences, T target positions, S source positions, Q query size, D memory size.
"""

from __future__ import annotations

from torch import Tensor, nn


class General(nn.Module):
    """A matrix W [Q, D] between query and memory, whose sizes may differ."""

    def __init__(self, *, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.key_size = query_size
        self.matrix = nn.Linear(memory_size, query_size, bias=False)

    def project(self, states: Tensor) -> Tensor:
        """States [B, S, D] -> keys W h_s [B, S, Q]."""
        keys: Tensor = self.matrix(states)
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, Q] -> energies [B, T, S]."""
        return query @ keys.transpose(1, 2)
