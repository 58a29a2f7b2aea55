"""Bins by hand, and BLEU of what lies in each."""

from __future__ import annotations

import pytest

from nmt.compare.comparison import Comparison
from nmt.compare.lengths import Bin, bleu_by_length, choose_bins, source_lengths
from nmt.errors import UserError
from tests.compare.made import TARGETS, Finish, bahdanau


@pytest.mark.parametrize(
    ("lengths", "bins"),
    [
        # 40 are enough, 39 are not; bins end at multiples of five
        ([3] * 40 + [6] * 39 + [11] * 1 + [17] * 40, [Bin(3, 5, 40), Bin(6, 15, 40), Bin(16, 17, 40)]),
        # what is left over joins the last
        ([2] * 41 + [9] * 43 + [27] * 5, [Bin(2, 5, 41), Bin(6, 27, 48)]),
        # a gap is no bin of its own
        ([1] * 40 + [28] * 40, [Bin(1, 5, 40), Bin(6, 28, 40)]),
        ([7] * 3, [Bin(7, 7, 3)]),
        ([0, 0, 4], [Bin(0, 4, 3)]),
    ],
)
def test_bins_by_hand(lengths: list[int], bins: list[Bin]) -> None:
    assert choose_bins(lengths) == bins


def test_names() -> None:
    assert (str(Bin(6, 10, 3)), str(Bin(7, 7, 3))) == ("6-10", "7")


def test_words_are_fields_between_spaces() -> None:
    assert source_lengths(["ka  lo ", "", "ka\u00a0lo mi"]) == [2, 0, 2]


def test_each_bin_has_its_own_sentences(comparison: Comparison, finish: Finish) -> None:
    """The sentences of one and two words are right, the one of seven shares nothing with its reference."""
    wrong = [TARGETS[0], TARGETS[1], "OD OD OD OD OD OD OD", TARGETS[3]]
    finish(bahdanau(1), translations=wrong)
    found = bleu_by_length(comparison.run(bahdanau(1)), [Bin(1, 2, 3), Bin(3, 6, 0), Bin(7, 7, 1)])
    assert found == [pytest.approx(100), None, pytest.approx(0)]


def test_a_test_set_that_has_changed(comparison: Comparison, finish: Finish) -> None:
    finish(bahdanau(1), translations=TARGETS[:3])
    with pytest.raises(UserError, match=r"test.txt has 3 lines, but the test set now has 4"):
        bleu_by_length(comparison.run(bahdanau(1)), [Bin(1, 7, 4)])
