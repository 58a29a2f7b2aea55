"""`nmt train resume=RUN`: a training stopped by a signal goes on; what may change is told, and the rest is refused."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nmt.experiment import go_on
from nmt.run import Run
from tests.integration.test_train import environment
from tests.integration.toy import RECURRENT, SHORT, data, nmt, read, refused, train

SETTINGS = (
    *RECURRENT,
    "model.encoder.dropout=0.2",
    "model.decoder.dropout=0.2",
    "train.updates=12",
    "train.log_every=1",
    "train.valid_every=5",
    "train.accumulate=2",
)

PARTS = ("train", "valid", "test")


@pytest.fixture(scope="module")
def whole(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never stopped."""
    run = tmp_path_factory.mktemp("resume") / "whole"
    train(run, *data(toy, "rev", "train"), *SETTINGS)
    return run


def told(run: Path) -> list[dict[str, object]]:
    """metrics.jsonl without clocks."""
    clocks = ("seconds", "tokens_per_second", "waiting")
    events = map(json.loads, read(run / "metrics.jsonl"))
    return [{key: value for key, value in event.items() if key not in clocks} for event in events]


def signalled(arguments: Sequence[str], *numbers: int, **variables: str) -> int:
    """The exit code of `nmt train ARGUMENTS` in an interpreter of its own that after update 7 gets these signals."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nmt.cli.train", *arguments],
        env=environment(**variables),
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("update 7/"):
                for number in numbers:
                    process.send_signal(number)
                    time.sleep(0.01)
    return process.returncode


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_process_that_was_stopped_goes_on(number: int, code: int, whole: Path, toy: Path, tmp_path: Path) -> None:
    """E02, E12: another process makes the rest, with the very weights, scores and translations."""
    run = tmp_path / "run"
    assert signalled([*SHORT, *data(toy, "rev", "train"), *SETTINGS, f"run={run}"], number) == code
    assert not (run / "evaluation.json").exists()
    again = nmt("train", *SHORT, *data(toy, "rev", "train"), *SETTINGS, f"run={run}")
    assert refused(again, "there is a trained run here", f"nmt train resume={run}")
    done = nmt("train", f"resume={run}")
    assert done.code == 0, done.err
    assert "going on after update" in done.err
    assert told(run) == told(whole)
    for name in ("model.safetensors", "translations/test.txt", "evaluation.json"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name


def test_more_updates(whole: Path, tmp_path: Path) -> None:
    """D12: what changes is told, and the run remembers it."""
    run = shutil.copytree(whole, tmp_path / "run")
    done = nmt("train", f"resume={run}", "train.updates=14")
    assert done.code == 0, done.err
    assert "changed: train.updates 12 -> 14" in done.err
    assert [event["update"] for event in told(run) if event["event"] == "train"] == list(range(1, 15))
    done = nmt("train", f"resume={run}")
    assert "already at update 14: nothing to train: train.updates is 14" in done.err


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("train.batch_tokens=400", "a training that goes on can't change it (train.batch_tokens 500 -> 400)"),
        ("optimizer.lr=0.02", "optimizer.lr: a training that goes on can't change it"),
        ("model.decoder.hidden_size=63", "model.decoder.hidden_size"),
        ("train.updatess=3", "train.updatess"),
        ("data=jsonl", "data=jsonl: a training that goes on keeps its sections; change their keys, data.KEY=VALUE"),
        ("seed=2", "seed: a training that goes on can't change it"),
        ("data.source_language=de", "data.source_language: a training that goes on can't change it"),
    ],
)
def test_what_cannot_change(whole: Path, override: str, words: str) -> None:
    before = (whole / "config.yaml").read_bytes()
    assert refused(nmt("train", f"resume={whole}", override), words)
    assert (whole / "config.yaml").read_bytes() == before


def test_nothing_to_go_on_from(tmp_path: Path) -> None:
    assert refused(nmt("train", f"resume={tmp_path / 'none'}"), "this is no run, it has no config.yaml")
    assert refused(nmt("train", "resume="), "resume=RUN names one run")


def test_other_data(whole: Path, toy: Path, tmp_path: Path) -> None:
    """The pairs themselves are checked, wherever they now lie."""
    moved = shutil.copytree(toy, tmp_path / "moved")
    (moved / "rev.train.trg").write_bytes((toy / "mono.train.trg").read_bytes())
    run = shutil.copytree(whole, tmp_path / "run")
    before = (run / "config.yaml").read_bytes()
    parts = [f"data.train.{side}={moved}/rev.train.{suffix}" for side, suffix in (("source", "src"), ("target", "trg"))]
    done = nmt("train", f"resume={run}", *parts)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"nmt: error: {run}: the training data are not those that this run was trained on\n")
    assert (run / "config.yaml").read_bytes() == before, "what was refused is not kept"


def test_without_the_best_weights(whole: Path, tmp_path: Path) -> None:
    """It is told at once, and not after a training that was never better."""
    run = shutil.copytree(whole, tmp_path / "run")
    (run / "model.safetensors").unlink()
    done = nmt("train", f"resume={run}", "train.updates=100000")
    assert (done.code, done.out) == (2, "")
    assert "model.safetensors is missing" in done.err


def test_what_is_finished_no_more_has_no_scores(whole: Path, tmp_path: Path) -> None:
    """So that a sweep does not take it for finished, however it ends; and metrics that somebody removed end nothing."""
    run = shutil.copytree(whole, tmp_path / "run")
    (run / "metrics.jsonl").unlink()
    (run / "evaluation.json").write_text("{}")
    done = nmt("train", f"resume={run}")
    assert done.code == 0, done.err
    assert "bleu" in json.loads((run / "evaluation.json").read_text())
    go_on(Run(run), Run(run).values())
    assert not (run / "evaluation.json").exists(), "until it is finished again"


def test_time_passes_between(whole: Path) -> None:
    """The seconds of events count training alone, however long it lay still."""
    seconds = [json.loads(line)["seconds"] for line in read(whole / "metrics.jsonl")]
    assert seconds == sorted(seconds)
    assert seconds[-1] < time.monotonic()


def test_a_schedule_that_ends_with_the_training_still_does(whole: Path, tmp_path: Path) -> None:
    """Or the updates that are asked for would have a rate of 0, which is refused where it is asked for."""
    run = tmp_path / "run"
    few = ("schedule=cosine", "train.updates=3", "train.log_every=1")
    values = Run(whole).config().data
    parts = [f"data.{part}.{side}={getattr(values, part)[side]}" for part in PARTS for side in ("source", "target")]
    train(run, "data.source_language=src", "data.target_language=trg", "data.root=x", *parts, *SETTINGS, *few)
    done = nmt("train", f"resume={run}", "train.updates=5", "schedule.updates=3")
    assert (done.code, done.out) == (2, "")
    assert "train.updates is 5: the schedule's learning rate is 0 by then; give schedule.updates" in done.err
    done = nmt("train", f"resume={run}", "train.updates=5")
    assert done.code == 0, done.err
    assert "changed: schedule.updates 3 -> 5, train.updates 3 -> 5" in done.err
    rates = [event["learning_rate"] for event in told(run) if event["event"] == "train"]
    assert min(rates) > 0


def test_other_validation_data(whole: Path, toy: Path, tmp_path: Path) -> None:
    """The best so far was best by the old."""
    run = shutil.copytree(whole, tmp_path / "run")
    done = nmt(
        "train", f"resume={run}", f"data.valid.source={toy}/rev.test.src", f"data.valid.target={toy}/rev.test.trg"
    )
    assert (done.code, done.out) == (2, "")
    assert "the validation data are not those by which its best weights were chosen" in done.err.splitlines()[-1]


@pytest.mark.parametrize("content", ["", "run: x\n", "[]", "data: {"])
def test_a_configuration_that_is_cut_off_is_named(whole: Path, tmp_path: Path, content: str) -> None:
    run = shutil.copytree(whole, tmp_path / "run")
    (run / "config.yaml").write_text(content, encoding="utf-8")
    assert refused(nmt("train", f"resume={run}"), f"{run}/config.yaml: ")


def test_one_training_at_a_time(whole: Path, toy: Path, tmp_path: Path) -> None:
    """Two would mix their checkpoints and metrics; whoever comes second is told, and has changed nothing."""
    run = shutil.copytree(whole, tmp_path / "run")
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with Run(run).locked():
        assert refused(nmt("train", f"resume={run}"), f"{run}: another nmt train is training here")
    new = tmp_path / "new"
    with Run(new).locked():
        again = nmt("train", *SHORT, *data(toy, "rev", "train"), *SETTINGS, f"run={new}")
        assert refused(again, f"{new}: another nmt train is training here")
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    assert not new.exists()
    assert not (whole / ".lock").exists(), "a training that has ended holds nothing"


def test_what_killed_writes_left_goes(whole: Path, tmp_path: Path) -> None:
    """In every folder of the run; whatever else has a dot before its name is not ours."""
    run = shutil.copytree(whole, tmp_path / "run")
    folders = [run, *(run / name for name in ("tokenizer", "checkpoints", "alignments", "translations"))]
    left = [folder / name for folder in folders for name in (f".{'0a' * 8}.part", ".tmpFxrxRi")]
    own = [folder / ".mine" for folder in folders]
    for path in (*left, *own):
        path.write_bytes(b"half")
    done = nmt("train", f"resume={run}")
    assert done.code == 0, done.err
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in own)


@pytest.mark.parametrize("name", ["config.yaml", "metrics.jsonl", "tokenizer/source.model", "evaluation.json"])
def test_files_that_are_no_runs_are_not_written_over(toy: Path, tmp_path: Path, name: str) -> None:
    """`run=.` in the folder of another program."""
    path = tmp_path / "mine" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"all: of it\n")
    done = nmt("train", *SHORT, *data(toy, "rev", "train"), *SETTINGS, f"run={tmp_path / 'mine'}")
    assert refused(done, f"there is {name} here, and this is no run; name another by run=PATH")
    assert [one for one in (tmp_path / "mine").rglob("*") if one.is_file()] == [path]


def test_a_mistake_leaves_no_run(toy: Path, tmp_path: Path) -> None:
    done = nmt("train", *SHORT, *data(toy, "rev", "train"), "data.train.source=none", f"run={tmp_path / 'a' / 'run'}")
    assert done.code == 2
    assert not (tmp_path / "a" / "run").exists()
