"""Dropout whose mask is cut from bulk random bits.

On a CPU most of dropout's time is one random number an element; eight masks' worth of bytes in each 64-bit draw cost
a twelfth of that. The price is a rate in steps of 1/256: the kept are scaled by that exact rate, so the mean holds.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 256


class Dropout(nn.Module):
    """Zeroes each element with probability `rate` while training and scales the rest by 1 / (1 - rate).

    On a CPU the rate is the nearest of 1/256, 2/256, ... 255/256. A mask may be drawn once and given to many calls, or
    be smaller than what it acts on, so that elements are dropped together:

        dropout(x, dropout.draw(x[:, :1]))  # alike at all positions
        dropout(x, dropout.draw(x[..., :1]))  # whole vectors

    Raises:
        ValueError: the rate is not in [0, 1).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"dropout is {rate}: allowed is 0 <= dropout < 1")
        self.rate = rate
        self.dropped_levels = min(max(round(rate * LEVELS), 1), LEVELS - 1)

    @property
    def active(self) -> bool:
        """Whether anything is dropped now."""
        return self.training and self.rate > 0.0

    def forward(self, x: Tensor, drawn: tuple[Tensor, ...] = ()) -> Tensor:
        """x, dropped by the mask that was drawn before (it broadcasts to x), or by one of its own where none was."""
        if drawn:
            return x * drawn[0]
        if not self.active:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.rate)
        return x * self.scaled_mask(x)

    def draw(self, like: Tensor) -> tuple[Tensor, ...]:
        """One mask of this shape and dtype, to be given to `forward`; none where nothing is dropped."""
        if not self.active:
            return ()
        return (self.scaled_mask(like) if like.device.type == "cpu" else F.dropout(torch.ones_like(like), self.rate),)

    def scaled_mask(self, x: Tensor) -> Tensor:
        """A mask of x's shape and dtype: 0, or what the kept are multiplied by."""
        # The whole 64-bit range: by default `random_` leaves the sign bit zero, and every eighth byte would be biased.
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()] >= self.dropped_levels
        return kept.view(x.shape).to(x.dtype).mul_(LEVELS / (LEVELS - self.dropped_levels))
