"""Luong's dot score: score(h_t, h_s) = h_t . h_s (Luong 2015, equation 8, first line)."""

from __future__ import annotations

from torch import Tensor, nn


class Dot(nn.Module):
    """No parameters; query and memory must have the same size.

    Raises:
        ValueError: the sizes differ.
    """

    def __init__(self, *, query_size: int, memory_size: int) -> None:
        super().__init__()
        if query_size != memory_size:
            raise ValueError(
                f"the dot score needs queries and memory of one size, not {query_size} and {memory_size}: "
                "change a hidden_size, or take the general score"
            )

    def project(self, states: Tensor) -> Tensor:
        """States [B, S, D] -> keys [B, S, D]."""
        return states

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, Q] -> energies [B, T, S]."""
        return query @ keys.transpose(1, 2)
