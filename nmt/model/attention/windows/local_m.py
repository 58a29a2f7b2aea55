"""Monotonic local attention, local-m: the centre is the step's own position, p_t = t (Luong 2015, section 3.2).

A target longer than the source stays at its last position, p_t = min(t, S - 1). In self-attention, whose step is a
position of its own sequence, this is local self-attention.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from torch import Tensor

from nmt.model.attention.windows.local import Local, distance
from nmt.model.attention.windows.window import Windowed


class LocalM(Local):
    """Positions p_t - reach .. p_t + reach, no gain."""

    def __init__(self, *, query_size: int, reach: int, eos: bool = True) -> None:
        super().__init__(reach=reach, eos=eos)
        self.needs_length = not eos

    def forward(self, query: Tensor, valid: Tensor, position: Tensor) -> Windowed:
        """Query [B, T, Q], valid [B, S], position [B or 1, T] -> allowed [B, T, S]."""
        readable, lengths = self.readable(valid)
        centre = position.minimum((lengths - 1).clamp(min=0))
        return Windowed(self.near(distance(centre, valid.shape[1]), readable))
