"""Luong's dot score: score(h_t, h_s) = h_t . h_s (Luong 2015, section 3.1).

Elsewhere: "dot" (OpenNMT-py, Sockeye; the latter projects query and memory where their sizes differ).

Shape letters: B sentences, T target positions, S source positions, Q query and memory size.
"""

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
        self.key_size = memory_size

    def project(self, states: Tensor) -> Tensor:
        """States [B, S, Q] -> keys, the same."""
        return states

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, Q] -> energies [B, T, S]."""
        return query @ keys.transpose(1, 2)
