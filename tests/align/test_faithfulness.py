"""Rank correlation and agreement of two matrices over words, beside hand-checked cases."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import nmt
from nmt.align.faithfulness import Faithfulness, compare, kendall_tau_b, summarise
from nmt.align.matrix import AlignmentMatrix
from nmt.align.methods import METHODS
from nmt.cli.main import main
from nmt.config import AlignmentConfig
from nmt.translator import Reading
from tests.align.conftest import pieces


def matrix(*rows: list[float]) -> AlignmentMatrix:
    """Rows of source words; EOS's column is the greatest everywhere, its row has an order of its own."""
    weights = np.array([[*row, 9.0] for row in [*rows, [5.0, 1.0, 3.0, 2.0][: len(rows[0])]]], dtype=np.float32)
    size = weights.shape[1] - 1
    return AlignmentMatrix(tuple("abcd"[:size]), tuple(map(str, range(len(rows)))), weights)


@pytest.mark.parametrize(
    ("first", "second", "tau"),
    [
        ([1, 2, 3], [10, 20, 30], 1),
        ([1, 2, 3], [30, 20, 10], -1),
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6),  # five pairs agree, one does not
        # Pairs: (1,2) and (1,3) agree, (2,3) is tied in the first; of the second none is: 2 / sqrt(2 x 3)
        ([1, 2, 2], [1, 2, 3], 2 / 6**0.5),
        # ab agree, ac tied in the second, bc tied in the first: 1 / sqrt(2 x 2)
        ([1, 2, 2], [1, 2, 1], 1 / 2),
    ],
)
def test_tau_b_by_hand(first: list[float], second: list[float], tau: float) -> None:
    assert kendall_tau_b(np.array(first), np.array(second)) == pytest.approx(tau)
    assert kendall_tau_b(np.array(second), np.array(first)) == pytest.approx(tau)


def test_tau_b_is_that_of_counted_pairs() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        x, y = random.integers(0, 4, size=(2, 7))
        x[0], y[0] = 9, 8
        pairs = [(x[i] - x[j], y[i] - y[j]) for i, j in combinations(range(7), 2)]
        agree, oppose = sum(a * b > 0 for a, b in pairs), sum(a * b < 0 for a, b in pairs)
        loose = sum(a != 0 for a, _ in pairs) * sum(b != 0 for _, b in pairs)
        assert kendall_tau_b(x, y) == pytest.approx((agree - oppose) / loose**0.5)


def test_a_sentence_is_the_mean_of_its_target_words_without_eos() -> None:
    attention = matrix([1, 2, 3], [3, 2, 1], [1, 1, 1])
    erasure = matrix([1, 2, 3], [1, 2, 3], [1, 2, 3])
    assert compare(attention, erasure) == Faithfulness(tau=0.0, agreement=0.5, words=2)


@pytest.mark.parametrize("rows", [[[1.0]], [[0.0, 0.0], [2.0, 2.0]]])
def test_nothing_to_compare(rows: list[list[float]]) -> None:
    """One source word, or words that all count the same."""
    assert compare(matrix(*rows), matrix(*([2.0, 1.0][: len(row)] for row in rows))) is None


def test_blank_sides_have_nothing_to_compare() -> None:
    for source, target in (((), ("x",)), (("x", "y"), ())):
        blank = AlignmentMatrix(source, target, np.zeros((len(target) + 1, len(source) + 1), dtype=np.float32))
        assert compare(blank, blank) is None


def test_matrices_of_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="different words"):
        compare(matrix([1, 2]), matrix([1, 2, 3]))


def test_the_summary_counts_sentences_once_and_prints_itself() -> None:
    attention = [matrix([1, 2, 3]), matrix([3, 2, 1]), matrix([1, 1, 1])]
    summary = summarise(compare(one, matrix([1, 2, 3])) for one in attention)
    assert str(summary) == (
        "Kendall's tau-b: mean 0.000, median 0.000, quartiles -0.500 and 0.500\n"
        "same greatest word: mean 0.500, median 0.500, quartiles 0.250 and 0.750\n"
        "2 sentences, 1 more without anything to compare"
    )
    assert (summary.sentences, summary.left_out) == (2, 1)


def test_a_summary_of_nothing() -> None:
    assert str(summarise([None])) == "0 sentences, 1 more without anything to compare"


def test_the_command_holds_attention_against_erasure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of x and y over ka, lo, mi; erasure's have signs, of which sizes count. No other method ranks words so."""
    found = {
        METHODS["attention"]: matrix([0.1, 0.2, 0.7], [0.5, 0.3, 0.2]),
        METHODS["erasure"]: matrix([1.0, -2.0, 3.0], [-1.0, 3.0, -2.0]),
    }
    other = matrix([3.0, 2.0, 1.0], [1.0, 2.0, 3.0])

    def read_pairs(pairs, first, method):
        values = found.get(method, other).weights[None, None]
        return [Reading(values, pieces(source), pieces(target)) for source, target in pairs]

    alignment = AlignmentConfig(layer=-1, head=None, shift=0, method="gradient")
    model = SimpleNamespace(layers=1, heads=1, alignment=alignment, read_pairs=read_pairs)
    monkeypatch.setattr(nmt, "load", lambda run, overrides=(): model)
    monkeypatch.chdir(tmp_path)
    Path("s").write_text("ka lo mi\n", encoding="utf-8")
    Path("t").write_text("x y\n", encoding="utf-8")
    assert main(["align", "RUN", "--faithfulness", "--source", "s", "--target", "t", "-o", "f.jsonl"]) == 0
    line = json.loads(Path("f.jsonl").read_text(encoding="utf-8"))
    # x: the same order. y: ka-lo and ka-mi oppose, lo-mi agrees, so -1/3; its greatest words are ka and lo.
    assert line == {"index": 0, "tau": pytest.approx((1 - 1 / 3) / 2), "agreement": 0.5}
    assert capsys.readouterr().out.startswith("attention, layer 0, mean of heads against erasure\n")
