"""TensorBoard is told what metrics.jsonl is, and the alignment of a validation."""

from __future__ import annotations

import builtins
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.align.heatmap import draw_heatmap
from nmt.align.matrix import AlignmentMatrix
from nmt.errors import UserError
from nmt.train.board import check_installed
from nmt.train.loop import Validation
from tests.train.test_loop import events, scored, trainer


def read_board(folder: Path) -> Any:
    """All that a run's board holds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package's own making
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        board = EventAccumulator(str(folder / "tensorboard"))
        board.Reload()
    return board


def test_it_holds_every_number(tmp_path: Path) -> None:
    matrix = AlignmentMatrix(("a",), ("b",), np.eye(2, dtype=np.float32))

    def draw() -> bytes:
        draw_heatmap(matrix, tmp_path / "picture.png")
        return (tmp_path / "picture.png").read_bytes()

    def validate() -> Validation:
        return scored(2.0)._replace(picture=draw)

    trainer(tmp_path, validate=validate, updates=4, valid_every=2, tensorboard=True).train()
    board = read_board(tmp_path)
    for name in ("loss", "nll", "learning_rate", "gradient_norm", "tokens_per_second"):
        told = [(event["update"], event[name]) for event in events(tmp_path, "train")]
        found = [(scalar.step, scalar.value) for scalar in board.Scalars(f"train/{name}")]
        assert [update for update, _ in found] == [1, 2, 3, 4]
        assert [value for _, value in found] == pytest.approx([value for _, value in told], rel=1e-5)
    assert [scalar.value for scalar in board.Scalars("valid/bleu")] == [2.0, 2.0]
    assert [image.step for image in board.Images("valid/alignment")] == [2, 4]


def test_what_comes_again_is_there_once(tmp_path: Path) -> None:
    """A training that goes on takes back what came after its checkpoint."""
    trainer(tmp_path, updates=4, valid_every=2, tensorboard=True).train()
    trainer(tmp_path, updates=6, valid_every=2, tensorboard=True, resume=True).train()
    assert [scalar.step for scalar in read_board(tmp_path).Scalars("train/loss")] == [1, 2, 3, 4, 5, 6]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refusing(name: str, *rest: Any) -> Any:
        if name == "tensorboard":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(UserError, match=r"train\.tensorboard is true, and the package tensorboard is not installed"):
        check_installed()
