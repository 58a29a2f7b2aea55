"""Several processes that train one model, started by torchrun.

    torchrun --nproc-per-node 2 -m nmt.cli.train experiment=... train.accumulate=2

An update's batches are train.accumulate many whatever computes them: the processes share them out and add up their
gradients, so that a training is a function of its configuration, and the processes only make it faster. Gradients are
added in one go when a process has all of its own (a batch that had to be split is long in one piece by then).

The first process alone writes files and speaks.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, zip_longest
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from nmt.errors import UserError
from nmt.train.torchrun import told_once

Item = TypeVar("Item")
BUCKET = 25 * 2**20  # bytes that are added up in one collective
POLL = 0.02  # seconds
WAIT = timedelta(hours=2)  # for the slowest process; a dead one is told by torchrun, not by this
MISSING = object()
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Processes:
    """This process's number, from 0, and how many there are. Alone, all of it does nothing."""

    rank: int = 0
    size: int = 1
    device: torch.device = CPU

    @property
    def is_first(self) -> bool:
        """Whether files are this one's to write."""
        return self.rank == 0

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """Every size-th item, from this process's own on; may be none."""
        return items[self.rank :: self.size]

    def gather(self, own: Sequence[Item]) -> list[Item]:
        """The inverse of `share`: all processes' items in the order that they had."""
        shares: list[Any] = [list(own)] * self.size
        if self.size > 1:
            dist.all_gather_object(shares, list(own))
        rounds = zip_longest(*shares, fillvalue=MISSING)
        return [item for item in chain.from_iterable(rounds) if item is not MISSING]

    def from_first(self, make: Callable[[], Item]) -> Item:
        """What the first process makes, for all. Where it fails the others end, without a word: it tells the reason."""
        if self.size == 1:
            return make()
        sent: list[Any] = [None]
        try:
            if self.is_first:
                sent = [(make(),)]
        finally:
            dist.broadcast_object_list(sent, src=0)
        if sent[0] is None:
            raise SystemExit(1)
        return sent[0][0]  # type: ignore[no-any-return]

    def after_first(self, make: Callable[[], Item]) -> Item:
        """What every process makes for itself, the others when the first has, and has not failed."""
        made: list[Item] = []
        self.from_first(lambda: made.append(make()))
        return made[0] if self.is_first else make()

    def end(self, error: Exception) -> BaseException:
        """What to raise where every process ends for the same reason: the first alone tells it."""
        return error if self.is_first else SystemExit(1)

    def largest(self, value: float) -> float:
        """Of all processes' values."""
        if self.size == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(shared, op=dist.ReduceOp.MAX)
        return float(shared)

    def total(self, values: Sequence[float]) -> list[float]:
        """Of each value its sum over the processes."""
        if self.size == 1:
            return list(values)
        shared = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(shared)
        return shared.tolist()

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Each tensor becomes its sum over the processes, which all give the same shapes in the same order."""
        if self.size == 1:
            return
        for bucket in buckets(tensors):
            flat = torch.cat([tensor.reshape(-1) for tensor in bucket])
            dist.all_reduce(flat)
            for tensor, part in zip(bucket, torch.split(flat, [tensor.numel() for tensor in bucket]), strict=True):
                tensor.copy_(part.view_as(tensor))


def buckets(tensors: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Runs of tensors of one dtype with at most BUCKET bytes, or with one larger tensor."""
    bucket: list[Tensor] = []
    size = 0
    for tensor in tensors:
        if bucket and (tensor.dtype != bucket[0].dtype or size + tensor.nbytes > BUCKET):
            yield bucket
            bucket, size = [], 0
        bucket.append(tensor)
        size += tensor.nbytes
    if bucket:
        yield bucket


def agreed_name(store: Any, rank: int, size: int) -> str:
    """What the living processes of a job call themselves, and no dead one did: torchrun's store may be that of before a
    restart, and still know where those listened.

    The first names itself. Each of the others says under that name who it is, and has the right one when the first has
    seen it: a dead one sees nobody.
    """
    own = secrets.token_hex(8)
    if rank == 0:
        store.set("first", own)
        for other in range(1, size):
            store.set(f"{own} has seen {other}", store.get(f"{own} has met {other}"))
        return own
    while True:
        name: str = store.get("first").decode()
        store.set(f"{name} has met {rank}", own)
        while store.get("first").decode() == name:
            seen = f"{name} has seen {rank}"
            if store.check([seen]) and store.get(seen).decode() == own:
                return name
            time.sleep(POLL)


@contextmanager
def joined(device: torch.device, accumulate: int) -> Iterator[Processes]:
    """Meet the other processes of this job, if torchrun started any. UserError where some would have nothing to do."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Processes(device=device)
        return
    with told_once():
        if accumulate < size:
            raise UserError(
                f"train.accumulate is {accumulate} and {size} processes train: an update's batches are shared out, "
                f"so it must be {size} or more, best a multiple"
            )
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    backend = "nccl" if device.type == "cuda" else "gloo"
    store, rank, size = next(dist.rendezvous("env://"))  # type: ignore[attr-defined]
    fresh = dist.PrefixStore(agreed_name(store, rank, size), store)  # type: ignore[attr-defined]
    dist.init_process_group(backend, store=fresh, rank=rank, world_size=size, timeout=WAIT)
    try:
        yield Processes(dist.get_rank(), size, device)
    finally:
        dist.destroy_process_group()
