"""Local attention: a window of `reach` positions on either side of a centre (Luong 2015, section 3.2).

Source positions count from 0 to S - 1, S being each sentence's own length, never the batch's. `eos` says whether its
EOS is one of them: counted in S and read like any other, or neither.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model import masks


class Local(nn.Module):
    """What both kinds of local attention share; they differ in the centre."""

    def __init__(self, *, reach: int, eos: bool) -> None:
        super().__init__()
        if reach < 1:
            raise ValueError(f"reach is {reach}: a window reaches at least 1 position to either side")
        self.reach = reach
        self.eos = eos

    def readable(self, valid: Tensor) -> tuple[Tensor, Tensor]:
        """valid [B, S] -> which positions count [B, 1, S], and how many these are [B, 1]."""
        lengths = valid.sum(1) - (0 if self.eos else 1)
        return masks.valid_mask(lengths, valid.shape[1]).unsqueeze(1), lengths.unsqueeze(1)

    def near(self, distance: Tensor, readable: Tensor) -> Tensor:
        """Distances from the centre [B, T, S] -> what the window shows [B, T, S]."""
        return masks.both(readable, distance.abs() <= self.reach)


def distance(centre: Tensor, size: int) -> Tensor:
    """Centres [B, T] -> s - centre for each of `size` positions s: [B, T, size]."""
    return torch.arange(size, device=centre.device) - centre.unsqueeze(-1)
