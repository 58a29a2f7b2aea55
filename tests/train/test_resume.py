"""A training that stops and goes on is one that never stopped: bit for bit, whenever and however it was stopped.

Small models on a store in memory, with dropout, accumulation and stops in the middle of an epoch.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.config import TrainConfig
from nmt.data.feed import Feed, Portion
from nmt.errors import UserError
from nmt.run import Run
from nmt.train.checkpoint import read_checkpoint
from nmt.train.kept import list_kept
from nmt.train.loop import Trainer, Validation
from nmt.train.schedule import InverseSquareRoot, Plateau
from tests.laws.models import ToyStore, build_model, toy_store
from tests.train.test_loop import feed_of, stream_of

CASES = [
    "recurrent-bahdanau-lstm2",
    "transformer-pre-sinusoidal",
    "recurrent-hard_reinforce-gru",
    "recurrent-coverage-gru",
]
DROPOUT = ("model.encoder.dropout=0.3", "model.decoder.dropout=0.3")
UPDATES, STOP = 40, 25  # three updates an epoch: the first of the ninth is the last before the stop


def make(
    folder: Path,
    case: str = CASES[0],
    *,
    resume: bool = False,
    validate: Callable[[Trainer], Validation] | None = None,
    store: ToyStore | None = None,
    feed: Callable[[ToyStore, TrainConfig], Feed] = feed_of,
    judged_by: str = "",
    **changed: Any,
) -> Trainer:
    """Validation scores are a function of the weights; the plateau cuts the rate by them."""
    model = build_model(case, *DROPOUT)
    given: dict[str, Any] = {
        "updates": UPDATES,
        "batch_tokens": 20,
        "pool": 100,
        "accumulate": 2,
        "label_smoothing": 0.1,
        "clip_norm": 1.0,
        "valid_every": 4,
        "save_every": 0,
        "log_every": 1,
        "metric": "loss",
        "patience": 1000,
        "bad_steps": 3,
        "ema": 0.8,
        "keep_last": 2,
        "keep_best": 1,
        "average": 2,
    }
    config = TrainConfig(**{**given, **changed})
    trainer = Trainer(
        model=model,
        feed=feed(store or toy_store(12), config),
        optimizer=torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1),
        schedule=Plateau(warmup=5, factor=0.5, patience=1),
        validate=lambda: (validate or score)(trainer),
        config=config,
        run=Run(folder),
        seed=5,
        resume=resume,
        judged_by=judged_by,
    )
    return trainer


def seed(number: int) -> None:
    """Every generator."""
    torch.manual_seed(number)
    np.random.seed(number)
    random.seed(number)


def score(trainer: Trainer) -> Validation:
    """Up and down by the weights, so that some validations are better and some are not."""
    value = float(torch.cat([part.detach().flatten() for part in trainer.model.parameters()]).sum() * 100 % 7)
    return Validation(loss=value, tokens=1, bleu=value, chrf=value, signature="none", sample=())


def stop_at(trainer: Trainer, update: int, number: int = signal.SIGTERM) -> None:
    """A signal comes during this update."""
    make_update = trainer.make_update

    def signalled(portion: Portion) -> None:
        make_update(portion)
        if trainer.now.update == update:
            os.kill(os.getpid(), number)

    trainer.make_update = signalled  # type: ignore[method-assign]


def everything(trainer: Trainer) -> dict[str, Tensor]:
    """Weights, buffers, the optimizer's state and the generators' next numbers."""
    state = trainer.optimizer.state_dict()["state"]
    optimizer = {f"{number}.{key}": value for number, own in state.items() for key, value in own.items()}
    drawn = {
        "torch": torch.rand(3),
        "numpy": torch.from_numpy(np.random.rand(3)),
        "python": torch.tensor([random.random() for _ in range(3)]),
    }
    assert trainer.ema is not None
    ema = {f"ema.{name}": value for name, value in trainer.ema.state().items()}
    return {**trainer.model.state_dict(), **optimizer, **drawn, **ema}


def events(folder: Path) -> list[dict[str, Any]]:
    """metrics.jsonl without clocks."""
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    clocks = ("seconds", "tokens_per_second", "waiting")
    return [{key: value for key, value in json.loads(line).items() if key not in clocks} for line in lines]


@pytest.mark.parametrize("case", CASES)
def test_stopped_is_never_stopped(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """E02, E04: 40 updates are 25, a stop and 15: step losses, rates, norms, best, weights, optimizer, generators."""
    seed(1)
    whole = make(tmp_path / "whole", case)
    whole.train()
    expected = everything(whole)

    seed(1)
    first = make(tmp_path / "parts", case)
    stop_at(first, STOP)
    with pytest.raises(SystemExit) as end:
        first.train()
    assert end.value.code == 143
    assert (first.now.update, first.feed.state().values["batch"]) == (STOP, 2), "in the middle of an epoch"
    assert "stopped after update 25: nmt train resume=" in capsys.readouterr().err
    seed(99)
    second = make(tmp_path / "parts", case, resume=True)
    second.train()
    found = everything(second)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(found[name], value), name
    assert events(tmp_path / "parts") == events(tmp_path / "whole")
    assert (second.now.best, second.now.worse) == (whole.now.best, whole.now.worse)
    best = [Run(tmp_path / name).best.read_bytes() for name in ("parts", "whole")]
    assert best[0] == best[1]
    kept = [list_kept(tmp_path / name / "checkpoints") for name in ("parts", "whole")]
    assert [one[1:] for one in kept[0]] == [one[1:] for one in kept[1]]
    assert len(kept[0]) in (2, 3)


def test_a_stream_that_was_stopped(tmp_path: Path) -> None:
    """E02, E04 of a stream: what its buffers hold is in the checkpoint."""
    made = partial(make, feed=stream_of, pool=6)
    seed(1)
    whole = made(tmp_path / "whole")
    whole.train()
    expected = everything(whole)
    first = made(tmp_path / "parts")
    stop_at(first, STOP)
    with pytest.raises(SystemExit):
        first.train()
    assert read_checkpoint(Run(tmp_path / "parts").last).feed.tensors["0.ids"].numel() > 0
    second = made(tmp_path / "parts", resume=True)
    seed(1)
    second.train()
    found = everything(second)
    assert all(torch.equal(found[name], value) for name, value in expected.items())
    assert events(tmp_path / "parts") == events(tmp_path / "whole")


def test_stopped_during_validation(tmp_path: Path) -> None:
    """What was broken off is done again, once, and changes nothing."""
    whole = make(tmp_path / "whole")
    whole.train()

    def interrupted(trainer: Trainer) -> Validation:
        if trainer.now.update == 12:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
            raise AssertionError("the signal came at once")
        return score(trainer)

    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "parts", validate=interrupted).train()
    make(tmp_path / "parts", resume=True).train()
    assert events(tmp_path / "parts") == events(tmp_path / "whole")


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    trainer = make(tmp_path)
    stop_at(trainer, 3, signal.SIGINT)
    trainer.save = partial(os.kill, os.getpid(), signal.SIGINT)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        trainer.train()
    assert not Run(tmp_path).last.exists()


def test_handlers_are_given_back(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    make(tmp_path, updates=1).train()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_killed_with_the_first_weights_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training goes on from the moment before, and comes out the same."""
    whole = make(tmp_path / "whole")
    whole.train()
    theirs = everything(whole)
    keep = Run.save_best

    def killed(run: Run, tensors: dict[str, Tensor]) -> None:
        keep(run, tensors)
        raise MemoryError("killed")

    monkeypatch.setattr(Run, "save_best", killed)
    with pytest.raises(MemoryError):
        make(tmp_path / "run").train()
    monkeypatch.setattr(Run, "save_best", keep)
    trainer = make(tmp_path / "run", resume=True)
    trainer.train()
    ours = everything(trainer)
    assert all(ours[name].equal(theirs[name]) for name in theirs)
    assert events(tmp_path / "run") == events(tmp_path / "whole")


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """E01: the error names the file, and the checkpoint of before stays."""
    import resource

    trainer = make(tmp_path, updates=4)
    trainer.train()
    before = Run(tmp_path).last.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(UserError, match=r"last\.safetensors: cannot be written: .*File too large"):
            trainer.save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert Run(tmp_path).last.read_bytes() == before
    assert {path.name for path in Run(tmp_path).last.parent.iterdir()} == {"last.safetensors", "update-4.safetensors"}


def test_more_updates_than_at_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """D12: a limit that is reached is said; a higher one makes just the rest."""
    make(tmp_path, updates=20).train()
    make(tmp_path, updates=10, resume=True).train()
    assert "already at update 20: nothing to train: train.updates is 10" in capsys.readouterr().err
    assert [event["update"] for event in events(tmp_path) if event["event"] == "train"] == list(range(1, 21))
    make(tmp_path, updates=30, resume=True).train()
    assert [event["update"] for event in events(tmp_path) if event["event"] == "train"] == list(range(1, 31))


def test_a_signal_before_a_validation_does_not_wait_for_it(tmp_path: Path) -> None:
    """It is what comes first when the training goes on."""
    asked: list[int] = []

    def validate(trainer: Trainer) -> Validation:
        asked.append(trainer.now.update)
        return score(trainer)

    trainer = make(tmp_path, updates=6, valid_every=4, validate=validate)
    stop_at(trainer, 4)
    with pytest.raises(SystemExit):
        trainer.train()
    assert asked == []
    make(tmp_path, updates=6, valid_every=4, validate=validate, resume=True, average=1).train()
    assert asked == [4, 6]


def test_what_has_lost_patience_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worse = iter(range(9))

    def validate(trainer: Trainer) -> Validation:
        return score(trainer)._replace(loss=1.0 + next(worse))

    given = {"updates": 20, "valid_every": 2, "patience": 1, "average": 1, "validate": validate}
    make(tmp_path, **given).train()
    assert "no better loss in 1 validations: training stops" in capsys.readouterr().err
    make(tmp_path, **given, resume=True).train()
    assert "already at update 4: nothing to train: no better loss in 1 validations" in capsys.readouterr().err


def test_other_data_are_refused(tmp_path: Path) -> None:
    make(tmp_path, updates=4).train()
    with pytest.raises(UserError, match="the training data are not those that this run was trained on"):
        make(tmp_path, resume=True, store=toy_store(13))


def test_another_model_or_optimizer_is_refused(tmp_path: Path) -> None:
    make(tmp_path, updates=4).train()
    with pytest.raises(UserError, match="these weights are of another model"):
        make(tmp_path, CASES[1], resume=True)


@pytest.mark.parametrize("content", [b"", b"{}", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_no_checkpoint(tmp_path: Path, content: bytes) -> None:
    """E08, E09: only safetensors with our header, or one clear line."""
    run = Run(tmp_path)
    with pytest.raises(UserError, match=r"last\.safetensors: this is no checkpoint to go on from"):
        read_checkpoint(run.last)
    run.last.parent.mkdir(parents=True)
    run.last.write_bytes(content)
    with pytest.raises(UserError, match=r"last\.safetensors: this is no checkpoint to go on from"):
        read_checkpoint(run.last)


def test_a_pure_schedule_has_no_state() -> None:
    schedule = InverseSquareRoot(warmup=3)
    assert schedule.state() == {}


def test_other_validation_data_are_refused(tmp_path: Path) -> None:
    """What was best by other sentences is no mark; a checkpoint that does not know them passes, and then knows."""
    make(tmp_path, updates=4, judged_by="these").train()
    with pytest.raises(UserError, match="the validation data are not those by which its best weights were chosen"):
        make(tmp_path, resume=True, judged_by="those")
    make(tmp_path, updates=8, resume=True, judged_by="these").train()
    make(tmp_path / "old", updates=4).train()
    make(tmp_path / "old", updates=8, resume=True, judged_by="these").train()
    assert read_checkpoint(Run(tmp_path / "old").last).progress.judged_by == "these"
