"""`nmt train` with timers around what it calls, for scripts/bench_train.py.

    python scripts/bench/timed_train.py REPORT [nmt train's settings]

REPORT is a JSON object of seconds: `data` (waiting for pairs, and making batches of them), `backward` (all that
autograd does, the readout's gradient too, which the loss makes in its own pass), `optimizer` (clipping, step, zeroing),
and `forward` (all else: the model, the loss, the loop). The first quarter of the updates counts for nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from nmt.cli.main import main
from nmt.data.feed import StoreFeed
from nmt.data.stream import StreamFeed
from nmt.train import update

PARTS = ("data", "backward", "optimizer")
WRAPPED = (
    (update, "batch_pairs", "data"),
    (torch.autograd, "backward", "backward"),
    (torch.autograd, "grad", "backward"),
    (torch.nn.utils, "clip_grad_norm_", "optimizer"),
    (torch.optim.Optimizer, "zero_grad", "optimizer"),
)


class Clock:
    """Seconds of each part so far, and how they stood at the end of every optimizer step."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self.inside = False
        self.step_began = 0.0
        self.marks: list[dict[str, float]] = []

    def timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """The function, its time added to `part`; one that runs inside another is that one's."""

        def call(*given: Any, **named: Any) -> Any:
            if self.inside:
                return function(*given, **named)
            self.inside, began = True, time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.inside = False
                self.seconds[part] += time.perf_counter() - began

        return call

    def timed_items(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """The generator function, the time of every item added to `part`."""

        def call(*given: Any) -> Any:
            with closing(function(*given)) as items:
                following = self.timed(next, part)
                while True:
                    yield following(items)

        return call

    def begin_step(self, *_: Any) -> None:
        """The optimizer begins."""
        self.step_began = time.perf_counter()

    def end_step(self, *_: Any) -> None:
        """The optimizer has made an update."""
        now = time.perf_counter()
        self.seconds["optimizer"] += now - self.step_began
        self.marks.append({**self.seconds, "all": now})

    def parts(self) -> dict[str, float]:
        """Seconds of each part between the first update that counts and the last."""
        first, last = self.marks[len(self.marks) // 4], self.marks[-1]
        taken = {name: last[name] - first[name] for name in last}
        forward = taken.pop("all") - sum(taken.values())
        return {"data": taken["data"], "forward": forward, **{name: taken[name] for name in PARTS[1:]}}


def wrap(clock: Clock) -> None:
    """Put the timers where training looks its functions up."""
    for owner, name, part in WRAPPED:
        setattr(owner, name, clock.timed(getattr(owner, name), part))
    for feed in (StoreFeed, StreamFeed):
        feed.updates = clock.timed_items(feed.updates, "data")  # type: ignore[method-assign]
    register_optimizer_step_pre_hook(clock.begin_step)
    register_optimizer_step_post_hook(clock.end_step)


if __name__ == "__main__":
    clock = Clock()
    wrap(clock)
    code = main(["train", *sys.argv[2:]])
    if not code:
        Path(sys.argv[1]).write_text(json.dumps(clock.parts()), encoding="utf-8")
    raise SystemExit(code)
