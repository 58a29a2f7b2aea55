"""The error rate of a model's attention, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nmt.align.error import alignment_error
from nmt.config import AlignmentConfig
from nmt.data.pharaoh import parse_links
from nmt.translator import Reading
from tests.align.conftest import ReversingModel, pieces

PAIRS = [("ka lo", "OL AK"), ("", ""), ("mi ka lo", "OL AK IM")]


def test_by_hand(reversing_model: ReversingModel) -> None:
    """Five links are made, 0-1 1-0 and 0-2 1-1 2-0. Three are sure, four possible, and a fourth sure one is missing:
    1 - (3 + 4) / (5 + 4)."""
    gold = [parse_links(line) for line in ("0-1 1p0", "", "0-2 1-1 2-2")]
    assert alignment_error(reversing_model, PAIRS, gold, reversing_model.alignment) == pytest.approx(1 - 7 / 9)


def test_the_configured_weights_are_read(reversing_model: ReversingModel) -> None:
    """The right head one row too early is wrong everywhere but at the last word, which keeps EOS's row."""
    gold = [parse_links(line) for line in ("0-1 1-0", "", "0-2 1-1 2-0")]
    assert alignment_error(reversing_model, PAIRS, gold, reversing_model.alignment) == 0
    early = AlignmentConfig(layer=1, head=2, shift=0)
    assert alignment_error(reversing_model, PAIRS, gold, early) == 1


def test_a_model_that_reads_nothing_has_no_error() -> None:
    zeros = SimpleNamespace(
        layers=1,
        heads=1,
        read_pairs=lambda pairs, first, method: [
            Reading(np.zeros((1, 1, 3, 3), np.float32), pieces(source), pieces(target)) for source, target in pairs
        ],
    )
    alignment = AlignmentConfig(layer=-1, head=None, shift=0)
    assert alignment_error(zeros, PAIRS[:1], [parse_links("0-1")], alignment) is None
