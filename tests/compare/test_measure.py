"""What is read of a run, against numbers by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nmt.align.matrix import AlignmentMatrix
from nmt.compare.comparison import Comparison
from nmt.compare.measure import mean_entropy, measure
from nmt.model.assemble import assemble
from nmt.run import save_weights
from tests.compare.made import VOCABULARY, Finish, bahdanau


def matrix(*rows: list[float]) -> AlignmentMatrix:
    """The last row is EOS's."""
    weights = np.array(rows, dtype=np.float32)
    return AlignmentMatrix(("ka",) * (weights.shape[1] - 1), ("AK",) * (len(rows) - 1), weights)


def test_entropy_by_hand() -> None:
    """Two words in two places evenly, one in one place alone, one in four: (2 ln 2 + 0 + ln 4) / 4 = ln 2."""
    eos = [0.3, 0.7, 0.0, 0.0]
    half, one, quarter = [0.5, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.25] * 4
    assert mean_entropy([matrix(half, one, eos), matrix(quarter, half, eos)]) == pytest.approx(math.log(2))


def test_entropy_of_rows_that_do_not_sum_to_one() -> None:
    """Local attention's sum to less, a word without pieces has nothing: only the shares of what is read count."""
    scaled = matrix([0.1, 0.3], [0.0, 0.0], [1.0, 0.0])
    expected = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert mean_entropy([scaled]) == pytest.approx(expected, abs=1e-6)


def test_no_weights_have_no_entropy() -> None:
    assert mean_entropy([matrix([0.0, 0.0], [0.0, 0.0])]) is None
    assert mean_entropy([]) is None
    assert mean_entropy([matrix([1.0, 0.0], [0.5, 0.5])]) == 0


def test_all_of_a_run(comparison: Comparison, finish: Finish) -> None:
    cell = bahdanau(1)
    finish(cell, bleu=60.0, aer=0.25, row=(0.25, 0.75), rates=(100.0, 900.0, 300.0))
    found = measure(comparison.run(cell))
    assert (found.bleu, found.low, found.high, found.chrf) == (60.0, 58.0, 64.0, 60.0)
    assert (found.aer, found.tokens_per_second, found.signature) == (0.25, 300.0, "nrefs:1")
    assert found.entropy == pytest.approx(0.562335, abs=1e-6)


def test_what_a_run_has_not(comparison: Comparison, finish: Finish) -> None:
    finish(bahdanau(1), row=(0.0, 0.0))
    found = measure(comparison.run(bahdanau(1)))
    assert (found.aer, found.entropy, found.tokens_per_second) == (None, None, None)


def test_parameters_are_those_of_the_weights_file(comparison: Comparison, finish: Finish) -> None:
    """A recurrent model has no buffers, so that the file holds its parameters alone; tied tables are there once."""
    from safetensors import safe_open

    finish(bahdanau(1))
    run = comparison.run(bahdanau(1))
    save_weights(run.best, assemble(run.config(), source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY))
    with safe_open(run.best, framework="np") as stored:
        sizes = [math.prod(stored.get_slice(name).get_shape()) for name in stored.keys()]  # noqa: SIM118
    assert measure(run).parameters == sum(sizes)
