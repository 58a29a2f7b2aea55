"""Lost lines are found by lengths alone, near the place, and nothing is found where nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from nmt.data.doctor.shift import CODES, Fit, Lines, digit_code, end_code, find_shifts

COUNT = 2003
NOTHING = np.zeros(COUNT, np.uint8)


@pytest.fixture
def lengths() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Of both sides: logarithms normal, correlation 0.9."""
    random = np.random.default_rng(5)
    source = random.normal(size=COUNT)
    target = 0.9 * source + np.sqrt(1 - 0.9**2) * random.normal(size=COUNT)
    return tuple(np.exp(4 + 0.5 * side).astype(np.int32) for side in (source, target))


def fit(source: NDArray[np.int32], target: NDArray[np.int32]) -> Fit:
    found = find_shifts(*(Lines(side, NOTHING[: len(side)], NOTHING[: len(side)]) for side in (source, target)))
    assert found is not None
    return found


def test_whole_corpora_have_no_shift(lengths: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
    found = fit(*lengths)
    assert list(found.shifts) == []
    assert found.correlation == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("place", [0, 100, 1000, 1900])
def test_a_lost_line_is_found_on_either_side(lengths: tuple[NDArray[np.int32], NDArray[np.int32]], place: int) -> None:
    source, target = lengths
    for found, offset in (fit(source, np.delete(target, place)), -1), (fit(np.delete(source, place), target), 1):
        assert [shift.offset for shift in found.shifts] == [offset]
        assert found.shifts[0].line == pytest.approx(place + 1, abs=6)


def test_equal_counts_hide_nothing(lengths: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
    source, target = lengths
    moved = np.insert(np.delete(target, 700), 1300, 60)
    first, second = fit(source, moved).shifts
    assert (first.before, first.offset, second.before, second.offset) == (0, -1, -1, 0)
    assert first.line == pytest.approx(701, abs=6)
    assert second.line == pytest.approx(1301, abs=6)


def test_halves_that_changed_places(lengths: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
    source, target = lengths
    shifts = fit(source, np.concatenate([target[1000:], target[:1000]])).shifts
    assert [shift.offset for shift in shifts] == [1003, -1000]
    assert shifts[1].line == pytest.approx(1001, abs=6)


def test_a_part_that_belongs_to_nothing(lengths: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
    source, target = lengths
    target[1200:] = np.random.default_rng(6).permutation(target[1200:])
    (shift,) = fit(source, target).shifts
    assert (shift.offset, shift.line) == (None, pytest.approx(1201, abs=30))


def test_a_missing_end_is_no_shift(lengths: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
    source, target = lengths
    for cut in (40, 500):
        assert list(fit(source, target[:-cut]).shifts) == []
        assert list(fit(source[:-cut], target).shifts) == []


def test_what_tells_nothing_is_not_interpreted(lengths: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
    source, target = lengths
    stranger = fit(source, np.random.default_rng(7).permutation(target))
    assert (list(stranger.shifts), stranger.correlation < 0.2) == ([], True)
    same = np.full(COUNT, 30, np.int32)
    assert fit(same, same) == Fit((), 0.0)
    blank = np.zeros(COUNT, np.int32)
    assert fit(blank, blank) == Fit((), 0.0)
    few = Lines(source[:20], NOTHING[:20], NOTHING[:20])
    assert find_shifts(few, few) is None


def test_codes_tell_ends_and_digits_apart() -> None:
    ends = {end_code(line) for line in ("so.", "so?", "so!", "so:", "so", "")}
    assert len(ends) == 5
    assert digit_code("") == 0
    assert 0 < digit_code("1999") < CODES
