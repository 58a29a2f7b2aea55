"""Learning-rate schedules: a factor on the optimizer's own rate, for each update (the first is 1).

All but the plateau are pure functions of the update. Warm-up is linear and ends at its peak in update `warmup`; 0 means
that there is none.
"""

from __future__ import annotations

import math
from typing import Protocol


class Schedule(Protocol):
    """`factor(update)` for the update about to be made; `validated(better)` is told of each validation's outcome."""

    def factor(self, update: int) -> float: ...

    def validated(self, better: bool) -> None: ...


def warm_up(update: int, warmup: int) -> float:
    """The share of the peak in this update: update / warmup, never over 1."""
    return min(1.0, update / warmup) if warmup else 1.0


def check_warmup(warmup: int) -> None:
    """A negative warm-up would make a negative rate."""
    if warmup < 0:
        raise ValueError(f"warmup is {warmup}: it must be 0 or more updates")


class InverseSquareRoot:
    """Linear to the peak in `warmup` updates, then falling as 1 / sqrt(update) (Vaswani 2017, equation 3)."""

    def __init__(self, *, warmup: int) -> None:
        check_warmup(warmup)
        self.warmup = warmup

    def factor(self, update: int) -> float:
        """1 at the peak."""
        peak = max(self.warmup, 1)
        return warm_up(update, self.warmup) if update <= peak else math.sqrt(peak / update)

    def validated(self, better: bool) -> None:
        """Validations change nothing."""


class Plateau:
    """Linear warm-up, then constant, cut by `factor` each time `patience` validations in a row were no better."""

    def __init__(self, *, warmup: int, factor: float, patience: int) -> None:
        check_warmup(warmup)
        if not 0 < factor < 1:
            raise ValueError(f"factor is {factor}: it must lie between 0 and 1")
        if patience < 1:
            raise ValueError(f"patience is {patience}: it must be at least 1 validation")
        self.warmup = warmup
        self.cut = factor
        self.patience = patience
        self.scale = 1.0
        self.worse = 0

    def factor(self, update: int) -> float:
        """The warm-up's share times the cuts made so far."""
        return warm_up(update, self.warmup) * self.scale

    def validated(self, better: bool) -> None:
        """Count validations that were no better than the best before them."""
        self.worse = 0 if better else self.worse + 1
        if self.worse >= self.patience:
            self.scale *= self.cut
            self.worse = 0
