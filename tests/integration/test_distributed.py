"""`torchrun ... -m nmt.cli.train`: two processes train what one trains, and one that dies does not end the job."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.experiment import is_begun
from nmt.run import Run
from nmt.train import torchrun as torchrun_environment
from tests.integration.test_resume import SETTINGS, told, whole
from tests.integration.test_train import environment
from tests.integration.toy import SHORT, data, read, train
from tests.train.test_distributed import run as run_torchrun
from tests.train.test_distributed import torchrun

__all__ = ["whole"]  # a fixture


def started(toy: Path, run: Path, *overrides: str, restarts: int = 0) -> subprocess.Popen[str]:
    settings = [*SHORT, *data(toy, "rev", "train"), *SETTINGS, *overrides, f"run={run}"]
    command = torchrun(2, "-m", "nmt.cli.train", *settings, max_restarts=restarts)
    return subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def process_of(rank: int, run: Path) -> int | None:
    """The process id of the worker with this number."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if f"RANK={rank}".encode() in variables and f"run={run}".encode() in words:
            return int(folder.name)
    return None


def kill_after_a_checkpoint(rank: int, run: Path, job: subprocess.Popen[str]) -> None:
    """SIGKILL for one process, as soon as there is something to go on from."""
    while not (run / "checkpoints" / "last.safetensors").exists():
        assert job.poll() is None, job.communicate()[1]
        time.sleep(0.01)
    victim = process_of(rank, run)
    assert victim is not None
    os.kill(victim, signal.SIGKILL)


def test_two_processes_are_one(whole: Path, toy: Path, tmp_path: Path) -> None:
    """Losses, dev scores, the weights, all to the last bit; one process speaks, and ends in the run."""
    run = tmp_path / "run"
    job = started(toy, run)
    out, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    assert told(run) == told(whole)
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert len(re.findall("2 processes; 1 threads; cpu", err)) == 1
    assert len(re.findall("^update 12/12", err, re.M)) == 1
    assert out.count(str(run)) == 1


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        (["data.train.source=nowhere.src"], r"nmt: error: .*nowhere\.src.*"),
        (["tokenizer=bpe", "tokenizer.vocabulary_size=9000"], r"nmt: error: .*vocabulary.*"),
    ],
)
def test_a_mistake_is_told_once(mistake: list[str], line: str, toy: Path, tmp_path: Path) -> None:
    """By the first process, which reads the data; the others end without a word of their own."""
    job = started(toy, tmp_path / "run", *mistake)
    _, err = job.communicate(timeout=300)
    assert job.returncode != 0
    assert len(re.findall(f"^{line}$", err, re.M)) == err.count("nmt: error") == 1, err
    assert "[rank" not in err, "a traceback of a process of ours"


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        (["train.accumulate=1"], r"nmt: error: train\.accumulate is 1 and 2 processes train.*"),
        (["train.updatess=1"], r"nmt: error: .*updatess.*"),
    ],
)
def test_a_mistake_before_they_meet_is_told_once(mistake: list[str], line: str, toy: Path, tmp_path: Path) -> None:
    job = started(toy, tmp_path / "run", *mistake)
    _, err = job.communicate(timeout=300)
    assert job.returncode != 0
    assert len(re.findall(f"^{line}$", err, re.M)) == err.count("nmt: error") == 1, err


def test_a_run_that_is_there_is_told_once(whole: Path, toy: Path) -> None:
    job = started(toy, whole)
    _, err = job.communicate(timeout=300)
    assert job.returncode != 0
    assert err.count("there is a trained run here") == err.count("nmt: error") == 1, err


def test_a_checkpoint_that_does_not_fit_is_told_once(whole: Path, toy: Path) -> None:
    others = [f"data.valid.{side}={toy}/rev.test.{suffix}" for side, suffix in (("source", "src"), ("target", "trg"))]
    done = run_torchrun(torchrun(2, "-m", "nmt.cli.train", f"resume={whole}", *others), code=1)
    assert done.stderr.count("the validation data are not those") == done.stderr.count("nmt: error") == 1, done.stderr


def test_divergence_is_told_once(toy: Path, tmp_path: Path) -> None:
    """With the batches of both processes; a window of skipped updates has no loss."""
    fatal = ("optimizer=sgd", "optimizer.lr=1e30", "train.clip_norm=0", "schedule.warmup=0", "train.bad_steps=3")
    job = started(toy, tmp_path / "run", *fatal, "train.updates=50")
    _, err = job.communicate(timeout=300)
    assert job.returncode != 0
    assert err.count("nmt: error") == err.count("training diverged") == 1, err
    assert re.search(r"up to update \d+, batch 1 \(pairs .*\), batch 2 \(pairs .* more of train\);", err), err
    assert told(tmp_path / "run")[-1]["loss"] is None


def test_a_mistake_of_one_process_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """torchrun has not ended it, for the first has none."""
    monkeypatch.setattr(torchrun_environment, "PATIENCE", 0.0)
    monkeypatch.setenv("LOCAL_RANK", "1")
    with pytest.raises(UserError, match="mine"), torchrun_environment.told_once():
        raise UserError("mine")


def test_a_process_that_dies_is_started_again(toy: Path, tmp_path: Path) -> None:
    """All of them are, and go on from the newest checkpoint to what was never interrupted."""
    slower = ("train.updates=60", "train.save_every=1", "train.valid_every=60", "train.log_every=60")
    runs = [tmp_path / name for name in ("whole", "killed")]
    train(runs[0], *data(toy, "rev", "train"), *SETTINGS, *slower)
    job = started(toy, runs[1], *slower, restarts=1)
    kill_after_a_checkpoint(1, runs[1], job)
    _, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    assert "going on after update" in err
    assert (runs[0] / "model.safetensors").read_bytes() == (runs[1] / "model.safetensors").read_bytes()


def test_a_process_that_dies_for_good_ends_the_job(toy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    job = started(toy, run, "train.updates=100000", "train.save_every=1", "train.log_every=100")
    kill_after_a_checkpoint(1, run, job)
    _, err = job.communicate(timeout=300)
    assert job.returncode != 0
    assert re.search(r"rank\s*:\s*1", err), err
    assert read(run / "metrics.jsonl") is not None


def test_a_signal_ends_all_after_the_same_update(toy: Path, tmp_path: Path) -> None:
    """torchrun passes it on; the run has saved, and says how to go on."""
    run = tmp_path / "run"
    job = started(toy, run, "train.updates=100000", "train.save_every=1", "train.log_every=100")
    while not (run / "checkpoints" / "last.safetensors").exists():
        assert job.poll() is None
        time.sleep(0.01)
    job.send_signal(signal.SIGTERM)
    _, err = job.communicate(timeout=300)
    assert job.returncode != 0
    assert re.search(r"stopped after update \d+: nmt train resume=", err), err


def test_only_what_has_the_same_settings_is_gone_on_with(whole: Path, tmp_path: Path) -> None:
    """A restarted job finds a checkpoint; it is its own, or another training's that it must not touch."""
    values = Run(whole).values()
    assert is_begun(Run(whole), values)
    assert not is_begun(Run(whole), {**values, "seed": values["seed"] + 1})
    assert not is_begun(Run(tmp_path), values)
    shutil.copytree(whole / "checkpoints", tmp_path / "checkpoints")
    assert not is_begun(Run(tmp_path), values), "it does not say with which settings"
