"""One update of the weights: the gradients of its batches, added up over batches and processes, and the step.

A batch's random numbers (dropout, draws) are a function of the seed, of the update and of the batch's number in it: an
update comes out the same after a stop, and whichever process makes it. A batch for which memory does not suffice is
halved.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from nmt.config import TrainConfig
from nmt.data.batch import batch_pairs
from nmt.data.feed import Portion
from nmt.data.pairs import IdPair
from nmt.errors import UserError
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.progress import say
from nmt.train.distributed import Processes
from nmt.train.guided import Guide
from nmt.train.loss import LossSum, batch_loss

FIRST_SCALE = 2.0**12  # of float16's loss; it is halved and doubled by what happens


class Updater:
    """Makes updates. Gradients are those of the summed loss / target tokens of all batches of all processes."""

    def __init__(
        self,
        *,
        model: EncoderDecoder,
        optimizer: torch.optim.Optimizer,
        config: TrainConfig,
        seed: int,
        processes: Processes,
        guide: Guide | None = None,
    ) -> None:
        """`guide`: what the pairs' links supervise, where they have any."""
        self.model = model
        self.network = cast(EncoderDecoder, torch.compile(model, dynamic=True)) if config.compile else model
        self.optimizer = optimizer
        self.config = config
        self.seed = seed
        self.processes = processes
        self.guide = guide
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.device = next(model.parameters()).device
        self.dtype = getattr(torch, config.precision)
        self.losses: list[tuple[int, Sequence[IdPair], Tensor]] = []
        self.scaler = torch.amp.GradScaler(
            self.device.type, init_scale=FIRST_SCALE, enabled=self.dtype == torch.float16
        )

    def gradients(self, portion: Portion, update: int) -> tuple[LossSum, float]:
        """Leave in the parameters the gradients of all processes' batches, of which `portion` has our own, clipped; the
        summed loss of all, and the gradient's norm before clipping. `update`: its number in training."""
        self.model.train()
        sums = torch.zeros(2 if self.guide is None else 3, dtype=torch.float64, device=self.device)
        self.losses = []
        for number, pairs in portion.batches:
            seed_generators(self.seed, update, number)
            own = torch.zeros_like(sums)
            self.add(pairs, portion.tokens, own)
            self.losses.append((number, pairs, own))
            sums += own
        self.add_up(sums)
        self.scaler.unscale_(self.optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.config.clip_norm or math.inf)
        return LossSum(sums[0], sums[1], portion.tokens, None if self.guide is None else sums[2]), float(norm)

    def judged(self) -> list[tuple[int, list[int], bool]]:
        """The own batches of the last update: its number in the update, its pairs' in the corpus, and whether its loss
        can be trained on."""
        return [
            (
                number,
                [pair.index for pair in pairs],
                LossSum(loss, nll, sum(len(pair.target) + 1 for pair in pairs)).is_trainable,
            )
            for number, pairs, (loss, nll, *_) in self.losses
        ]

    def step(self) -> None:
        """The optimizer's, on the gradients that were left."""
        self.scaler.step(self.optimizer)

    def clear(self) -> None:
        """Forget the gradients."""
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    def add(self, pairs: Sequence[IdPair], tokens: int, sums: Tensor) -> None:
        """Add a batch's gradients / `tokens` to those there are, all or none of them, and its loss to `sums`."""
        found = self.try_batch(pairs, tokens)
        if found is not None:
            own, gradients = found
            sums += torch.stack([own.loss.detach(), own.nll, *([] if own.guided is None else [own.guided])])
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                if gradient is not None:
                    parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
            return
        if len(pairs) == 1:
            raise UserError(
                "memory does not suffice for one sentence pair: lower data.filters.max_pieces or the model's sizes"
            )
        say(f"memory does not suffice for {len(pairs)} pairs at once: the batch is split in two")
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        for half in (pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]):
            self.add(half, tokens, sums)

    def try_batch(self, pairs: Sequence[IdPair], tokens: int) -> tuple[LossSum, tuple[Tensor | None, ...]] | None:
        """The batch's summed loss and its gradients / `tokens`; None where memory does not suffice."""
        try:
            batch = batch_pairs(pairs, pad_to=self.config.pad_to, linked=self.guide is not None).to(self.device)
            with torch.autocast(self.device.type, self.dtype, enabled=self.dtype != torch.float32):
                sums = batch_loss(
                    self.network,
                    batch,
                    smoothing=self.config.label_smoothing,
                    r_drop=self.config.r_drop,
                    guide=self.guide,
                )
            loss = self.scaler.scale(sums.loss / tokens)
            return sums, torch.autograd.grad(loss, self.parameters, allow_unused=True)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
        return None

    def add_up(self, sums: Tensor) -> None:
        """Gradients, summed loss and what else training moves, over all processes; one without batches adds zeros."""
        if self.processes.size == 1:
            return
        for parameter in self.parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self.processes.add_up([sums, *(parameter.grad for parameter in self.parameters if parameter.grad is not None)])
        moved = [buffer for buffer in self.model.buffers() if buffer.is_floating_point()]
        self.processes.add_up(moved)
        for buffer in moved:
            buffer /= self.processes.size


def seed_generators(*place: int) -> None:
    """Set torch's generators, NumPy's and Python's by the numbers of a place."""
    words = np.random.SeedSequence(place).generate_state(3)
    torch.manual_seed(int(words[0]))
    np.random.seed(int(words[1]))
    random.seed(int(words[2]))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocator has refused: a GPU's, Python's, or torch's for the CPU, whose error has no class."""
    if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)):
        return True
    return any(words in str(error) for words in ("can't allocate memory", "not enough memory"))
