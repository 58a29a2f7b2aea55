"""A trained hard attention in use: the same translation each time, and a switch that draws instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

import nmt as library
from nmt.align.methods import METHODS
from tests.integration.conftest import Trained
from tests.integration.toy import nmt, read, refused

SWITCH = "model.decoder.attention.normalizer.at_inference"


def test_argmax_is_repeatable_and_reads_one_position(trained: Trained, toy: Path) -> None:
    translator = library.load(trained("rev", "hard_gumbel"))
    lines = read(toy / "rev.dev.src")[:10]
    assert translator.translate(lines) == translator.translate(lines)
    for pair in translator.read_pairs([(line, line) for line in lines], 1, METHODS["attention"]):
        assert np.array_equal(np.sort(pair.values, axis=-1)[..., -1], np.ones(pair.values.shape[:-1]))
        assert (pair.values > 0).sum(-1).max() == 1


def test_a_trained_run_can_draw(trained: Trained, toy: Path) -> None:
    """at_inference=sample: scores of the same pairs differ from draw to draw, and by the seed are the same."""
    run = trained("rev", "hard_gumbel")
    pairs = list(zip(read(toy / "rev.dev.src"), read(toy / "rev.dev.trg"), strict=True))
    drawing, choosing = library.load(run, [f"{SWITCH}=sample"]), library.load(run)
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append([score.log_prob for score in drawing.score(pairs)])
    assert found[0] == found[1] != found[2]
    assert [score.log_prob for score in choosing.score(pairs)] != found[0]


def test_what_training_decided_stays(trained: Trained) -> None:
    run = trained("rev", "hard_gumbel")
    given = ("translate", run)
    assert refused(nmt(*given, f"{SWITCH}=loud", stdin=b"ka\n"), "at_inference is 'loud': allowed are argmax, sample")
    temperature = "model.decoder.attention.normalizer.temperature=2.0"
    assert refused(
        nmt(*given, temperature, stdin=b"ka\n"), "model: a trained run's can't be changed", "at_inference can"
    )
    elsewhere = SWITCH.removeprefix("model.decoder.")
    assert refused(nmt(*given, f"{elsewhere}=sample", stdin=b"ka\n"), "attention: a trained run's can't be changed")
