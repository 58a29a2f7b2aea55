"""The error rate, and signs of links that were misread. Published figures are in test_oracle.py."""

import pytest

from nmt.align.aer import aer
from nmt.align.misread import Misreading, misreadings
from nmt.data.pharaoh import Links, parse_links


def links(text: str) -> Links:
    return parse_links(text)


def test_by_hand() -> None:
    gold, predicted = [links("0-0 1-1 2p1 2p2")], [{(0, 0), (2, 1), (2, 2), (3, 3)}]
    score = aer(gold, predicted)
    assert (score.precision, score.recall) == (3 / 4, 1 / 2)
    assert score.f1 == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert score.aer == pytest.approx(1 - (1 + 3) / (4 + 2))
    assert (score.lines, score.links, score.sure, score.sure_found, score.possible_found) == (1, 4, 2, 1, 3)


def test_a_corpus_is_summed_before_it_is_divided() -> None:
    gold = [links("0-0"), links("0-0 1-1 2-2 3-3")]
    predicted = [{(0, 1)}, {(0, 0), (1, 1), (2, 2), (3, 3)}]
    assert aer(gold, predicted).aer == pytest.approx(1 - 8 / 10)
    assert [aer([line], [found]).aer for line, found in zip(gold, predicted, strict=True)] == [1, 0]


def test_a_share_of_nothing_is_one() -> None:
    nothing = aer([links("")], [set()])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.aer) == (1, 1, 1, 0)
    silent = aer([links("0-0")], [set()])
    assert (silent.precision, silent.recall, silent.f1, silent.aer) == (1, 0, 0, 1)


def test_unequal_numbers_of_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="2 sentences of gold links, but 1 "):
        aer([links(""), links("")], [set()])


DIAGONAL = [links("0-0 1-1 2-2 3-4"), links("0-1 1-0 2-3")]


def moved(gold: list[Links], step: int) -> list[Links]:
    return [Links(*(frozenset((s + step, t + step) for s, t in kind) for kind in line)) for line in gold]


def turned(gold: list[Links]) -> list[set[tuple[int, int]]]:
    return [{(t, s) for s, t in line.possible} for line in gold]


def found(gold: list[Links], predicted: list[Links]) -> list[Misreading]:
    return list(misreadings(gold, [line.possible for line in predicted]))


def test_a_file_counted_from_one_shows() -> None:
    assert found(moved(DIAGONAL, 1), DIAGONAL) == [Misreading("gold", "counted from 1", 0)]
    assert found(DIAGONAL, moved(DIAGONAL, 1)) == [Misreading("links", "counted from 1", 0)]
    assert found(moved(DIAGONAL, 1), moved(DIAGONAL, 1)) == found(DIAGONAL, DIAGONAL) == []


def test_a_file_with_a_word_0_is_not_taken_for_one_counted_from_one() -> None:
    assert found([links("0-0 1-1 2-2")], [links("0-3 1-1 2-2 3-3 4-4")]) == []
    assert found([links("0-0 1-1 2-2 3-3")], [links("0-1 2-2 3-3 4-4 5-5")]) == []


def test_exchanged_links_show_by_their_rate() -> None:
    gold = [links("0-0 1-2 2-4 3-6 4-7")]
    assert list(misreadings(gold, turned(gold))) == [Misreading("links", "exchanged", 0)]


def test_exchanged_links_show_by_words_that_are_not_there() -> None:
    """Hopeless links, no better when exchanged; but source word 4 is not there, and target word 4 is."""
    gold = [links("0-0 1-4 2-3")]
    assert [one.looks for one in misreadings(gold, [{(4, 0)}])] == ["exchanged"]
    assert list(misreadings(gold, [{(4, 0), (4, 4)}])) == []  # 4-4 fits neither way


def test_nothing_shows_where_there_is_nothing_to_see() -> None:
    assert list(misreadings([links("")], [set()])) == []
    assert list(misreadings([links("0-0")], [set()])) == []
