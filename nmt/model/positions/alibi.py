"""ALiBi: attention with linear biases (Press 2022, section 3): the further away a key, the lower its energy.

    e_ij = q_i k_j' / sqrt(d) - m_h |i - j|,        m_h = 2^(-8h/H) for heads h = 1 .. H

Nothing is learned and any length works; the paper trains on short texts and reads longer ones. Some heads look near
(m_1 = 1/2 of eight heads), others far (m_8 = 1/256). The bias is not divided by sqrt(d).

The paper has a causal decoder alone, where |i - j| is i - j. In an encoder the bias is symmetric: it tells distances
but not directions, and a sentence read backwards gives the same states in reverse. Where this matters, add positions
to the input as well, or take another kind.

For numbers of heads that are no power of two the formula is used as it stands; the authors' program, and toolkits that
follow it, mix the slopes of the two nearest powers. Other toolkits: OpenNMT-py's `max_relative_positions: -2`.

Shape letters: B sentences x heads, T query positions, S key positions, d head size, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.model.positions.position import Position, distances


class Alibi(Position):
    """Lowers energies by distance, each head with a slope of its own."""

    explicit = True

    def __init__(self, *, size: int, head_size: int, heads: int = 1) -> None:
        super().__init__(size=size, head_size=head_size, heads=heads)
        self.heads = heads

    def bias(self, energies: Tensor, query: Tensor, position: Tensor) -> Tensor:
        """Energies [B, T, S], whose row r is head r % H, - m_h |i - j|."""
        slope = slopes(self.heads, energies).repeat(len(energies) // self.heads)
        return energies - slope[:, None, None] * distances(position, energies.shape[-1]).abs()


def slopes(heads: int, like: Tensor) -> Tensor:
    """m_1 .. m_H [H], of this tensor's kind."""
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1, device=like.device, dtype=like.dtype) / heads)
