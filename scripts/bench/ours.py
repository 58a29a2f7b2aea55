"""Our side: `nmt train` as a user types it, read from its metrics.jsonl."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import launch
from bench.rates import rate, read_ours

NEVER = 10**9
SIZES = {
    "s1": ("experiment=multi30k_transformer",),
    "s2": (
        "experiment=multi30k_recurrent",
        "attention=luong_general",
        "train.batch_tokens=4096",
        "model.tied=none",
        "model.embedding_size=512",
        "model.encoder.cell=lstm",
        "model.decoder.cell=lstm",
    ),
}


class Measured(NamedTuple):
    """Target tokens a second, and peak memory in MiB."""

    rate: float
    memory: float


def overrides(size: str, data: Path, run: Path, threads: int, more: Sequence[str]) -> list[str]:
    """The settings of a training that measures: every update told, validated once at its end, on next to nothing."""
    return [
        *SIZES[size],
        "data=multi30k_files",
        f"data.root={data}",
        f"data.valid.source={data / 'valid.en'}",
        f"data.valid.target={data / 'valid.de'}",
        "data.test=null",
        "search=greedy",
        "device=cpu",
        f"threads={threads}",
        "train.log_every=1",
        f"train.valid_every={NEVER}",
        f"run={run}",
        *more,
    ]


def train(size: str, data: Path, run: Path, threads: int, more: Sequence[str]) -> Measured:
    """One training in `run`, which is left for its tokenizers; a former one there is removed."""
    shutil.rmtree(run, ignore_errors=True)
    command = [sys.executable, "-m", "nmt.cli.train", *overrides(size, data, run, threads, more)]
    outcome = launch.run(command, threads=threads, log=run.with_suffix(".log"))
    updates = read_ours((run / "metrics.jsonl").read_text(encoding="utf-8"))
    return Measured(rate(updates), outcome.memory)


def shares(size: str, data: Path, run: Path, threads: int, more: Sequence[str]) -> dict[str, float]:
    """Where the time of a training goes: one more of them, with timers in it."""
    shutil.rmtree(run, ignore_errors=True)
    timed = Path(__file__).with_name("timed_train.py")
    report = run.with_suffix(".json")
    launch.run(
        [sys.executable, timed, report, *overrides(size, data, run, threads, more)],
        threads=threads,
        log=run.with_suffix(".log"),
    )
    parts: dict[str, float] = json.loads(report.read_text(encoding="utf-8"))
    return {name: seconds / sum(parts.values()) for name, seconds in parts.items()}


def products(threads: int, work: Path) -> list[float]:
    """FLOP a second of this machine's two matrix products, now: 2048 cubed, and a readout's."""
    script = Path(__file__).with_name("products.py")
    outcome = launch.run([sys.executable, script, str(threads)], threads=threads, log=work / "products.log")
    values: list[float] = json.loads(outcome.text.splitlines()[-1])
    return values
