"""Whatever a training is made of, it goes on from its checkpoint as if it had never stopped: bit for bit.

40 updates with dropout and accumulation, killed after 25 in the middle of an epoch. What is trained is given in
settings of `nmt train`; optimizer and schedule are built of them as there.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.build import build
from nmt.compose import config_folder
from nmt.config import TrainConfig
from nmt.data.feed import StoreFeed
from nmt.data.pairs import TextPair
from nmt.data.sampling import Sampler
from nmt.run import Run
from nmt.train import update
from nmt.train.loop import Trainer
from tests.data.test_tokenizer import train as train_tokenizer
from tests.laws.models import FEW, SOURCE_VOCABULARY, ToyStore, build_model, config_of, toy_store
from tests.train.test_guided import FULL, guide, linked_store
from tests.train.test_loop import feed_of, trainer
from tests.train.test_resume import CASES, DROPOUT, STOP, UPDATES, events, everything, make, score, seed

Make = Callable[[Path, bool], Trainer]  # (folder, does it go on?)
TRANSFORMER = "transformer-pre-sinusoidal"
SHORT = ("optimizer.lr=0.01", "schedule.warmup=5", f"train.updates={UPDATES}")
WORDS_AND_VECTORS = (
    "model.word_dropout=0.2",
    "model.encoder.dropout_shared=true",
    "model.decoder.dropout_shared=true",
)
BFLOAT16 = {"dtype": torch.float32, "precision": "bfloat16"}
OPTIMIZERS = {
    "sgd": ("optimizer=sgd",),
    "momentum": ("optimizer=sgd", "optimizer.momentum=0.9"),
    "nesterov": ("optimizer=sgd", "optimizer.momentum=0.9", "+optimizer.nesterov=true"),
    "adam": ("optimizer=adam",),
    "amsgrad": ("optimizer=adam", "+optimizer.amsgrad=true"),
    "decay": ("optimizer=adamw", "optimizer.weight_decay=0.1"),
    "not fused": ("optimizer=adamw", "optimizer.fused=false"),
}
SCHEDULES = {
    "constant": (),
    "inverse_square_root": (),
    "linear": ("schedule.floor=0.1",),
    "cosine": ("schedule.floor=0.1",),
    "halving": ("schedule.start=10", "schedule.every=7"),
    "plateau": ("schedule.patience=1",),
}
KINDS: dict[str, tuple[str, str, str, tuple[str, ...], dict[str, Any]]] = {  # model, optimizer, schedule, and what else
    "sgd-constant": ("recurrent-none-gru", "sgd", "constant", (), {}),
    "momentum-halving-words": ("recurrent-luong_general-gru", "momentum", "halving", WORDS_AND_VECTORS, {}),
    "nesterov-linear": ("recurrent-luong_concat-unfed", "nesterov", "linear", (), {}),
    "adam-root-bfloat16": ("recurrent-hard_marginal-gru", "adam", "inverse_square_root", (), BFLOAT16),
    "amsgrad-cosine-r_drop": ("transformer-post-learned", "amsgrad", "cosine", (), {"r_drop": 2.5}),
    "decay-plateau-draws": ("recurrent-hard_gumbel-gru", "decay", "plateau", (), {}),
    "not_fused-plateau": ("recurrent-transformer-gru", "not fused", "plateau", (), {}),
    "amsgrad-linear": ("hidden_markov", "amsgrad", "linear", (), {}),
    "decay-root-guided": (TRANSFORMER, "decay", "inverse_square_root", FULL, {"guided": True}),
}


def kind(
    folder: Path,
    resume: bool,
    *settings: str,
    case: str = TRANSFORMER,
    guided: bool = False,
    dtype: torch.dtype = torch.float64,
    **changed: Any,
) -> Trainer:
    """A training with these settings; `changed` are of the section train."""
    settings = (*DROPOUT, *SHORT, *settings)
    config, model = config_of(case, *settings), build_model(case, *settings).to(dtype)
    given: dict[str, Any] = {
        "updates": UPDATES,
        "batch_tokens": 20,
        "accumulate": 2,
        "valid_every": 8,
        "log_every": 2,
        "ema": 0.8,
        "save_every": STOP,
    }
    made = trainer(
        folder,
        model=model,
        store=linked_store(12) if guided else toy_store(12),
        guide=guide(model) if guided else None,
        validate=lambda: score(made),
        schedule=build(config.schedule, "schedule"),
        optimizer=lambda parameters, lr: build(config.optimizer, "optimizer", params=list(parameters)),
        resume=resume,
        **{**given, **changed},
    )
    return made


def copy_at_stop(trainer: Trainer, folder: Path) -> None:
    """What a kill after this update would leave."""
    save = trainer.save

    def copied() -> None:
        save()
        if trainer.now.update == STOP:
            shutil.copytree(trainer.run.path, folder)

    trainer.save = copied  # type: ignore[method-assign]


def check(made: Make, folder: Path) -> Trainer:
    """The one that never stopped, to which the one that was killed has come."""
    seed(1)
    whole = made(folder / "whole", False)
    copy_at_stop(whole, folder / "parts")
    whole.train()
    expected = everything(whole)
    seed(99)
    second = made(folder / "parts", True)
    assert second.now.update == STOP
    assert second.feed.state().values["batch"] > 0, "in the middle of an epoch"
    seed(1)
    second.train()
    found = everything(second)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(found[name], value), name
    assert events(folder / "parts") == events(folder / "whole")
    assert second.now.skipped == whole.now.skipped
    assert second.updater.scaler.state_dict() == whole.updater.scaler.state_dict()
    assert Run(folder / "parts").best.read_bytes() == Run(folder / "whole").best.read_bytes()
    return whole


@pytest.mark.parametrize("name", KINDS)
def test_killed_is_never_killed(name: str, tmp_path: Path) -> None:
    case, optimizer, schedule, more, changed = KINDS[name]
    settings = (*OPTIMIZERS[optimizer], f"schedule={schedule}", *SCHEDULES[schedule], *more)
    check(lambda folder, resume: kind(folder, resume, *settings, case=case, **changed), tmp_path)
    rates = [event["learning_rate"] for event in events(tmp_path / "parts") if event["event"] == "train"]
    assert (rates[STOP // 2] == rates[-1]) == (schedule == "constant"), "it goes on moving after the stop"


def test_all_are_tried() -> None:
    cases, optimizers, schedules, *_ = map(set, zip(*(one[:3] for one in KINDS.values()), strict=True))
    assert set(FEW) <= {*cases, *CASES}
    assert (optimizers, schedules) == (set(OPTIMIZERS), set(SCHEDULES))
    groups = [{file.stem for file in (config_folder() / name).glob("*.yaml")} for name in ("optimizer", "schedule")]
    assert groups == [{settings[0].partition("=")[2] for settings in OPTIMIZERS.values()}, set(SCHEDULES)]


def test_the_scale_of_float16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins too high for any update, and has come down before the stop."""
    monkeypatch.setattr(update, "FIRST_SCALE", 2.0**30)
    given: dict[str, Any] = {"dtype": torch.float32, "precision": "float16", "bad_steps": UPDATES}
    whole = check(lambda folder, resume: kind(folder, resume, case="recurrent-none-gru", **given), tmp_path)
    assert 0 < whole.now.skipped < STOP
    assert whole.updater.scaler.get_scale() < 2.0**30


class LineStore(ToyStore):
    """Pairs of a line with itself."""

    def __init__(self, lines: Sequence[str], ids: list[list[int]]) -> None:
        super().__init__(ids, ids)
        self.lines = lines

    def texts(self, rows: Sequence[int]) -> list[TextPair]:
        return [TextPair(row, self.lines[row], self.lines[row]) for row in rows]


@pytest.mark.parametrize("model", ["bpe", "unigram"])
def test_a_tokenizer_that_samples(model: Any, tmp_path: Path) -> None:
    """Every epoch's pieces are drawn anew, those of the one under way as before the stop."""
    generator = random.Random(3)
    lines = ["".join(generator.choices(["ka", "lo", "mi"], k=4)) for _ in range(40)]
    tokenizer = train_tokenizer(tmp_path / "tokenizer", lines, model, size=16)
    assert len(tokenizer) < SOURCE_VOCABULARY
    store = LineStore(lines[:12], [tokenizer.encode(line) for line in lines[:12]])
    drawn: list[tuple[int, ...]] = []

    class Noting(Sampler):
        def sample(self, *given: Any) -> Any:
            pairs = super().sample(*given)
            drawn.append(tuple(len(pair.source) for pair in pairs))
            return pairs

    def sampled(store: ToyStore, config: TrainConfig) -> StoreFeed:
        feed = feed_of(store, config)
        feed.sampler = Noting(tokenizer, tokenizer, alpha=0.3, max_pieces=None)
        return feed

    given: dict[str, Any] = {"store": store, "feed": sampled, "save_every": STOP}
    check(lambda folder, resume: make(folder, "recurrent-none-gru", resume=resume, **given), tmp_path)
    assert len(set(drawn)) > 5
