"""Relative positions of Shaw 2018: a learned vector for each distance j - i, on keys and on values.

    e_ij = q_i (k_j + a^K_ij)' / sqrt(d)                          (equation 4)
    z_i  = sum_j softmax_j(e_ij) (v_j + a^V_ij)                   (equation 3)
    a_ij = w[clip(j - i, -k, k)]                                  (section 3.2)

The tables w^K and w^V [2k + 1, d] belong to a layer and are shared by its heads. Longer distances share the vector of
the longest one, so that any length works.

A vector for each pair would take [T, S, d] numbers a head. Instead q_i is multiplied with the 2k + 1 vectors once and
each energy picks its product, and the weights are summed by distance before they meet the values' vectors.

Other toolkits: OpenNMT-py's `max_relative_positions` above 0 is this k. It divides q_i a^K_ij by sqrt(d) as the scaled
dot score does; with another score the term is the same.

Shape letters: B sentences x heads, T query positions, S key positions, d head size, k reach.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from nmt.model.positions.position import Position, distances


class Shaw(Position):
    """Distances from -reach to reach are told apart.

    Raises:
        ValueError: `reach` is less than 1, which would tell no distance apart.
    """

    explicit = True

    def __init__(self, *, size: int, head_size: int, reach: int, heads: int = 1) -> None:
        super().__init__(size=size, head_size=head_size, heads=heads)
        if reach < 1:
            raise ValueError(f"reach is {reach}: it is the longest distance told apart, at least 1")
        self.reach = reach
        self.keys = nn.Parameter(torch.empty(2 * reach + 1, head_size))
        self.values = nn.Parameter(torch.empty(2 * reach + 1, head_size))
        for table in (self.keys, self.values):
            nn.init.xavier_uniform_(table)

    def rows(self, position: Tensor, size: int) -> Tensor:
        """Query positions [B or 1, T] -> each pair's row of the tables [B or 1, T, size]."""
        return distances(position, size).clamp(-self.reach, self.reach) + self.reach

    def bias(self, energies: Tensor, query: Tensor, position: Tensor) -> Tensor:
        """Energies [B, T, S] + q_i a^K_ij / sqrt(d)."""
        products = query @ self.keys.t() / math.sqrt(query.shape[-1])  # [B, T, 2k + 1]
        return energies + products.gather(-1, self.rows(position, energies.shape[-1]).expand_as(energies))

    def read(self, context: Tensor, weights: Tensor, position: Tensor) -> Tensor:
        """Context [B, T, d] + sum_j weight_ij a^V_ij."""
        rows = self.rows(position, weights.shape[-1]).expand_as(weights)
        by_distance = weights.new_zeros(*weights.shape[:2], len(self.values)).scatter_add(-1, rows, weights)
        return context + by_distance @ self.values
