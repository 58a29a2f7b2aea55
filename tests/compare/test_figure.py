"""The picture: names that do not lie on one another, and the same bytes for the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt.align.colours import distinct_colours
from nmt.compare.figure import draw_lengths, spread_apart
from nmt.compare.kinds import Kind
from nmt.compare.lengths import Bin
from nmt.compare.measure import Measured

BINS = [Bin(1, 5, 41), Bin(6, 10, 43), Bin(11, 30, 47)]


def kind(name: str, *scores: float | None) -> Kind:
    measured = Measured(1.0, 0.0, 2.0, 3.0, None, None, None, 5, "")
    return Kind((("attention", name),), (1,), 0, (measured,), (scores,))


def test_places_by_hand() -> None:
    """Two at 5 part evenly; 9 is far enough away; three that crowd the upper edge go down from there."""
    assert spread_apart([5, 9, 5], 2, 0, 10) == pytest.approx([4, 9, 6])
    assert spread_apart([10, 10, 10], 3, 0, 10) == pytest.approx([4, 7, 10])
    assert spread_apart([0, 1], 3, 0, 10) == pytest.approx([0, 3])
    assert spread_apart([], 3, 0, 10) == []


def test_places_keep_their_order_and_distance() -> None:
    places = np.random.default_rng(3).normal(50, 1, 17)
    moved = np.array(spread_apart(list(places), 2.5, 0, 100))
    assert (np.argsort(moved) == np.argsort(places)).all()
    assert (np.diff(np.sort(moved)) >= 2.5 - 1e-9).all()
    assert moved.mean() == pytest.approx(places.mean())


def test_colours_are_all_different_and_dark_enough() -> None:
    colours = np.array(distinct_colours(17))
    distances = np.abs(colours[:, None] - colours[None]).sum(2) + np.eye(17)
    assert distances.min() > 0.1
    assert colours.mean(axis=1).max() < 0.75, "white paper"


def test_names_stay_text_and_bytes_stay_the_same(tmp_path: Path) -> None:
    kinds = [kind("none", 80.0, 50.0, 30.0), kind("$odd_", 90.0, None, 85.0), kind("short", 70.0, 60.0, None)]
    paths = [tmp_path / name for name in ("a.svg", "a.png")]
    draw_lengths(kinds, BINS, paths, title="T")
    text = paths[0].read_text(encoding="utf-8")
    assert all(f">{word}<" in text for word in ("none", "$odd_", "11-30", "47", "T"))
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    draw_lengths(kinds, BINS, [tmp_path / "b.svg"], title="T")
    assert (tmp_path / "b.svg").read_text(encoding="utf-8") == text


def test_a_failed_kind_has_no_line(tmp_path: Path) -> None:
    failed = Kind((("attention", "broken"),), (), 1, (), ())
    draw_lengths([kind("none", 1.0, 2.0, 3.0), failed], BINS, [tmp_path / "a.svg"], title="T")
    assert "broken" not in (tmp_path / "a.svg").read_text(encoding="utf-8")
