"""Rotary positions (Su 2021, section 3.2): queries and keys are turned by angles that grow with their position.

The numbers 2i and 2i + 1 of a head are a point in the plane, turned by p / 10000^(2i/d) at position p. A product
q_m . k_n then depends on the positions through n - m alone, because turning both by the same angle changes no product.
Values are left as they are. Any length works: the angles are a formula. A fused kernel serves, for only its input
changes.

That holds for the dot scores; another score runs and knows the positions, but not as distances.

Other toolkits: OpenNMT-py's `max_relative_positions: -1`; "RoPE". Some pair the number i with i + d/2 (GPT-NeoX): the
same up to the order of a projection's rows.

Shape letters: B sentences x heads, T positions, d head size.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.model.positions.position import Position


class Rotary(Position):
    """Turns pairs of numbers; the last one of an odd head size has no pair and stays.

    Raises:
        ValueError: the head size is 1, which has no pair.
    """

    def __init__(self, *, size: int, head_size: int, heads: int = 1) -> None:
        super().__init__(size=size, head_size=head_size, heads=heads)
        if head_size < 2:
            raise ValueError(f"rotary positions turn pairs of numbers, and a head has {head_size}: take fewer heads")

    def turn(self, x: Tensor, position: Tensor) -> Tensor:
        """Queries or keys [B, T, d] at positions [B or 1, T] -> the same, turned."""
        pairs = x.shape[-1] // 2
        angle = angles(position, pairs)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)  # [B or 1, T, d / 2]
        first, second = x[..., 0 : 2 * pairs : 2], x[..., 1 : 2 * pairs : 2]
        turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
        return torch.cat([turned, x[..., 2 * pairs :]], dim=-1)


def angles(position: Tensor, pairs: int) -> Tensor:
    """Positions [B or 1, T] -> each pair's angle [B or 1, T, pairs], in float64: far positions lose nothing."""
    rate = 10000.0 ** (-torch.arange(pairs, device=position.device, dtype=torch.float64) / pairs)
    return position.unsqueeze(-1) * rate
