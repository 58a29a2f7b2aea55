"""The trainings of a comparison, each in a process of its own: one that fails does not take the others with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence

from nmt.compare.cells import Cell
from nmt.compare.comparison import Comparison
from nmt.progress import clock, say

POLL = 0.2  # seconds
PATIENCE = 30.0  # seconds that a training gets to end when it is told to


def train_cells(comparison: Comparison, cells: Sequence[Cell], *, jobs: int, lock: int) -> dict[Cell, str]:
    """Train the cells, `jobs` at a time, and return what went wrong with those that failed.

    What an unfinished training left in a cell's place is removed. However this ends, no training goes on after it.
    lock: what `comparison.locked` gave.
    """
    training = Training(comparison, cells, jobs=jobs, lock=lock)
    try:
        while training.goes_on():
            time.sleep(POLL)
    finally:
        training.stop()
    return training.failures


class Training:
    """Cells that wait, processes that run, and what has come of the others."""

    def __init__(self, comparison: Comparison, cells: Sequence[Cell], *, jobs: int, lock: int) -> None:
        self.comparison = comparison
        self.waiting = list(cells)
        self.total = len(cells)
        self.jobs = jobs
        self.lock = lock
        self.began = time.monotonic()
        self.running: dict[Cell, subprocess.Popen[bytes]] = {}
        self.failures: dict[Cell, str] = {}

    def goes_on(self) -> bool:
        """Start what may be started, take note of what has ended; False when nothing is left."""
        while self.waiting and len(self.running) < self.jobs:
            self.start(self.waiting.pop(0))
        for cell, process in list(self.running.items()):
            if process.poll() is not None:
                del self.running[cell]
                self.end(cell, process.returncode)
        return bool(self.waiting or self.running)

    def start(self, cell: Cell) -> None:
        """One process; both its streams go to the cell's log."""
        assert not self.comparison.is_finished(cell), "a finished cell is never removed"
        log, path = self.comparison.log(cell), self.comparison.run(cell).path
        shutil.rmtree(path, ignore_errors=True)
        say(f"cell {self.total - len(self.waiting)} of {self.total}: {cell}  (log: {log})")
        with log.open("wb") as stream:
            self.running[cell] = subprocess.Popen(
                self.command(cell),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                pass_fds=(self.lock,),
            )

    def command(self, cell: Cell) -> list[str]:
        """What a person would type. Cells side by side get a thread each, unless the user said how many."""
        folder = self.comparison.config_dir
        flags = [] if folder is None else ["--config-dir", str(folder)]
        threads = ["threads=1"] if self.jobs > 1 else []
        return [sys.executable, "-m", "nmt.cli.train", *flags, *threads, *self.comparison.overrides(cell)]

    def end(self, cell: Cell, code: int) -> None:
        """Say what came of the cell, and when all will be done."""
        finished = self.comparison.is_finished(cell)
        if not finished:
            self.failures[cell] = self.reason(cell, code)
        left = len(self.waiting) + len(self.running)
        elapsed = time.monotonic() - self.began
        outcome = "finished" if finished else f"failed: {self.failures[cell]}"
        say(f"{cell}: {outcome}; left about {clock(elapsed / (self.total - left) * left)}")

    def reason(self, cell: Cell, code: int) -> str:
        """The last thing it said."""
        lines = self.comparison.log(cell).read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        return f"exit code {code}: {last.removeprefix('nmt: error: ')}"

    def stop(self) -> None:
        """End what still runs."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
