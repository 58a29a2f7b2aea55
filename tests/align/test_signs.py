"""What a matrix tells without gold, on matrices whose signs can be counted by hand."""

import numpy as np
import pytest

from nmt.align.signs import signs

# Target words down, source words across, EOS last. Source word 0 is read by all, word 1 by none, word 2 by one.
READ = [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0.25, 0.25, 0.25, 0.25]]


def test_signs_of_a_matrix() -> None:
    found = signs(np.array(READ))
    assert (found.entropy, found.unread, found.repeated, found.uniform) == (0, 1, 1, 0)


def test_the_row_of_eos_says_nothing_and_its_column_is_one_of_a_rows() -> None:
    values = np.array([[0.25, 0.25, 0.25, 0.25], [0, 0, 0, 1.0], [1, 0, 0, 0]])
    found = signs(values)
    assert found.entropy == pytest.approx(np.log(4) / 2)
    assert (found.unread, found.repeated, found.uniform) == (0, 0, 1)


def test_only_the_size_of_values_counts_and_rows_of_zeros_have_no_entropy() -> None:
    values = np.array([[-4.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = signs(values)
    assert found.entropy == pytest.approx(np.log(2))
    assert found.unread == 0


def test_of_two_columns_no_row_is_near_uniform() -> None:
    assert signs(np.array([[0.5, 0.5], [0.5, 0.5]])).uniform == 0


def test_a_stack_gives_what_its_matrices_give() -> None:
    stack = np.random.default_rng(3).dirichlet([0.2] * 5, (2, 3, 7))
    together = signs(stack)
    for place in np.ndindex(2, 3):
        assert [part[place] for part in together] == [float(part) for part in signs(stack[place])]


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (1, 1)])
def test_a_pair_with_a_blank_side_has_no_signs(shape: tuple[int, int]) -> None:
    found = signs(np.zeros(shape))
    assert np.isnan(found.entropy)
    assert (found.unread, found.repeated, found.uniform) == (0, 0, 0)
