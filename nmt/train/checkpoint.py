"""The whole state of a training in one file, from which it goes on as if it had never stopped.

checkpoints/last.safetensors holds the tensors `model.NAME` (a tied table once), `optimizer.I.KEY` for the I-th
parameter, `random.torch`, `random.cuda.I`, `random.numpy`, `random.python` (generator states), and as JSON in its
header `progress` (what `Progress` names), `schedule`, `tally` (sums for the next log line) and `random` (the rest of
the generators' states). It is replaced as a whole or not at all, and nothing in it can run code.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nmt.data.files import write_atomically
from nmt.errors import UserError
from nmt.run import named_tensors, put_tensors

MODEL, OPTIMIZER, RANDOM = "model.", "optimizer.", "random."


@dataclass
class Progress:
    """What a training has come to, tensors apart.

    update: of the last one made; epoch: how many are complete; group: updates made of the one under way; passes: how
    often the data were read, fractions counted; validated: the update of the last validation; best: the best score;
    mark, worse: the score that patience counts from, and the validations since; bad: updates in a row that were
    skipped; seconds: of training so far; corpus: what the training pairs are known by.
    """

    corpus: str
    update: int = 0
    epoch: int = 0
    group: int = 0
    passes: float = 0.0
    validated: int = 0
    best: float | None = None
    mark: float | None = None
    worse: int = 0
    bad: int = 0
    seconds: float = 0.0


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    schedule: Mapping[str, float],
    tally: Mapping[str, float],
) -> None:
    """Write it whole. `schedule`, `tally`: the schedule's state, and the sums that the next log line is made of."""
    from safetensors.torch import save

    tensors = {MODEL + name: tensor for name, tensor in named_tensors(model)}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"{OPTIMIZER}{number}.{key}": torch.as_tensor(value) for key, value in state.items()}
    states, marks = random_states()
    tensors |= {RANDOM + name: state for name, state in states.items()}
    header = {"progress": asdict(progress), "schedule": dict(schedule), "tally": dict(tally), "random": marks}
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(whole, metadata={name: json.dumps(value) for name, value in header.items()}))


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

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Weights, the optimizer's state, and the random generators. UserError for a checkpoint of another model."""
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
        restore_random(self._under(RANDOM), self.header["random"])

    def _under(self, prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): tensor for name, tensor in self.tensors.items() if name.startswith(prefix)}


def read_checkpoint(path: Path) -> Checkpoint:
    """UserError where there is none, or a damaged one."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in list(file.keys())}
            header = {name: json.loads(text) for name, text in (file.metadata() or {}).items()}
        return Checkpoint(path, tensors, {name: header[name] for name in ("progress", "schedule", "tally", "random")})
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise UserError(f"{path}: this is no checkpoint to go on from: {error}") from error


def random_states() -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The generators of torch, NumPy and Python: their states as tensors, and what is beside them as plain values."""
    _, keys, place, has_gauss, gauss = np.random.get_state(legacy=True)
    version, words, python_gauss = random.getstate()
    states = {
        "torch": torch.get_rng_state(),
        "numpy": torch.from_numpy(np.asarray(keys, dtype=np.int64)),
        "python": torch.tensor(words, dtype=torch.int64),
    }
    states |= {f"cuda.{number}": state for number, state in enumerate(_cuda_states())}
    return states, {"numpy": [place, has_gauss, gauss], "python": [version, python_gauss]}


def restore_random(states: Mapping[str, Tensor], marks: Mapping[str, Any]) -> None:
    """Set every generator to what it was. A GPU that was not there has a fresh one."""
    torch.set_rng_state(states["torch"])
    np.random.set_state(("MT19937", states["numpy"].numpy().astype(np.uint32), *marks["numpy"]))
    version, gauss = marks["python"]
    random.setstate((version, tuple(states["python"].tolist()), gauss))
    if torch.cuda.is_available():
        kept = [states[name] for name in sorted(states) if name.startswith("cuda.")]
        for number, state in enumerate(kept[: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(state, number)


def _cuda_states() -> list[Tensor]:
    return torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
