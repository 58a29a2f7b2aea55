"""Bahdanau's additive score: score(s, h) = v' tanh(W s + U h) (Bahdanau 2015, appendix A.1.2, no bias).

Luong's concat, v' tanh(W [h_t; h_s]) (Luong 2015, section 3.1), is this very function, for
W [h_t; h_s] = W_1 h_t + W_2 h_s: `luong_concat` is this score with Luong's wiring after the step, and `bahdanau` is
this score with Bahdanau's before it.

Elsewhere: "mlp" (OpenNMT-py and Sockeye, with a bias inside the tanh), "bahdanau" (JoeyNMT, TensorFlow nmt).

Shape letters: B sentences, T target positions, S source positions, Q query size, D memory size, K units.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Additive(nn.Module):
    """A layer of `size` tanh units over query and memory; size 0 takes the query's size, as both papers do."""

    def __init__(self, *, query_size: int, memory_size: int, size: int = 0) -> None:
        super().__init__()
        units = size or query_size
        self.key_size = units
        self.query = nn.Linear(query_size, units, bias=False)
        self.memory = nn.Linear(memory_size, units, bias=False)
        self.energy = nn.Linear(units, 1, bias=False)

    def project(self, states: Tensor) -> Tensor:
        """States [B, S, D] -> keys U h [B, S, K]."""
        keys: Tensor = self.memory(states)
        return keys

    def vector(self) -> Tensor:
        """v' [1, K]."""
        return self.energy.weight

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, K] -> energies [B, T, S]. Holds [B, T, S, K] numbers at once."""
        units = torch.tanh(self.query(query).unsqueeze(2) + keys.unsqueeze(1))  # [B, T, S, K]
        return F.linear(units, self.vector()).squeeze(-1)
