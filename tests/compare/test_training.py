"""Cells in processes of their own (stand-ins for `nmt train` that leave the file by which a cell is finished)."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.compare.cells import Cell
from nmt.compare.comparison import Comparison
from nmt.compare.training import Training, train_cells
from nmt.errors import UserError
from tests.compare.made import bahdanau, none

# Writes down that it ran, and does as its own cell says.
STAND_IN = """
import pathlib, sys, time
run, what = pathlib.Path(sys.argv[1]), sys.argv[2]
with (run.parent / "ran").open("a") as file:
    file.write(f"{run.name}\\n")
run.mkdir(parents=True)
if what == "fails":
    sys.exit("nmt: error: training diverged")
if what == "sleeps":
    time.sleep(60)
if what == "finishes":
    (run / "evaluation.json").touch()
"""

StandIn = Callable[[dict[Cell, str]], None]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Says what each cell does; the others finish."""

    def replace(what: dict[Cell, str]) -> None:
        def command(self: Training, cell: Cell) -> list[str]:
            path = str(self.comparison.run(cell).path)
            return [sys.executable, "-c", STAND_IN, path, what.get(cell, "finishes")]

        monkeypatch.setattr(Training, "command", command)

    return replace


def train(comparison: Comparison, cells: list[Cell], *, jobs: int) -> dict[Cell, str]:
    """As the command does it."""
    with comparison.locked() as lock:
        return train_cells(comparison, cells, jobs=jobs, lock=lock)


def ran(comparison: Comparison) -> list[str]:
    return (comparison.folder / "ran").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_that_fails_does_not_stop_the_others(
    comparison: Comparison, stand_in: StandIn, jobs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [none(1), bahdanau(1), none(2), bahdanau(2)]
    stand_in({bahdanau(1): "fails", none(2): "does nothing"})
    failures = train(comparison, cells, jobs=jobs)
    assert failures == {bahdanau(1): "exit code 1: training diverged", none(2): "exit code 0: it said nothing"}
    assert [comparison.is_finished(cell) for cell in cells] == [True, False, False, True]
    assert sorted(ran(comparison)) == sorted(cell.name for cell in cells)
    output = capsys.readouterr()
    assert output.out == ""
    assert "cell 4 of 4: attention=bahdanau,seed=2  (log: " in output.err
    assert "attention=bahdanau,seed=1: failed: exit code 1: training diverged; left about" in output.err


def test_what_a_killed_training_left_is_removed(comparison: Comparison, stand_in: StandIn) -> None:
    """Weights of before would make `nmt train` refuse the place, and old metrics would mix with new ones."""
    left = comparison.run(none(1)).path / "checkpoints"
    left.mkdir(parents=True)
    (left / "last.safetensors").touch()
    stand_in({})
    assert train(comparison, [none(1)], jobs=1) == {}
    assert not left.exists()
    assert comparison.is_finished(none(1))


def test_an_interrupt_ends_the_trainings(
    comparison: Comparison, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And until they have ended, nobody else may train here."""
    stand_in({none(1): "sleeps", bahdanau(1): "sleeps"})
    started: list[subprocess.Popen[bytes]] = []

    def interrupted(training: Training) -> bool:
        for cell in list(training.waiting):
            training.start(cell)
        training.waiting.clear()
        started.extend(training.running.values())
        while not (comparison.folder / "ran").exists():
            time.sleep(0.02)
        raise KeyboardInterrupt

    monkeypatch.setattr(Training, "goes_on", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(comparison, [none(1), bahdanau(1)], jobs=2)
    assert [process.returncode for process in started] == [-15, -15]


def test_a_training_that_was_left_over_keeps_the_folder(comparison: Comparison, stand_in: StandIn) -> None:
    """Whoever started it may have been killed without a chance to end it."""
    stand_in({none(1): "sleeps"})
    with comparison.locked() as lock:
        training = Training(comparison, [none(1)], jobs=1, lock=lock)
        training.goes_on()
    try:
        with pytest.raises(UserError, match="another nmt compare is training here"):
            train(comparison, [none(1)], jobs=1)
    finally:
        training.stop()


def test_the_command_is_what_a_person_would_type(comparison: Comparison, tmp_path: Path) -> None:
    alone, beside = (Training(comparison, [], jobs=jobs, lock=0) for jobs in (1, 2))
    command = alone.command(bahdanau(3))
    assert command[1:4] == ["-m", "nmt.cli.train", "experiment=demo"]
    run = f"run={comparison.folder}/attention=bahdanau,seed=3"
    assert command[-3:] == ["attention=bahdanau", "seed=3", run]
    assert set(beside.command(bahdanau(3))) - set(command) == {"threads=1"}
    own = Comparison(folder=tmp_path, experiment="demo", fixed=[], config_dir=Path("mine"))
    assert Training(own, [], jobs=1, lock=0).command(none(1))[3:5] == ["--config-dir", "mine"]
