"""An exponential moving average of the weights, beside the weights that are trained.

After update n (from 1), with decay d_n = min(decay, n / (9 + n)):

    average = d_n average + (1 - d_n) weights

Averages of the iterates go back to Polyak & Juditsky 1992; with a constant decay, old ones are forgotten instead of
counting as much as new ones. The rising decay (TensorFlow's, counted from (1 + 0) / (10 + 0)) keeps the start from
weighing: after n updates the initial weights' share is n! 9! / (n + 9)!, 1/10 after one and below 1e-6 after 20, and
the average reaches back over about a tenth of training until `decay` bounds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.train.average import weights_in_place

WEIGHTS, UPDATES = "weights.", "updates"


class Ema:
    """Averages of the model's parameters, tied ones once, from how they are now. Buffers have no average.

    decay: the largest share of the old average in the new one, 0 < decay < 1.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        if not 0 < decay < 1:
            raise ValueError(f"decay is {decay}: allowed is 0 < x < 1")
        named = dict(model.named_parameters())
        self.model = model
        self.decay = decay
        self.names = list(named)
        self.parameters: list[Tensor] = list(named.values())
        self.averages = [parameter.detach().clone() for parameter in self.parameters]
        self.updates = 0

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights as they are after a step of the optimizer."""
        self.updates += 1
        decay = min(self.decay, self.updates / (9 + self.updates))
        torch._foreach_lerp_(self.averages, self.parameters, 1 - decay)

    def state(self) -> dict[str, Tensor]:
        """For a checkpoint: `weights.NAME` of each parameter and `updates`, how many were taken in."""
        averages = {WEIGHTS + name: average for name, average in zip(self.names, self.averages, strict=True)}
        return {**averages, UPDATES: torch.tensor(self.updates)}

    def restore(self, path: Path, state: Mapping[str, Tensor]) -> None:
        """Go on from the `state` that the file `path` holds. UserError where it is that of another model, or none."""
        own = self.state()
        for name in sorted(state.keys() | own.keys()):
            if name not in state or name not in own or state[name].shape != own[name].shape:
                raise UserError(f"{path}: the moving average is of another model, or there is none: {name} differs")
        for name, average in zip(self.names, self.averages, strict=True):
            average.copy_(state[WEIGHTS + name])
        self.updates = int(state[UPDATES])

    def in_place(self) -> AbstractContextManager[None]:
        """While it is open, the model has the averages; then its own weights again, whatever happened."""
        return weights_in_place(self.model, dict(zip(self.names, self.averages, strict=True)))
