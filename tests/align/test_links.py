"""From weights to links, and from two directions to one set. Published outputs are in test_oracle.py."""

from collections.abc import Set as AbstractSet

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.align.links import (
    LINKERS,
    RULES,
    Link,
    Rule,
    argmax_links,
    argmax_null_links,
    mutual_links,
    symmetrize,
    threshold_links,
    transport_links,
)
from nmt.align.matrix import AlignmentMatrix
from nmt.align.transport import transport_plan

links_6x5 = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 4)))


@st.composite
def matrices(draw: st.DrawFn) -> AlignmentMatrix:
    """Up to 5 target and 4 source words; some rows and columns are zero, and so is a side's length at times."""
    targets, sources = draw(st.integers(0, 5)), draw(st.integers(0, 4))
    weights = np.random.default_rng(draw(st.integers(0, 1 << 30))).random((targets + 1, sources + 1)) ** 4
    weights[draw(st.lists(st.integers(0, targets), max_size=3))] = 0
    weights[:, draw(st.lists(st.integers(0, sources), max_size=2))] = 0
    return AlignmentMatrix(("s",) * sources, ("t",) * targets, weights.astype(np.float32))


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


def test_with_eos_in_the_race_a_word_that_reads_it_most_has_no_link() -> None:  # CASES H02
    assert argmax_null_links(matrix([[0.1, 0.2, 0.7], [0.4, 0.2, 0.4], [0, 1, 0], [0, 0, 1]])) == {(0, 1), (1, 2)}


def test_mutual_links_are_best_both_ways() -> None:
    weights = matrix([[0.6, 0.4, 0.0], [0.7, 0.1, 0.2], [0.2, 0.3, 0.5], [0, 0, 1]])
    assert argmax_links(weights) == {(0, 0), (0, 1), (1, 2)}
    assert mutual_links(weights) == {(0, 1)}  # source word 1 is read most by target word 0


def test_transport_spreads_a_word_that_all_read() -> None:
    """By hand: the squared weights, scaled to rows and columns of 1/2, are [[p, 1/2 - p], [1/2 - p, p]].

    Scaling keeps the cross ratio, (p / (1/2 - p))^2 = (.6 * .1 / (.4 * .9))^2, so p / (1/2 - p) = 1/6 and p = 1/14.
    """
    weights = np.array([[0.6, 0.4], [0.9, 0.1]])
    assert transport_plan(weights) == pytest.approx(np.array([[1, 6], [6, 1]]) / 14, abs=1e-6)
    assert argmax_links(matrix([[0.6, 0.4, 0], [0.9, 0.1, 0], [0, 0, 1]])) == {(0, 0), (0, 1)}
    assert transport_links(matrix([[0.6, 0.4, 0], [0.9, 0.1, 0], [0, 0, 1]])) == {(1, 0), (0, 1)}


def test_transport_gives_a_word_several_links_where_a_side_is_longer() -> None:
    assert transport_links(matrix([[0.2, 0.8], [0.9, 0.1], [1, 0], [0, 1]])) == {(0, 0), (0, 1), (0, 2)}


def test_words_without_weight_do_not_take_part_in_transport() -> None:
    links = transport_links(matrix([[0.6, 0, 0.4, 0], [0, 0, 0, 1], [0.9, 0, 0.1, 0], [0, 0, 0, 1]]))
    assert links == {(2, 0), (0, 2)}  # as without source and target word 1
    assert transport_links(matrix([[0, 1, 0], [1, 0, 0], [0, 0, 1]])) == {(1, 0), (0, 1)}


def test_a_plan_has_its_marginals_and_does_not_depend_on_the_scale_of_a_word() -> None:
    weights = np.random.default_rng(3).random((7, 5)) ** 3
    plan = transport_plan(weights)
    assert plan.sum(axis=0) == pytest.approx(np.full(5, 1 / 5))
    assert plan.sum(axis=1) == pytest.approx(np.full(7, 1 / 7), abs=1e-3)
    scaled = weights * np.linspace(0.5, 1, 7)[:, None] * np.linspace(1, 0.7, 5)
    assert transport_plan(scaled) == pytest.approx(plan, abs=1e-3)
    assert np.isfinite(transport_plan(np.zeros((2, 3)))).all()


@given(weights=matrices())
def test_links_of_every_rule_lie_inside_and_join_words_with_weight(weights: AlignmentMatrix) -> None:  # CASES H02
    found = {name: linker(weights) for name, linker in LINKERS.items()}
    found["threshold"] = threshold_links(weights, 0.1)
    for name, links in found.items():
        for s, t in links:
            assert 0 <= s < len(weights.source_words), name
            assert 0 <= t < len(weights.target_words), name
            assert weights.weights[t, s] > 0, name
        assert all(type(word) is int for link in links for word in link), name
    assert found["mutual"] <= found["argmax"]
    assert found["argmax-null"] <= found["argmax"]


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


@given(forward=links_6x5, backward=links_6x5)
def test_rules_without_a_last_step_do_not_ask_which_direction_is_first(forward: set[Link], backward: set[Link]) -> None:
    for rule in ("intersection", "union", "grow-diag", "grow-diag-strict"):
        assert symmetrize(forward, backward, rule, 6, 5) == symmetrize(backward, forward, rule, 6, 5)
    for rule in ("intersection", "union"):  # growing visits the links by source word
        assert turned(symmetrize(forward, backward, rule, 6, 5)) == symmetrize(
            turned(backward), turned(forward), rule, 5, 6
        )


def turned(links: AbstractSet[Link]) -> set[Link]:
    return {(t, s) for s, t in links}


def test_links_outside_the_pair_are_refused() -> None:
    with pytest.raises(ValueError, match=r"link \(2, 0\) lies outside a pair of 2 and 3 words"):
        symmetrize({(0, 0)}, {(2, 0)}, "union", 2, 3)
