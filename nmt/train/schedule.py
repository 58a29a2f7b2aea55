"""Learning-rate schedules: a factor on the optimizer's own rate, for each update (the first is 1).

All but the plateau are pure functions of the update. Warm-up is linear and ends at its peak, 1, in update `warmup`
(Goyal 2017, section 2.2); 0 means that there is none. It may be longer than the training, which then ends below the
peak.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol


class Schedule(Protocol):
    """`factor(update)` for the update about to be made; `validated(better)` is told of each validation's outcome.

    `state` is what a resumed training can't know from the update alone, and `restore` takes it back.
    """

    def factor(self, update: int) -> float: ...

    def validated(self, better: bool) -> None: ...

    def state(self) -> dict[str, float]: ...

    def restore(self, state: Mapping[str, float]) -> None: ...


def warm_up(update: int, warmup: int) -> float:
    """The share of the peak in this update: update / warmup, never over 1."""
    return min(1.0, update / warmup) if warmup else 1.0


def check_least(name: str, value: int, least: int, unit: str) -> None:
    """Raise a ValueError where a count is too small to mean anything."""
    if value < least:
        raise ValueError(f"{name} is {value}: it must be {least} or more {unit}")


class WarmedUp:
    """What the pure functions of the update share: linear to the peak in `warmup` updates, then `after_peak`."""

    def __init__(self, *, warmup: int) -> None:
        check_least("warmup", warmup, 0, "updates")
        self.warmup = warmup
        self.peak = max(warmup, 1)

    def factor(self, update: int) -> float:
        """1 at the peak."""
        return warm_up(update, self.warmup) if update <= self.peak else self.after_peak(update)

    def after_peak(self, update: int) -> float:
        """The factor of an update after `peak`: 1 where nothing makes it fall."""
        return 1.0

    def validated(self, better: bool) -> None:
        """Validations change nothing."""

    def state(self) -> dict[str, float]:
        """The update says it all."""
        return {}

    def restore(self, state: Mapping[str, float]) -> None:
        """There is nothing to take back."""


class Constant(WarmedUp):
    """Linear to the peak in `warmup` updates, then 1 for ever."""


class InverseSquareRoot(WarmedUp):
    """Linear to the peak in `warmup` updates, then falling as 1 / sqrt(update) (Vaswani 2017, equation 3)."""

    def after_peak(self, update: int) -> float:
        """sqrt(peak / update)."""
        return math.sqrt(self.peak / update)


class Linear(WarmedUp):
    """Linear to the peak in `warmup` updates, then linear down to `floor` after `updates` (Devlin 2019, appendix A.2).

    As the rise starts from 0 before the first update, the fall ends after the last: no update is lost to a rate of 0.
    floor: a share of the peak, 0 to 1.
    """

    def __init__(self, *, warmup: int, updates: int, floor: float) -> None:
        super().__init__(warmup=warmup)
        check_least("updates", updates, 1, "updates")
        if not 0 <= floor <= 1:
            raise ValueError(f"floor is {floor}: it must lie between 0 and 1")
        self.updates = updates
        self.floor = floor

    def factor(self, update: int) -> float:
        """1 at the peak; `floor` after `updates`, even where the warm-up is longer."""
        return super().factor(update) if update <= self.updates else self.floor

    def after_peak(self, update: int) -> float:
        """floor + (1 - floor) x the share that is left."""
        return self.floor + (1 - self.floor) * self.left(update)

    def left(self, update: int) -> float:
        """What is left of the way down: 1 at the peak, 0 in update `updates` + 1."""
        end = self.updates + 1
        return (end - update) / (end - self.peak)


class Cosine(Linear):
    """Linear's ends joined by half a cosine wave (Loshchilov & Hutter 2017, equation 5, without restarts)."""

    def left(self, update: int) -> float:
        """(1 + cos(pi x the share of the way gone)) / 2."""
        return (1 + math.cos(math.pi * (1 - super().left(update)))) / 2


class Halving(WarmedUp):
    """1 up to update `start`, halved then and again after every further `every` updates (Luong 2015, section 4.1).

    He counts in epochs: 1 for the first five, 1/2 in the sixth, 1/4 in the seventh. His training has no warm-up.
    """

    def __init__(self, *, warmup: int, start: int, every: int) -> None:
        super().__init__(warmup=warmup)
        check_least("every", every, 1, "updates")
        if start < self.peak:
            raise ValueError(f"start is {start}: halving begins after the peak, which is update {self.peak}")
        self.start = start
        self.every = every

    def after_peak(self, update: int) -> float:
        """1/2 to the power of the halvings so far."""
        return 0.5 ** math.ceil(max(0, update - self.start) / self.every)


class Plateau:
    """Linear warm-up, then constant, cut by `factor` each time `patience` validations in a row were no better."""

    def __init__(self, *, warmup: int, factor: float, patience: int) -> None:
        check_least("warmup", warmup, 0, "updates")
        if not 0 < factor < 1:
            raise ValueError(f"factor is {factor}: it must lie between 0 and 1")
        check_least("patience", patience, 1, "validations")
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

    def state(self) -> dict[str, float]:
        """scale: the product of the cuts so far; worse: validations in a row without a better one."""
        return {"scale": self.scale, "worse": self.worse}

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from a `state`."""
        self.scale = state["scale"]
        self.worse = int(state["worse"])
