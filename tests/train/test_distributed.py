"""Several processes on this machine (gloo) train what one process trains."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from nmt.errors import UserError
from nmt.train.checkpoint import read_checkpoint
from nmt.train.distributed import BUCKET, Processes, buckets, joined
from tests.train import together

ROOT = Path(__file__).parents[2]


def torchrun(count: int, *arguments: object, **options: object) -> list[str]:
    """The command line of so many processes."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}", *flags]
    return [*start, *map(str, arguments)]


def run(command: list[str], code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=300)
    assert (done.returncode == 0) == (code == 0), done.stderr
    return done


def losses(folder: Path) -> list[float]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [event["loss"] for event in map(json.loads, lines) if event["event"] == "train"]


@pytest.mark.parametrize(
    ("case", "dropout", "feed"),
    [("recurrent-luong_general-gru", 0.0, "store"), ("transformer-pre-sinusoidal", 0.3, "stream")],
)
def test_two_processes_are_one(case: str, dropout: float, feed: str, tmp_path: Path) -> None:
    """The same global batches, of three, two or one of which the second process has one or none: in float64 the weights
    after 20 updates to 1e-9, with dropout as well, since what a batch draws is its place's and not its process's."""
    together.train(tmp_path / "one", case, dropout, feed)
    run(torchrun(2, ROOT / "tests/train/together.py", tmp_path / "two", case, dropout, feed))
    one, two = (load_file(tmp_path / name / "weights.safetensors") for name in ("one", "two"))
    assert one.keys() == two.keys()
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, atol=1e-9, rtol=0)
    states = [read_checkpoint(tmp_path / name / "checkpoints" / "last.safetensors").feed for name in ("one", "two")]
    assert states[0].values == states[1].values
    assert all(torch.equal(states[1].tensors[name], tensor) for name, tensor in states[0].tensors.items())
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=1e-9)
    first = load_file(tmp_path / "two" / "model.safetensors")
    assert all(torch.equal(first[name], value) for name, value in two.items()), "the last process has the first's"


def test_shares_come_back_in_order() -> None:
    """Every item is one process's; `gather` is proved by the dev translations of the command's test."""
    items = list("abcdefg")
    shares = [Processes(rank, 3).share(items) for rank in range(3)]
    assert shares == [["a", "d", "g"], ["b", "e"], ["c", "f"]]
    assert Processes().gather(Processes().share(items)) == items
    assert Processes(2, 3).share(items[:2]) == []


def test_buckets_hold_all_in_order() -> None:
    """One dtype each, and no more than fits unless a tensor alone does not."""
    third = BUCKET // 12
    tensors = [torch.zeros(size) for size in (3, third, third, third, 4 * third, 5)]
    tensors.insert(1, torch.zeros(2, dtype=torch.float64))
    found = list(buckets(tensors))
    assert [[part.numel() for part in bucket] for bucket in found] == [
        [3],
        [2],
        [third, third, third],
        [4 * third],
        [5],
    ]
    flat: Iterator[Tensor] = (part for bucket in found for part in bucket)
    assert all(one is other for one, other in zip(flat, tensors, strict=True))


def test_idle_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(UserError, match=r"train\.accumulate is 3 and 4 processes train"):
        joined(torch.device("cpu"), 3).__enter__()
