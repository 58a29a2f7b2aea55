"""Toy corpora and the models trained on them once a session. A test that changes a run takes a copy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.integration.toy import RECURRENT, TRANSFORMER, data, train, write_corpora

Trained = Callable[[str, str], Path]
RIGHT = ("train.updates=400", "train.label_smoothing=0.1")
# A state that can hold its neighbours' words as well lets additive attention read a word there; a smaller one can't.
# Few updates leave a choice less sure than it should be where its entropy is raised as much as in the preset.
SIZES = {
    ("mono", "luong_concat"): ("model.encoder.hidden_size=16",),
    ("mono", "luong_local_m"): ("attention.window.reach=2",),
    ("rev", "luong_local_p"): ("attention.window.reach=3",),
    ("mono", "transformer"): ("train.updates=500",),
    ("rev", "hard_reinforce"): ("attention.normalizer.entropy=0.01", "train.updates=700"),
    ("rev", "transformer"): ("train.updates=2000", "model.encoder.layers=2", "model.decoder.layers=2"),
}
EARLY = ("train.updates=30", "train.valid_every=30")


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the corpora."""
    folder = tmp_path_factory.mktemp("toy")
    write_corpora(folder)
    return folder


@pytest.fixture(scope="session")
def trained(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """(task, attention preset) -> a run that has learnt the task, made on first use."""

    @cache
    def make(task: str, attention: str) -> Path:
        run = tmp_path_factory.mktemp("runs") / f"{task}-{attention}"
        sizes = TRANSFORMER if attention == "transformer" else RECURRENT
        train(run, *data(toy, task), *sizes, f"attention={attention}", *RIGHT, *SIZES.get((task, attention), ()))
        return run

    return make


@pytest.fixture(scope="session")
def reverser(trained: Trained) -> Path:
    """Reverses: recurrent, Bahdanau's attention, a piece a word."""
    return trained("rev", "bahdanau")


@pytest.fixture(scope="session")
def copier(trained: Trained) -> Path:
    """Keeps the order: a Transformer with learned positions, up to 16 of them."""
    return trained("mono", "transformer")


@pytest.fixture(scope="session")
def piecewise(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reverses: recurrent, Luong's general attention, words cut into pieces by a unigram model."""
    run = tmp_path_factory.mktemp("runs") / "piecewise"
    pieces = ("tokenizer=unigram", "tokenizer.vocabulary_size=48", "tokenizer.byte_fallback=false", "search=beam")
    train(run, *data(toy, "rev"), *RECURRENT, "attention=luong_general", *RIGHT, *pieces)
    return run


@pytest.fixture(scope="session", params=["recurrent", "transformer"])
def early(toy: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A run of either family after 30 updates: it translates badly, so that all differences of scores show."""
    run = tmp_path_factory.mktemp("runs") / f"early-{request.param}"
    sizes = RECURRENT if request.param == "recurrent" else TRANSFORMER
    long = () if request.param == "recurrent" else ("position.maximum=128",)
    train(run, *data(toy, "rev", "train"), *sizes, *EARLY, *long, "search=beam")
    return run
