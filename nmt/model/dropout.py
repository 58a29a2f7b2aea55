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

    On a CPU the rate is the nearest of 1/256, 2/256, ... 255/256.

    Raises:
        ValueError: the rate is not in [0, 1).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"dropout is {rate}: allowed is 0 <= dropout < 1")
        self.rate = rate
        self.dropped_levels = min(max(round(rate * LEVELS), 1), LEVELS - 1)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.rate == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.rate)
        return x * self.scaled_mask(x)

    def scaled_mask(self, x: Tensor) -> Tensor:
        """A mask of x's shape and dtype: 0, or what the kept are multiplied by."""
        # The whole 64-bit range: by default `random_` leaves the sign bit zero, and every eighth byte would be biased.
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()] >= self.dropped_levels
        return kept.view(x.shape).to(x.dtype).mul_(LEVELS / (LEVELS - self.dropped_levels))
