"""The whole state of a training in one file, from which it goes on as if it had never stopped.

checkpoints/last.safetensors holds the tensors `model.NAME` (a tied table once), `optimizer.I.KEY` for the I-th
parameter, `ema.NAME` of a moving average of the weights, `feed.NAME` of what a stream keeps in memory, and as JSON in
its header `progress` (what `Progress` names), `feed` (where the training data stand), `schedule`, `scaler` (float16's
loss scale) and `tally` (sums for the next log line). It is replaced as a whole or not at all, and nothing in it can run
code. No generator's state is in it: what a batch draws is a function of its place in training (nmt.train.update).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from nmt.data.feed import FeedState
from nmt.errors import UserError
from nmt.run import named_tensors, put_tensors, write_tensors
from nmt.train.ema import Ema

MODEL, OPTIMIZER, EMA, FEED = "model.", "optimizer.", "ema.", "feed."
HEADER = ("progress", "feed", "schedule", "scaler", "tally")


@dataclass
class Progress:
    """What a training has come to, tensors apart.

    update: of the last one made; passes: how often the data were read, fractions counted; validated: the update of the
    last validation; best: the best score; mark, worse: the score that patience counts from, and the validations since;
    bad: updates in a row that were skipped; skipped: all of those; tokens: target tokens of the others; seconds: of
    training so far; corpus: what the feed is known by; judged_by: what the validation data are (empty in checkpoints of
    before this was written).
    """

    corpus: str
    judged_by: str = ""
    update: int = 0
    passes: float = 0.0
    validated: int = 0
    best: float | None = None
    mark: float | None = None
    worse: int = 0
    bad: int = 0
    skipped: int = 0
    tokens: int = 0
    seconds: float = 0.0


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    ema: Ema | None,
    progress: Progress,
    feed: FeedState,
    schedule: Mapping[str, float],
    tally: Mapping[str, float],
) -> None:
    """Write it whole. `feed`, `schedule`, `tally`: their states; the tally's are the sums for the next log line."""
    tensors = {MODEL + name: tensor for name, tensor in named_tensors(model)}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"{OPTIMIZER}{number}.{key}": torch.as_tensor(value) for key, value in state.items()}
    if ema is not None:
        tensors |= {EMA + name: tensor for name, tensor in ema.state().items()}
    tensors |= {FEED + name: tensor for name, tensor in feed.tensors.items()}
    header = {
        "progress": asdict(progress),
        "feed": feed.values,
        "schedule": dict(schedule),
        "scaler": scaler.state_dict(),
        "tally": dict(tally),
    }
    write_tensors(path, tensors, {name: json.dumps(value) for name, value in header.items()})


@dataclass(frozen=True)
class Checkpoint:
    """One that was read: the tensors by name, and the header."""

    path: Path
    tensors: dict[str, Tensor]
    header: dict[str, Any]

    @property
    def progress(self) -> Progress:
        """What the training had come to."""
        known = {field.name for field in fields(Progress)}
        return Progress(**{key: value for key, value in self.header["progress"].items() if key in known})

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler) -> None:
        """Weights, and the state of optimizer and scaler. UserError for a checkpoint of another model."""
        put_tensors(self.path, self._under(MODEL), model)
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in self._under(OPTIMIZER).items():
            number, _, key = name.partition(".")
            state.setdefault(int(number), {})[key] = tensor
        groups = optimizer.state_dict()["param_groups"]
        try:
            optimizer.load_state_dict({"state": state, "param_groups": groups})
        except (ValueError, KeyError) as error:
            raise UserError(f"{self.path}: this is the state of another optimizer: {error}") from error
        if scaler.is_enabled():
            scaler.load_state_dict(self.header["scaler"])

    @property
    def ema(self) -> dict[str, Tensor]:
        """The state of the moving average of the weights; empty where there was none."""
        return self._under(EMA)

    @property
    def feed(self) -> FeedState:
        """Where the training data stood."""
        return FeedState(self.header["feed"], self._under(FEED))

    def _under(self, prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): tensor for name, tensor in self.tensors.items() if name.startswith(prefix)}


def read_checkpoint(path: Path) -> Checkpoint:
    """UserError where there is none, or a damaged one."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in list(file.keys())}
            header = {name: json.loads(text) for name, text in (file.metadata() or {}).items()}
        return Checkpoint(path, tensors, {name: header[name] for name in HEADER})
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise UserError(f"{path}: this is no checkpoint to go on from: {error}") from error
