from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from nmt.align.extract import all_views, chosen_view, view_values
from nmt.align.links import argmax_links
from nmt.align.methods import METHODS
from nmt.align.pipeline import align_records, symmetrize_records, translation_records
from nmt.align.record import View
from nmt.config import AlignmentConfig, AlignmentMethod
from nmt.errors import UserError
from tests.align.conftest import MakeRecord, ReversingModel

WEIGHTS = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)  # [L, H, T, S]
RIGHT = View("attention", 1, 2, 1)


def test_every_method_can_be_configured() -> None:
    assert get_args(AlignmentMethod) == tuple(METHODS)


def test_layer_head_and_mean() -> None:
    np.testing.assert_array_equal(view_values(WEIGHTS, View("attention", 1, 2, 0)), WEIGHTS[1, 2])
    np.testing.assert_array_equal(view_values(WEIGHTS, View("attention", 0, None, 0)), WEIGHTS[0].mean(axis=0))


def test_shift_reads_the_next_row_and_eos_keeps_its_own() -> None:
    shifted = view_values(WEIGHTS, View("attention", 0, 1, 1))
    np.testing.assert_array_equal(shifted, WEIGHTS[0, 1][[1, 2, 3, 3]])


def test_attributions_are_normalised_unless_they_are_raw() -> None:
    signed = np.array([[[[-3, 1], [0, 0]]]], dtype=np.float32)
    np.testing.assert_array_equal(view_values(signed, View("erasure", 0, None, 0)), [[0.75, 0.25], [0, 0]])
    np.testing.assert_array_equal(view_values(signed, View("erasure", 0, None, 0, raw=True)), signed[0, 0])
    np.testing.assert_array_equal(view_values(signed / 2, View("posterior", 0, None, 0)), signed[0, 0] / 2)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"layer": 2}, r"layer 2: the model has 2, numbered 0 to 1"),
        ({"layer": -3}, r"layer -3: the model has 2"),
        ({"head": 3}, r"head 3: a layer of the model has 3, numbered 0 to 2"),
    ],
)
def test_what_the_model_does_not_have_is_refused(
    choice: dict[str, int], message: str, reversing_model: ReversingModel
) -> None:
    with pytest.raises(UserError, match=message):
        chosen_view(reversing_model, replace(reversing_model.alignment, **choice))


def test_the_settings_name_a_view(reversing_model: ReversingModel) -> None:
    last_mean = AlignmentConfig(layer=-1, head=None, shift=0)
    assert chosen_view(reversing_model, last_mean) == View("attention", 1, None, 0)
    gradient = replace(last_mean, layer=7, shift=1, method="gradient")
    assert chosen_view(reversing_model, gradient) == View("gradient", 0, None, 0), "layers and rows are attention's"
    assert len(all_views(reversing_model, (0, 1))) == 2 * (3 + 1) * 2


def test_pairs_become_records_in_order_with_blank_ones_in_their_place(reversing_model: ReversingModel) -> None:
    pairs = [("kala lo mi", "AM ol alak"), ("", ""), ("ka", ""), ("", "AK"), ("lo", "OL")] * 100
    records = list(align_records(reversing_model, iter(pairs), [RIGHT]))
    assert [(r.index, r.source, r.target) for r in records] == [(i, *pair) for i, pair in enumerate(pairs)]
    assert [r.matrix.weights.shape for r in records] == [(4, 4), (1, 1), (1, 2), (2, 1), (2, 2)] * 100
    assert records[-5].links == {(2, 0), (1, 1), (0, 2)}
    assert [set(r.links) for r in records[1:5]] == [set(), set(), set(), {(0, 0)}]
    assert not records[2].values.any()


def test_every_view_is_of_its_method_and_the_first_makes_the_links(reversing_model: ReversingModel) -> None:
    erasure = View("erasure", 0, None, 0)
    views = [erasure, erasure._replace(raw=True), RIGHT, *all_views(reversing_model, (0,))]
    (record,) = align_records(reversing_model, [("kala lo mi", "AM ol alak")], views)
    assert record.values.shape == (len(views), 5, 5)
    np.testing.assert_array_equal(record.values[0], -record.values[1])
    np.testing.assert_array_equal(record.words(0).weights[:-1], record.words(2).weights[:-1])
    assert record.links == argmax_links(record.words(0)) == {(2, 0), (1, 1), (0, 2)}


def test_a_pair_with_a_blank_side_has_zeros_for_every_view(reversing_model: ReversingModel) -> None:
    (record,) = align_records(reversing_model, [("kala", "")], all_views(reversing_model, (0, 1)))
    assert record.values.shape == (16, 1, 3)
    assert not record.values.any()


def test_words_and_pieces_of_a_record(reversing_model: ReversingModel) -> None:
    (record,) = align_records(reversing_model, [("kala  lo", " OL alak")], [RIGHT])
    assert record.pieces(0).source_words == ("ka", "la", "lo")
    assert record.pieces(0).target_words == ("OL", "al", "ak")
    np.testing.assert_array_equal(record.pieces(0).weights[0], [0, 0, 1, 0])
    np.testing.assert_array_equal(record.matrix.weights[:-1], [[0, 1, 0], [1, 0, 0]])


def test_own_translations_are_read_hypothesis_by_hypothesis(reversing_model: ReversingModel) -> None:
    lines = ["ka lo", "", "mi"] * 100
    found = reversing_model.translate(lines, advance=lambda count: None)
    records = list(translation_records(reversing_model, lines, found, [RIGHT], first=5))
    assert [r.index for r in records] == list(range(5, 305))
    assert [r.target for r in records] == ["LO KA", "", "MI"] * 100
    assert [set(r.links) for r in records[-3:]] == [{(1, 0), (0, 1)}, set(), {(0, 0)}]


def test_symmetrised_records_keep_the_values_and_turn_the_reverse_links(
    reversing_model: ReversingModel, make_record: MakeRecord
) -> None:
    records = [make_record(0, "a b c", "x y"), make_record(1, "", "")]
    combined = list(symmetrize_records(records, reversing_model, RIGHT, "union"))
    # The reverse model links x and y (its source) to b and a: source word 1 - j for its target word j; c reads EOS.
    assert combined[0].links == records[0].links | {(0, 1), (1, 0)}
    assert combined[0].values is records[0].values
    assert combined[1].links == frozenset()
