"""Real corpora: none is told to be shifted, and 50 damaged ones are, near the place. `-s` prints the distances."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from nmt.data.doctor.examine import Figures
from nmt.data.doctor.shift import Fit, Lines, find_shifts
from nmt.data.lines import read_lines

CORPORA = [
    ("multi30k/train.en", "multi30k/train.de"),
    ("softwarehelp_en-gl/train.en", "softwarehelp_en-gl/train.gl"),
    ("eutrans_es-en/training.es", "eutrans_es-en/training.en"),
    ("bible_nt/nt.grc", "bible_nt/nt.en"),
    ("danish_english/da-en.da", "danish_english/da-en.en"),
]
Places = list[int]  # lines of the source, or of the target, that are left
Damage = Callable[[Places, Places, int], list[int]]  # damages one of them at a line, returns the offsets to be found


def lose_target(source: Places, target: Places, place: int) -> list[int]:
    del target[place]
    return [-1]


def lose_source(source: Places, target: Places, place: int) -> list[int]:
    del source[place]
    return [1]


def lose_three_targets(source: Places, target: Places, place: int) -> list[int]:
    del target[place : place + 3]
    return [-3]


def double_a_target(source: Places, target: Places, place: int) -> list[int]:
    target.insert(place, target[place])
    return [1]


def move_a_target(source: Places, target: Places, place: int) -> list[int]:
    target.insert(place + random.randrange(100, len(target) // 5), target.pop(place))
    return [-1, 0]


DAMAGES: list[Damage] = [lose_target, lose_source, lose_three_targets, double_a_target, move_a_target]


def figures(path: Path) -> Lines:
    side = Figures()
    for line in read_lines(path):
        side.add(line, is_known=True)
    return side.lines()


def fit(source: Lines, target: Lines, *places: Places) -> Fit:
    chosen = [
        Lines(side.characters[keep], side.ends[keep], side.digits[keep])
        for side, keep in zip((source, target), map(np.array, places), strict=True)
    ]
    found = find_shifts(*chosen)
    assert found is not None
    return found


@pytest.mark.slow
def test_lost_lines_of_real_corpora(nmt_data: Path) -> None:
    random.seed(2026)
    distances: dict[str, list[int]] = {}
    for sides in CORPORA:
        source, target = (figures(nmt_data / side) for side in sides)
        every = list(range(len(source)))
        assert list(fit(source, target, every, every).shifts) == []
        for damage in DAMAGES * 2:
            kept = list(every), list(every)
            place = random.randrange(len(every) // 20, len(every) * 7 // 10)
            offsets = damage(*kept, place)
            shifts = fit(source, target, *kept).shifts
            assert [shift.offset for shift in shifts] == offsets
            distances.setdefault(damage.__name__, []).append(abs(shifts[0].line - place - 1))
    for name, found in distances.items():
        print(f"{name}: median {median(found)}, most {max(found)}")
    every = sorted(distance for found in distances.values() for distance in found)
    print(f"all {len(every)}: median {median(every)}, most {every[-1]}, at most 1 in {sum(d <= 1 for d in every)}")
    assert median(every) <= 1
    assert every[-1] <= 20
