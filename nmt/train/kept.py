"""Weights of past validations, kept so that they can be averaged (nmt.train.average) or one of them chosen.

RUN/checkpoints/update-350.safetensors holds the weights alone, named as in model.safetensors, and in its header as text
`update`, `metric` and `score`: what validation said of them. There is no other record, so that a training that goes on,
or another program, knows as much as the one that wrote them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from torch import nn

from nmt.errors import UserError
from nmt.run import save_weights

NAME = re.compile(r"update-(\d+)\.safetensors")


class KeptWeights(NamedTuple):
    """One file: `score` is what `metric` was after this update."""

    path: Path
    update: int
    metric: str
    score: float


class Kept:
    """The weights kept in `folder`: of the newest `last` validations and of the `best` best. Both 0: none is written.

    metric: the name of what scores are. Where anything is kept, the best is, even with best=0; of equal scores the
    earlier is better, as it is for model.safetensors. At a validation: `keep`, then the checkpoint, then `prune`.
    """

    def __init__(self, folder: Path, *, last: int, best: int, metric: str, higher_is_better: bool) -> None:
        for name, value in (("last", last), ("best", best)):
            if value < 0:
                raise ValueError(f"{name} is {value}: allowed is 0 or a positive number")
        self.folder = folder
        self.last = last
        self.best = best
        self.metric = metric
        self.higher_is_better = higher_is_better

    def keep(self, update: int, score: float, model: nn.Module) -> None:
        """Write these weights, whole or not at all; not those whose score is not finite, which would spoil every mean.

        What they push out stays until `prune`: a training that is killed before its checkpoint is written goes on from
        the one before, and has to find what was kept then.
        """
        if self.is_off() or not math.isfinite(score):
            return
        header = {"update": str(update), "metric": self.metric, "score": repr(float(score))}
        save_weights(self.folder / f"update-{update}.safetensors", model, header)

    def prune(self) -> None:
        """Remove what is neither among the newest nor the best, never the best one."""
        if self.is_off():
            return
        kept = list_kept(self.folder)
        wanted = {*newest_of(kept, self.last), *best_of(kept, max(self.best, 1), self.higher_is_better)}
        for one in kept:
            if one not in wanted:
                one.path.unlink()

    def forget_after(self, update: int) -> None:
        """At the start: remove what a killed training wrote after the checkpoint of this update (0: a new training)."""
        for path, number in files_of(self.folder):
            if number > update:
                path.unlink()
        self.prune()

    def is_off(self) -> bool:
        """Whether nothing is to be kept."""
        return not (self.last or self.best)

    def newest(self, count: int) -> list[Path]:
        """The files of the newest `count` updates, or all there are, in order of update."""
        return [one.path for one in newest_of(list_kept(self.folder), count)]


def list_kept(folder: Path) -> list[KeptWeights]:
    """All that `folder` holds, in order of update. UserError for a file that is damaged or says no score."""
    return [read_header(path, update) for path, update in files_of(folder)]


def newest_of(kept: Sequence[KeptWeights], count: int) -> list[KeptWeights]:
    """The last `count` of what is in order of update."""
    return list(kept[max(0, len(kept) - count) :])


def best_of(kept: Sequence[KeptWeights], count: int, higher_is_better: bool) -> list[KeptWeights]:
    """The `count` with the best scores, in order of update."""
    sign = -1 if higher_is_better else 1
    ranked = sorted(kept, key=lambda one: (sign * one.score, one.update))
    return sorted(ranked[:count], key=lambda one: one.update)


def files_of(folder: Path) -> list[tuple[Path, int]]:
    """Paths and updates, in order of the numbers; whatever else lies in the folder is not ours."""
    found = [(path, NAME.fullmatch(path.name)) for path in folder.glob("*")]
    return sorted(((path, int(match[1])) for path, match in found if match), key=lambda one: one[1])


def read_header(path: Path, update: int) -> KeptWeights:
    """What the header of this update's file says. The tensors are not read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            header = file.metadata() or {}
        return KeptWeights(path, update, header["metric"], float(header["score"]))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise UserError(f"{path}: these are no weights that a training kept: {error}") from error
