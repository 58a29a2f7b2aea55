"""Schedules by their curves, by laws that all keep (CASES D11), and the pure falls against torch's own schedulers."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch

from nmt.build import build
from nmt.compose import compose, config_folder
from nmt.train.schedule import Constant, Cosine, Halving, InverseSquareRoot, Linear, Plateau, Schedule
from tests.laws.models import CORPUS

UPDATES = 23
OPTIONS = sorted(file.stem for file in (config_folder() / "schedule").glob("*.yaml"))


def pure(warmup: int) -> dict[str, Schedule]:
    """Every schedule that is a function of the update, for a training of UPDATES."""
    return {
        "constant": Constant(warmup=warmup),
        "inverse_square_root": InverseSquareRoot(warmup=warmup),
        "linear": Linear(warmup=warmup, updates=UPDATES, floor=0.0),
        "linear to a floor": Linear(warmup=warmup, updates=UPDATES, floor=0.3),
        "cosine": Cosine(warmup=warmup, updates=UPDATES, floor=0.0),
        "cosine to a floor": Cosine(warmup=warmup, updates=UPDATES, floor=0.3),
        "halving": Halving(warmup=warmup, start=max(warmup, 5), every=3),
    }


def every(warmup: int) -> dict[str, Schedule]:
    return {**pure(warmup), "plateau": Plateau(warmup=warmup, factor=0.5, patience=2)}


NAMES = list(every(0))
PURE = list(pure(0))


def curve(schedule: Schedule, updates: int) -> list[float]:
    """The factors of updates 1 to `updates`."""
    return [schedule.factor(update) for update in range(1, updates + 1)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("warmup", [0, 1, 4])
def test_up_to_the_peak_then_never_up(name: str, warmup: int) -> None:
    """D11: above 0 in every update of the training, strictly rising to 1 in update `warmup`, never rising after it."""
    factors = curve(every(warmup)[name], UPDATES)
    peak = max(warmup, 1)
    assert factors[:peak] == [update / peak for update in range(1, peak + 1)]
    assert all(after <= before for before, after in zip(factors[peak - 1 :], factors[peak:], strict=False))
    assert min(factors) > 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("warmup", [UPDATES, 10 * UPDATES])
def test_a_warmup_that_fills_the_training(name: str, warmup: int) -> None:
    """It ends at the peak exactly where it ends with the training, and below it where it is longer."""
    assert curve(every(warmup)[name], UPDATES) == [update / warmup for update in range(1, UPDATES + 1)]


@pytest.mark.parametrize("name", PURE)
def test_pure_schedules_have_no_past(name: str) -> None:
    """Neither validations nor the order of the questions change a factor, so there is no state."""
    asked, fresh = pure(4)[name], pure(4)[name]
    backwards = [asked.factor(update) for update in range(2 * UPDATES, 0, -1)]
    for _ in range(5):
        asked.validated(False)
    assert asked.state() == {}
    asked.restore({})
    assert curve(asked, 2 * UPDATES) == backwards[::-1] == curve(fresh, 2 * UPDATES)


@pytest.mark.parametrize(
    ("warmup", "factors"),
    [
        (0, [1, math.sqrt(1 / 2), math.sqrt(1 / 3), math.sqrt(1 / 4)]),
        (1, [1, math.sqrt(1 / 2), math.sqrt(1 / 3), math.sqrt(1 / 4)]),
        (4, [0.25, 0.5, 0.75, 1, math.sqrt(4 / 5), math.sqrt(4 / 6), math.sqrt(4 / 7), math.sqrt(4 / 8)]),
    ],
)
def test_inverse_square_root(warmup: int, factors: list[float]) -> None:
    assert curve(InverseSquareRoot(warmup=warmup), len(factors)) == pytest.approx(factors)


def test_inverse_square_root_is_vaswanis() -> None:
    """Equation 3, min(n^-0.5, n w^-1.5), divided by its peak w^-0.5."""
    schedule = InverseSquareRoot(warmup=7)
    for update in range(1, 50):
        assert schedule.factor(update) == pytest.approx(min(update**-0.5, update * 7**-1.5) / 7**-0.5)


@pytest.mark.parametrize(("warmup", "factors"), [(0, [1, 1, 1]), (1, [1, 1, 1]), (4, [0.25, 0.5, 0.75, 1, 1, 1])])
def test_constant_and_an_undisturbed_plateau(warmup: int, factors: list[float]) -> None:
    assert curve(Constant(warmup=warmup), len(factors)) == factors
    assert curve(Plateau(warmup=warmup, factor=0.5, patience=2), len(factors)) == factors


@pytest.mark.parametrize(
    ("warmup", "updates", "floor", "factors"),
    [
        (0, 4, 0.0, [1, 3 / 4, 2 / 4, 1 / 4, 0, 0]),
        (2, 5, 0.0, [1 / 2, 1, 3 / 4, 2 / 4, 1 / 4, 0, 0]),
        (2, 5, 0.2, [1 / 2, 1, 0.8, 0.6, 0.4, 0.2, 0.2]),
        (2, 5, 1.0, [1 / 2, 1, 1, 1, 1, 1, 1]),
        (0, 1, 0.0, [1, 0, 0]),
        (3, 3, 0.0, [1 / 3, 2 / 3, 1, 0, 0]),
        (4, 2, 0.1, [1 / 4, 2 / 4, 0.1, 0.1, 0.1]),
    ],
)
def test_linear(warmup: int, updates: int, floor: float, factors: list[float]) -> None:
    """The fall reaches its floor after the last update; a warm-up that is longer is cut off there."""
    schedule = Linear(warmup=warmup, updates=updates, floor=floor)
    assert curve(schedule, len(factors)) == pytest.approx(factors)
    assert schedule.factor(10**9) == floor


@pytest.mark.parametrize(
    ("warmup", "updates", "floor", "factors"),
    [
        # a sixth of the way at a time: cos of 0, 30, 60, 90, 120, 150 degrees
        (0, 6, 0.0, [1, (2 + math.sqrt(3)) / 4, 3 / 4, 1 / 2, 1 / 4, (2 - math.sqrt(3)) / 4, 0, 0]),
        (2, 4, 0.0, [1 / 2, 1, 3 / 4, 1 / 4, 0, 0]),
        (2, 4, 0.2, [1 / 2, 1, 0.8, 0.4, 0.2, 0.2]),
        (0, 1, 0.0, [1, 0, 0]),
        (3, 3, 0.0, [1 / 3, 2 / 3, 1, 0, 0]),
        (4, 2, 0.1, [1 / 4, 2 / 4, 0.1, 0.1, 0.1]),
    ],
)
def test_cosine(warmup: int, updates: int, floor: float, factors: list[float]) -> None:
    schedule = Cosine(warmup=warmup, updates=updates, floor=floor)
    assert curve(schedule, len(factors)) == pytest.approx(factors)
    assert schedule.factor(10**9) == floor


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_the_falls_are_torchs(floor: float) -> None:
    """Without warm-up; torch counts the updates made, we the update about to be made."""
    optimizers = [torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0) for _ in range(2)]
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizers[0], T_max=UPDATES, eta_min=floor)
    linear = torch.optim.lr_scheduler.LinearLR(optimizers[1], 1.0, end_factor=floor, total_iters=UPDATES)
    for update in range(1, UPDATES + 2):
        rates = [scheduler.get_last_lr()[0] for scheduler in (cosine, linear)]
        ours = [kind(warmup=0, updates=UPDATES, floor=floor).factor(update) for kind in (Cosine, Linear)]
        assert ours == pytest.approx(rates, abs=1e-12)
        for part in (*optimizers, cosine, linear):
            part.step()


@pytest.mark.parametrize(
    ("warmup", "start", "after", "factors"),
    [
        (0, 5, 1, [1, 1, 1, 1, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32]),  # his ten epochs, an update an epoch
        (0, 3, 2, [1, 1, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 4, 1 / 8]),
        (2, 3, 2, [1 / 2, 1, 1, 1 / 2, 1 / 2, 1 / 4]),
        (3, 3, 2, [1 / 3, 2 / 3, 1, 1 / 2, 1 / 2, 1 / 4]),
        (0, 1, 3, [1, 1 / 2, 1 / 2, 1 / 2, 1 / 4]),
    ],
)
def test_halving(warmup: int, start: int, after: int, factors: list[float]) -> None:
    schedule = Halving(warmup=warmup, start=start, every=after)
    assert curve(schedule, len(factors)) == factors
    assert math.isfinite(schedule.factor(10**6))


def test_plateau_cuts_after_patience_in_a_row() -> None:
    schedule = Plateau(warmup=0, factor=0.5, patience=2)
    rates = []
    for better in (False, True, False, False, False, False, False):
        schedule.validated(better)
        rates.append(schedule.factor(9))
    assert rates == [1, 1, 1, 0.5, 0.5, 0.25, 0.25]


def test_plateau_cuts_what_the_warmup_gives() -> None:
    schedule = Plateau(warmup=4, factor=0.5, patience=1)
    schedule.validated(False)
    assert curve(schedule, 6) == [0.125, 0.25, 0.375, 0.5, 0.5, 0.5]


# Whether each validation of a training was better
OUTCOMES = (False, True, False, False, False, False, True, False, False, False, False)


def go_on(schedule: Plateau, first: int) -> list[float]:
    """The factor after each validation from number `first` on, one an update."""
    rates = []
    for update, better in list(enumerate(OUTCOMES, start=1))[first:]:
        schedule.validated(better)
        rates.append(schedule.factor(update))
    return rates


@pytest.mark.parametrize("stop", range(len(OUTCOMES)))
def test_a_resumed_plateau_goes_on_exactly(stop: int) -> None:
    """E02: stopped after any validation and restored from JSON, it makes the cuts of an uninterrupted one."""
    whole, stopped, resumed = (Plateau(warmup=3, factor=0.7, patience=3) for _ in range(3))
    rates = go_on(whole, 0)
    for better in OUTCOMES[:stop]:
        stopped.validated(better)
    resumed.restore(json.loads(json.dumps(stopped.state())))
    assert go_on(resumed, stop) == rates[stop:]
    assert resumed.state() == whole.state()


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (Constant, {"warmup": -3}, "warmup is -3: it must be 0 or more updates"),
        (InverseSquareRoot, {"warmup": -3}, "warmup is -3"),
        (Linear, {"warmup": -1, "updates": 9, "floor": 0.0}, "warmup is -1"),
        (Linear, {"warmup": 0, "updates": 0, "floor": 0.0}, "updates is 0: it must be 1 or more updates"),
        (Cosine, {"warmup": 0, "updates": 9, "floor": -0.1}, "floor is -0.1: it must lie between 0 and 1"),
        (Cosine, {"warmup": 0, "updates": 9, "floor": 1.1}, "floor is 1.1"),
        (Cosine, {"warmup": 0, "updates": 9, "floor": math.nan}, "floor is nan"),
        (Halving, {"warmup": -1, "start": 3, "every": 2}, "warmup is -1"),
        (Halving, {"warmup": 0, "start": 3, "every": 0}, "every is 0: it must be 1 or more updates"),
        (Halving, {"warmup": 0, "start": 0, "every": 2}, "start is 0: halving begins after the peak.* update 1"),
        (Halving, {"warmup": 5, "start": 4, "every": 2}, "start is 4: halving begins after the peak.* update 5"),
        (Plateau, {"warmup": -1, "factor": 0.5, "patience": 2}, "warmup is -1"),
        (Plateau, {"warmup": 0, "factor": 1.0, "patience": 2}, "factor is 1.0"),
        (Plateau, {"warmup": 0, "factor": 0.0, "patience": 2}, "factor is 0.0"),
        (Plateau, {"warmup": 0, "factor": 0.5, "patience": 0}, "patience is 0: it must be 1 or more validations"),
    ],
)
def test_impossible(kind: Any, given: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**given)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_begins(option: str) -> None:
    """With a rate above 0 from the first update to the last, in a training shorter than its yaml's warm-up."""
    schedule = build(compose([*CORPUS, f"schedule={option}", "train.updates=7"]).schedule, "schedule")
    assert all(0 < factor <= 1 for factor in curve(schedule, 7))


@pytest.mark.parametrize("option", ["cosine", "linear"])
def test_a_fall_ends_with_the_training(option: str) -> None:
    given = [*CORPUS, f"schedule={option}", "train.updates=29", "schedule.warmup=3", "schedule.floor=0.1"]
    schedule = build(compose(given).schedule, "schedule")
    assert schedule.factor(29) > schedule.factor(30) == 0.1
