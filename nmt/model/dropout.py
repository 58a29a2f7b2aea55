"""Dropout whose mask is cut from bulk random bits.

On a CPU most of dropout's time is one random number an element; eight masks' worth of bytes in each 64-bit draw cost
a twelfth of that. The price is a rate in steps of 1/256: the kept are scaled by that exact rate, so the mean holds.
"""

from __future__ import annotations

from typing import Any

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
        self.scale = LEVELS / (LEVELS - self.dropped_levels)

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
        dropped: Tensor = _Masked.apply(x, self.mask(x), self.scale)  # type: ignore[no-untyped-call]
        return dropped

    def relu(self, x: Tensor) -> Tensor:
        """max(0, x), dropped."""
        if not self.active or x.device.type != "cpu":
            off: Tensor = self(x.relu())
            return off
        dropped: Tensor = _MaskedReLU.apply(x, self.mask(x), self.scale)  # type: ignore[no-untyped-call]
        return dropped

    def add(self, x: Tensor, result: Tensor) -> Tensor:
        """x + result, with the result dropped."""
        if not self.active or x.device.type != "cpu":
            plain: Tensor = x + self(result)
            return plain
        joined: Tensor = _MaskedSum.apply(x, result, self.mask(result), self.scale)  # type: ignore[no-untyped-call]
        return joined

    def draw(self, like: Tensor) -> tuple[Tensor, ...]:
        """One mask of this shape and dtype, to be given to `forward`; none where nothing is dropped."""
        if not self.active:
            return ()
        if like.device.type != "cpu":
            return (F.dropout(torch.ones_like(like), self.rate),)
        return (self.mask(like).to(like.dtype).mul_(self.scale),)

    def mask(self, x: Tensor) -> Tensor:
        """A mask of x's shape, uint8: 1 for what is kept, which `scale` is for."""
        # The whole 64-bit range: by default `random_` leaves the sign bit zero, and every eighth byte would be biased.
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()] >= self.dropped_levels
        return kept.view(torch.uint8).view(x.shape)


class _Masked(torch.autograd.Function):
    """x * mask * scale, which keeps a byte an element for the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(mask)
        ctx.scale = scale
        return (x * mask).mul_(scale)

    @staticmethod
    def backward(ctx: Any, *gradient: Tensor) -> tuple[Tensor | None, ...]:
        (mask,) = ctx.saved_tensors
        return (gradient[0] * mask).mul_(ctx.scale), None, None


class _MaskedSum(torch.autograd.Function):
    """x + result * mask * scale in one pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, result: Tensor, mask: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(mask)
        ctx.scale = scale
        return torch.addcmul(x, result, mask.to(x.dtype), value=scale)

    @staticmethod
    def backward(ctx: Any, *gradient: Tensor) -> tuple[Tensor | None, ...]:
        (mask,) = ctx.saved_tensors
        return gradient[0], (gradient[0] * mask).mul_(ctx.scale), None, None


class _MaskedReLU(torch.autograd.Function):
    """max(0, x) * mask * scale, which keeps its result alone: what is positive there has a gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Tensor, scale: float) -> Tensor:
        result = x.relu().mul_(mask).mul_(scale)
        ctx.save_for_backward(result)
        ctx.scale = scale
        return result

    @staticmethod
    def backward(ctx: Any, *gradient: Tensor) -> tuple[Tensor | None, ...]:
        (result,) = ctx.saved_tensors
        passed: Tensor = torch.ops.aten.threshold_backward(gradient[0], result, 0.0)
        return passed.mul_(ctx.scale), None, None
