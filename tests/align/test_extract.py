from collections.abc import Callable

import numpy as np
import pytest

from nmt.align.extract import HeadChoice, align_pairs, choose_head, select_weights
from nmt.align.links import argmax_links
from nmt.align.pipeline import align_records, symmetrize_records
from nmt.align.record import Record
from nmt.data.pharaoh import Links
from nmt.errors import UserError

WEIGHTS = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)  # [L, H, T, S]


def test_layer_head_and_mean() -> None:
    np.testing.assert_array_equal(select_weights(WEIGHTS, layer=1, head=2, shift=0), WEIGHTS[1, 2])
    np.testing.assert_array_equal(select_weights(WEIGHTS, layer=-2, head=0, shift=0), WEIGHTS[0, 0])
    np.testing.assert_array_equal(select_weights(WEIGHTS, layer=0, head=None, shift=0), WEIGHTS[0].mean(axis=0))


def test_shift_reads_the_next_row_and_eos_keeps_its_own() -> None:
    shifted = select_weights(WEIGHTS, layer=0, head=1, shift=1)
    np.testing.assert_array_equal(shifted, WEIGHTS[0, 1][[1, 2, 3, 3]])


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"layer": 2, "head": 0, "shift": 0}, r"layer 2: the model has 2, numbered 0 to 1"),
        ({"layer": -3, "head": 0, "shift": 0}, r"layer -3: the model has 2"),
        ({"layer": 0, "head": 3, "shift": 0}, r"head 3: a layer of the model has 3, numbered 0 to 2"),
        ({"layer": 0, "head": 0, "shift": -1}, r"shift -1"),
    ],
)
def test_what_the_model_does_not_have_is_refused(choice: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        select_weights(WEIGHTS, **choice)


def reversed_gold(words: int) -> Links:
    links = frozenset((words - 1 - t, t) for t in range(words))
    return Links(links, links)


def test_pairs_become_matrices_in_order_with_blank_ones_in_their_place(reversing_model) -> None:
    pairs = [("kala lo mi", "AM ol alak"), ("", ""), ("ka", ""), ("", "AK"), ("lo", "OL")] * 100
    matrices = list(align_pairs(reversing_model, iter(pairs), layer=1, head=2, shift=1))
    assert [m.weights.shape for m in matrices] == [(4, 4), (1, 1), (1, 2), (2, 1), (2, 2)] * 100
    assert argmax_links(matrices[-5]) == {(2, 0), (1, 1), (0, 2)}
    assert all(np.isfinite(m.weights).all() for m in matrices)
    assert not matrices[2].weights.any()


def test_a_side_of_words_without_pieces_is_blank(reversing_model) -> None:
    reversing_model._read = lambda source, target: type(
        "Read", (), {"weights": np.zeros((2, 1, 1, 1), np.float32), "source_map": [], "target_map": []}
    )
    (matrix,) = align_pairs(reversing_model, [("\u00a0", "a b")], layer=0, head=2, shift=0)
    assert matrix.weights.shape == (3, 2)
    assert not matrix.weights.any()


def test_the_head_that_reads_the_word_is_chosen_with_its_shift(reversing_model) -> None:
    lines = ["", "ka lo mi", "tu re", "lo mitu re kala", ""]
    read = reversing_model.attention([(line, line[::-1]) for line in lines])
    choice = choose_head(read, [reversed_gold(len(line.split())) for line in lines])
    assert choice == HeadChoice(layer=1, head=2, shift=1, aer=0.0)


def test_choosing_needs_gold_for_every_pair(reversing_model) -> None:
    with pytest.raises(ValueError, match="1 pairs of weights, but 0 of gold links"):
        choose_head(reversing_model.attention([("a", "b")]), [])
    with pytest.raises(ValueError, match="no pair to choose a head by"):
        choose_head(reversing_model.attention([("", "b")]), [reversed_gold(0)])


def test_records_are_numbered_lines(reversing_model) -> None:
    pairs = [("ka lo", "OL AK"), ("", "x"), ("mi", "IM")]
    records = list(align_records(reversing_model, pairs, layer=1, head=2, shift=1))
    assert [(r.index, r.source, r.target) for r in records] == [(i, *pair) for i, pair in enumerate(pairs)]
    assert [set(r.links) for r in records] == [{(1, 0), (0, 1)}, set(), {(0, 0)}]


def test_symmetrised_records_keep_the_matrix_and_turn_the_reverse_links(
    reversing_model, make_record: Callable[[int, str, str], Record]
) -> None:
    records = [make_record(0, "a b c", "x y"), make_record(1, "", "")]
    combined = list(symmetrize_records(records, reversing_model, "union", layer=1, head=2, shift=1))
    # The reverse model links x and y (its source) to b and a: source word 1 - j for its target word j; c reads EOS.
    assert combined[0].links == records[0].links | {(0, 1), (1, 0)}
    assert combined[0].matrix is records[0].matrix
    assert combined[1].links == frozenset()
