"""Schedules by their curves (CASES D11: warm-ups of 0, 1 and 4)."""

from __future__ import annotations

import math

import pytest

from nmt.train.schedule import InverseSquareRoot, Plateau


@pytest.mark.parametrize(
    ("warmup", "curve"),
    [
        (0, [1, math.sqrt(1 / 2), math.sqrt(1 / 3), math.sqrt(1 / 4)]),
        (1, [1, math.sqrt(1 / 2), math.sqrt(1 / 3), math.sqrt(1 / 4)]),
        (4, [0.25, 0.5, 0.75, 1, math.sqrt(4 / 5), math.sqrt(4 / 6), math.sqrt(4 / 7), math.sqrt(4 / 8)]),
    ],
)
def test_inverse_square_root(warmup: int, curve: list[float]) -> None:
    """Positive at once, its peak in update `warmup`, then falling."""
    schedule = InverseSquareRoot(warmup=warmup)
    assert [schedule.factor(update) for update in range(1, len(curve) + 1)] == pytest.approx(curve)


def test_inverse_square_root_is_vaswanis() -> None:
    """Equation 3, min(n^-0.5, n w^-1.5), divided by its peak w^-0.5."""
    schedule = InverseSquareRoot(warmup=7)
    for update in range(1, 50):
        assert schedule.factor(update) == pytest.approx(min(update**-0.5, update * 7**-1.5) / 7**-0.5)


def test_validations_change_only_the_plateau() -> None:
    schedule = InverseSquareRoot(warmup=4)
    before = schedule.factor(9)
    schedule.validated(False)
    assert schedule.factor(9) == before


@pytest.mark.parametrize(("warmup", "curve"), [(0, [1, 1, 1]), (1, [1, 1, 1]), (4, [0.25, 0.5, 0.75, 1, 1, 1])])
def test_plateau_warms_up_and_stays(warmup: int, curve: list[float]) -> None:
    schedule = Plateau(warmup=warmup, factor=0.5, patience=2)
    assert [schedule.factor(update) for update in range(1, len(curve) + 1)] == curve


def test_plateau_cuts_after_patience_in_a_row() -> None:
    schedule = Plateau(warmup=0, factor=0.5, patience=2)
    rates = []
    for better in (False, True, False, False, False, False, False):
        schedule.validated(better)
        rates.append(schedule.factor(9))
    assert rates == [1, 1, 1, 0.5, 0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"warmup": -1, "factor": 0.5, "patience": 2}, "warmup is -1"),
        ({"warmup": 0, "factor": 1.0, "patience": 2}, "factor is 1.0"),
        ({"warmup": 0, "factor": 0.0, "patience": 2}, "factor is 0.0"),
        ({"warmup": 0, "factor": 0.5, "patience": 0}, "patience is 0"),
    ],
)
def test_impossible(given: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Plateau(**given)  # type: ignore[arg-type]


def test_impossible_warmup() -> None:
    with pytest.raises(ValueError, match="warmup is -3"):
        InverseSquareRoot(warmup=-3)
