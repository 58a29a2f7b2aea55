from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.align.aer import aer
from nmt.align.links import RULES, Rule, argmax_links, symmetrize, threshold_links
from nmt.align.matrix import AlignmentMatrix
from nmt.data.pharaoh import read_links

STRICT: list[tuple[str, Rule]] = [
    ("grow-diagonal", "grow-diag-strict"),
    ("grow-diagonal-final", "grow-diag-final-strict"),
]
# AER in percent of Koehn's rules on the stored forward and reverse links, in the order of KOEHN.
KOEHN: tuple[Rule, ...] = ("grow-diag", "grow-diag-final", "grow-diag-final-and")
KOEHN_AER = {
    ("fastalign", "enfr"): (14.59, 18.61, 15.19),
    ("giza", "enfr"): (6.29, 9.15, 6.38),
    ("fastalign", "roen"): (32.03, 33.99, 32.18),
    ("giza", "roen"): (28.22, 29.02, 27.11),
}
GOLD = {"enfr": "hansards_en-fr/test.gold", "roen": "ro-en/roen.gold"}
FAR = 200  # words; the stored links have no sentences beside them here

links_6x5 = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 4)))


def matrix(rows: list[list[float]]) -> AlignmentMatrix:
    weights = np.array(rows, dtype=np.float32)
    return AlignmentMatrix(("s",) * (weights.shape[1] - 1), ("t",) * (weights.shape[0] - 1), weights)


def test_each_target_word_is_linked_to_its_best_source_word() -> None:
    assert argmax_links(matrix([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0, 0, 1]])) == {
        (1, 0),
        (0, 1),
        (0, 2),
    }


def test_a_word_that_reads_eos_is_linked_to_the_best_real_word() -> None:  # CASES H02
    assert argmax_links(matrix([[0.1, 0.2, 0.7], [0.0, 0.0, 1.0]])) == {(1, 0)}


def test_the_first_of_equals_wins_and_a_row_of_zeros_makes_no_link() -> None:
    assert argmax_links(matrix([[0.4, 0.4, 0.2], [0, 0, 1], [0, 0, 1]])) == {(0, 0)}
    assert argmax_links(matrix([[0.0, 0.0, 0.0], [0, 0, 0]])) == set()
    assert argmax_links(matrix([[1.0], [1.0], [1.0]])) == set()
    assert argmax_links(matrix([[0.5, 0.5]])) == set()


def test_a_doubled_target_word_takes_one_source_word_twice() -> None:  # CASES H10
    forward = argmax_links(matrix([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0, 0, 1]]))
    assert forward == {(0, 0), (0, 1)}  # source word 1 has no link: links are chosen a target word


def test_threshold_links_are_all_pairs_at_or_above_it() -> None:
    weights = matrix([[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [0, 0, 1]])
    assert threshold_links(weights, 0.25) == {(0, 0), (1, 0), (1, 1)}
    assert threshold_links(weights, 0.9) == set()
    with pytest.raises(ValueError, match="above 0, not 0"):
        threshold_links(weights, 0)


def test_growing_takes_neighbours_and_final_takes_what_is_free() -> None:
    forward, backward = {(0, 0), (1, 1), (1, 2), (4, 4)}, {(0, 0), (1, 1), (3, 4)}
    expected: dict[Rule, set[tuple[int, int]]] = {
        "intersection": {(0, 0), (1, 1)},
        "union": {(0, 0), (1, 1), (1, 2), (4, 4), (3, 4)},
        "grow-diag": {(0, 0), (1, 1), (1, 2)},  # target word 2 is free
        "grow-diag-strict": {(0, 0), (1, 1)},  # source word 1 is not
        "grow-diag-final": {(0, 0), (1, 1), (1, 2), (4, 4), (3, 4)},  # 3-4: source word 3 is free
        "grow-diag-final-and": {(0, 0), (1, 1), (1, 2), (4, 4)},
        "grow-diag-final-strict": {(0, 0), (1, 1), (4, 4)},  # 1-2 is not taken: source word 1 is linked
    }
    assert {rule: symmetrize(forward, backward, rule, 5, 5) for rule in RULES} == expected


def test_growing_goes_on_from_what_it_added() -> None:
    chain = {(0, 0), (1, 1), (2, 2), (3, 3)}
    assert symmetrize({(0, 0)} | chain, {(0, 0)}, "grow-diag-strict", 4, 4) == chain


@given(forward=links_6x5, backward=links_6x5)
def test_every_rule_lies_between_intersection_and_union(
    forward: set[tuple[int, int]], backward: set[tuple[int, int]]
) -> None:
    results = {rule: symmetrize(forward, backward, rule, 6, 5) for rule in RULES}
    for links in results.values():
        assert forward & backward <= links <= forward | backward
    assert results["grow-diag"] <= results["grow-diag-final-and"]
    assert results["grow-diag-strict"] <= results["grow-diag-final-strict"]


def test_links_outside_the_pair_are_refused() -> None:
    with pytest.raises(ValueError, match=r"link \(2, 0\) lies outside a pair of 2 and 3 words"):
        symmetrize({(0, 0)}, {(2, 0)}, "union", 2, 3)


def directions(folder: Path, system: str, pair: str) -> list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]:
    forward = read_links(folder / f"{system}.{pair}.forward.talp")
    reverse = read_links(folder / f"{system}.{pair}.reverse.talp")
    return [({*f.sure}, {(t, s) for s, t in r.sure}) for f, r in zip(forward, reverse, strict=True)]


@pytest.mark.parametrize(("system", "pair"), KOEHN_AER)
def test_oracle_of_published_links(system: str, pair: str, nmt_data: Path) -> None:
    folder = nmt_data / "alignment"
    both = directions(folder / "systems", system, pair)
    gold = read_links(folder / GOLD[pair])

    def combined(rule: Rule) -> list[set[tuple[int, int]]]:
        return [symmetrize(forward, backward, rule, FAR, FAR) for forward, backward in both]

    def stored(name: str) -> list[set[tuple[int, int]]]:
        return [{*links.sure} for links in read_links(folder / "systems" / f"{system}.{pair}.{name}.talp")]

    assert combined("intersection") == stored("intersection")
    assert combined("union") == stored("union")
    for name, rule in STRICT:
        assert aer(gold, combined(rule)).aer == pytest.approx(aer(gold, stored(name)).aer, abs=0.0005)
    for rule, expected in zip(KOEHN, KOEHN_AER[system, pair], strict=True):
        assert 100 * aer(gold, combined(rule)).aer == pytest.approx(expected, abs=0.05)
