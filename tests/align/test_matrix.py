import numpy as np
import pytest

from nmt.align.matrix import AlignmentMatrix, merge_pieces, merge_weights


def test_source_columns_are_summed_and_target_rows_averaged() -> None:
    weights = np.array(
        [
            [0.1, 0.2, 0.3, 0.4],  # first piece of target word 0
            [0.3, 0.4, 0.1, 0.2],  # second piece of target word 0
            [0.0, 0.0, 0.9, 0.1],  # EOS
        ],
        dtype=np.float32,
    )
    matrix = merge_pieces(weights, [0, 0, 1], [0, 0], ["a", "b"], ["c"])
    np.testing.assert_allclose(matrix.weights, [[0.5, 0.2, 0.3], [0.0, 0.9, 0.1]], atol=1e-7)
    assert (matrix.source_words, matrix.target_words) == (("a", "b"), ("c",))


def test_rows_keep_their_sum() -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(8), size=6)
    merged = merge_weights(weights, [0, 1, 1, 2, 4, 4, 4], [0, 0, 1, 3, 3], 5, 4)
    assert merged.shape == (5, 6)
    np.testing.assert_allclose(merged.sum(axis=1), [1, 1, 0, 1, 1], atol=1e-6)


def test_words_without_pieces_get_zeros() -> None:
    merged = merge_weights(np.full((2, 2), 0.5), [1], [1], 2, 2)
    assert not merged[0].any()
    assert not merged[:, 0].any()


def test_leading_axes_are_merged_alike() -> None:
    weights = np.random.default_rng(1).random((2, 3, 4, 5))
    together = merge_weights(weights, [0, 0, 1, 2], [0, 1, 1], 3, 2)
    alone = merge_weights(weights[1, 2], [0, 0, 1, 2], [0, 1, 1], 3, 2)
    np.testing.assert_array_equal(together[1, 2], alone)


def test_a_blank_pair_is_its_eos_alone() -> None:
    assert merge_pieces(np.zeros((1, 1)), [], [], [], []).weights.shape == (1, 1)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\) where the pieces need \(2, 2\)"):
        merge_pieces(np.zeros((2, 3)), [0], [0], ["a"], ["b"])
    with pytest.raises(ValueError, match=r"shape \(2, 2\) where the words need \(3, 2\)"):
        AlignmentMatrix(("a",), ("b", "c"), np.zeros((2, 2), np.float32))


def test_weights_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        merge_pieces(np.array([[np.nan, 1.0], [0.0, 1.0]]), [0], [0], ["a"], ["b"])
