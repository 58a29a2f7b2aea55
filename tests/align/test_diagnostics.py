"""Every number by hand: two source words and three target words, and links drawn on paper."""

from math import log

import numpy as np
import pytest

from nmt.align.diagnostics import diagnose, filled_shares, measures, monotone_steps, order_tau, weight_overlap
from nmt.align.matrix import AlignmentMatrix


def matrix(*rows: tuple[float, ...]) -> AlignmentMatrix:
    weights = np.array(rows, dtype=np.float32)
    sources, targets = weights.shape[1] - 1, weights.shape[0] - 1
    return AlignmentMatrix(tuple("abcdefgh"[:sources]), tuple("stuvwxyz"[:targets]), weights)


# Rows of t read: a alone; a and </s> alike; nothing. The row of </s>, which reads b, does not count.
TWO_BY_THREE = matrix((1, 0, 0), (0.5, 0, 0.5), (0, 0, 0), (0, 1, 0))
BLANK = AlignmentMatrix((), ("x",), np.zeros((2, 1), np.float32))


def test_one_pair() -> None:
    found = diagnose(TWO_BY_THREE, {(0, 0), (0, 1), (1, 2)})
    assert (found.sources, found.targets, found.rows) == (2, 3, 2)
    assert found.entropy == pytest.approx(log(2) / 2)
    assert found.peak == pytest.approx((1 + 0.5) / 2)
    assert found.eos == pytest.approx((0 + 0.5) / 2)
    assert (found.unread, found.coverage) == (1, 0.5)  # b
    assert (found.forward, found.steps) == (2, 2)
    assert found.tau == 1  # 0-0 and 0-1 against 1-2: the first two share a word


def test_shares_are_of_sizes_whatever_the_scale_and_sign() -> None:
    np.testing.assert_allclose(filled_shares(matrix((-3, 1, 0), (9, 9, 9))), [[0.75, 0.25, 0]])
    assert filled_shares(BLANK).shape == (0, 1)


@pytest.mark.parametrize(
    ("links", "forward", "steps", "tau"),
    [
        ([], 0, 0, None),
        ([(3, 0)], 0, 0, None),
        ([(0, 0), (1, 1), (2, 2)], 2, 2, 1.0),
        ([(2, 0), (1, 1), (0, 2)], 0, 2, -1.0),
        ([(0, 0), (2, 1), (1, 2)], 1, 2, 1 / 3),  # of three pairs one is in opposite order
        ([(1, 0), (1, 1), (1, 4)], 2, 2, None),  # all of one source word: no step back, and no order
        ([(0, 0), (4, 0), (3, 1)], 1, 1, 0.0),  # target 0 stands at 2; 0-0 before 3-1, 4-0 behind it
    ],
)
def test_order(links: list[tuple[int, int]], forward: int, steps: int, tau: float | None) -> None:
    assert monotone_steps(set(links)) == (forward, steps)
    assert order_tau(set(links)) == (None if tau is None else pytest.approx(tau))


def test_overlap() -> None:
    one = matrix((1, 0, 0), (0.5, 0.5, 0), (1, 0, 0))
    other = matrix((0.25, 0.75, 0), (0, 0, 1), (0, 0, 1))
    assert weight_overlap(one, one) == 1
    assert weight_overlap(one, other) == pytest.approx((0.25 + 0) / 2)
    assert weight_overlap(BLANK, BLANK) is None
    with pytest.raises(ValueError, match="same words"):
        weight_overlap(one, TWO_BY_THREE)


def test_a_test_set_sums_before_it_divides_and_leaves_blank_pairs_out() -> None:
    wide = matrix((0.25, 0.25, 0.25, 0.25), (0, 0, 0, 1))  # one row, as uniform as can be
    pairs = [(TWO_BY_THREE, {(1, 0), (0, 1)}), (BLANK, set()), (wide, {(2, 0)})]
    found = {one.name: one for one in measures([diagnose(*pair) for pair in pairs])}
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {
            "entropy": (0 + log(2) + log(4)) / 3,
            "greatest share": 100 * (1 + 0.5 + 0.25) / 3,
            "share of </s>": 100 * (0 + 0.5 + 0.25) / 3,
            "near uniform": 100 / 4,
            "coverage": 100 * 4 / 5,
            "never read": 1,
            "read again and again": 0,
            "forward steps": 0,
            "Kendall's tau": -1,
        }
    )
    assert all(one.unit and one.meaning for one in found.values())


def test_what_cannot_be_counted_is_not_zero() -> None:
    assert {one.value for one in measures([diagnose(BLANK, set())])} == {None}
    assert {one.value for one in measures([])} == {None}
    unread = matrix((0, 0, 0), (0, 0, 0))  # a model without attention
    assert {one.value for one in measures([diagnose(unread, set())])} == {None}
