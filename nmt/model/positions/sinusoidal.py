"""Sinusoidal positions (Vaswani 2017, section 3.5): PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(the same).

Any length works: the table is a formula. Other toolkits: Sockeye's "fixed". Some write all sines before all cosines,
which is the same up to the order of the model's numbers.

Shape letters: B sentences, T positions, D model size.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nmt.model.positions.position import Position


class Sinusoidal(Position):
    """Adds the table to the input."""

    def embed(self, x: Tensor, first: int) -> Tensor:
        """Input [B, T, D] -> input + table[first : first + T]."""
        return x + sinusoids(first, x.shape[1], x.shape[2], x.device).to(x.dtype)


def sinusoids(first: int, count: int, size: int, device: torch.device) -> Tensor:
    """Rows `first` .. `first + count - 1` of the table [count, size]."""
    position = torch.arange(first, first + count, device=device, dtype=torch.float64).unsqueeze(1)
    rate = torch.exp(torch.arange(0, size, 2, device=device, dtype=torch.float64) * (-math.log(10000.0) / size))
    table = torch.stack([torch.sin(position * rate), torch.cos(position * rate)], dim=-1).flatten(1)  # [count, size]
    return table[:, :size]
