"""What is drawn in one pass."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nmt.data.reservoir import draw


@given(count=st.integers(1, 12), size=st.integers(0, 20), seed=st.integers())
def test_drawn_items_are_items_in_their_order(count: int, size: int, seed: int) -> None:
    drawn = draw(iter(range(size)), count, seed)
    assert len(set(drawn)) == len(drawn) == min(count, size)
    assert drawn == sorted(drawn)
    assert drawn == draw(range(size), count, seed)


def test_each_item_is_as_likely_as_any_other() -> None:
    counts = Counter(item for seed in range(3000) for item in draw(range(5), 2, seed))
    assert set(counts) == set(range(5))
    assert max(abs(count - 1200) for count in counts.values()) < 135, "five standard deviations"


def test_items_need_not_be_comparable() -> None:
    items = [{place} for place in range(9)]
    assert draw(items, 20, seed=1) == items
