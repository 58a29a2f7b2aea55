"""The closing summary of a training: what it came to, over all its stops, and what to do with it.

Totals are the checkpoint's (`Progress`); speeds, padding and the best validation are read in the run's metrics.jsonl.
Both hold over resumes. Memory alone is of this process.
"""

from __future__ import annotations

import json
import resource
import shlex
import sys
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

import torch

from nmt.progress import clock
from nmt.run import Run
from nmt.train.checkpoint import Progress
from nmt.train.metrics import percent

NAMES = {"loss": "loss", "perplexity": "perplexity", "bleu": "BLEU", "chrf": "chrF"}
MIB = 2**20


def summary(run: Run, progress: Progress, metric: str) -> str:
    """Plain lines for a finished run whose best weights were chosen by `metric`; the commands that come next last."""
    events = [json.loads(line) for line in run.metrics.read_text(encoding="utf-8").splitlines()]
    validations = [event for event in events if event["event"] == "valid"]
    facts = {
        "trained": (
            f"{progress.update:,} updates, {progress.passes:.2f} epochs, {progress.tokens:,} target tokens"
            f" in {clock(progress.seconds)}"
        ),
        "speed": speed([event for event in events if event["event"] == "train"]),
        "skipped": f"{progress.skipped:,} updates that were not finite" if progress.skipped else "",
        "best": best(validations, metric, progress.best) if validations else "",  # none where somebody removed them
        "memory": memory(),
        "weights": str(run.best),
    }
    lines = [f"{name:<9}{fact}" for name, fact in facts.items() if fact]
    return "\n".join([*lines, *(f"{'next':<9}{command}" for command in commands(run))])


def speed(events: list[Mapping[str, Any]]) -> str:
    """The medians of what was logged, validations left out; empty where nothing was."""
    if not events:
        return ""
    rate, padding, waiting = (
        median(event[name] for event in events) for name in ("tokens_per_second", "padding", "waiting")
    )
    return (
        f"{rate:,.0f} target tokens/s, padding {percent(padding)}, waiting {percent(waiting)}"
        f" (medians of {len(events)} log lines)"
    )


def best(events: list[Mapping[str, Any]], metric: str, score: float | None) -> str:
    """The last validation that was better than all before, or the average that was better than it."""
    chosen = [event for event in events if event["better"]][-1]
    digits = 4 if metric == "loss" else 2
    averaged = score is not None and score != chosen[metric]
    value = score if averaged else chosen[metric]
    where = "by the mean of the newest weights" if averaged else f"at update {chosen['update']:,}"
    return f"{NAMES[metric]} {value:,.{digits}f} on the validation data, {where}"


def memory() -> str:
    """The most that this process has held at a time, and of a GPU where one was used."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = peak if sys.platform == "darwin" else peak * 1024  # the one unit that systems do not agree on
    gpu = torch.cuda.max_memory_allocated()  # 0 where there is none
    held = f", {gpu / MIB:,.0f} MiB of the GPU" if gpu else ""
    return f"{peak_bytes / MIB:,.0f} MiB at most{held}"


def commands(run: Run) -> Iterator[str]:
    """What can be typed next, ready for a shell; pictures only where the test set was aligned."""
    path = shlex.quote(str(run.path))
    yield f"nmt translate {path} FILE"
    if run.alignment.exists():
        yield f"nmt heatmap {path} --line 1 -o heatmap.png"
        yield f"nmt inspect {path} -o alignments.html"
