"""`nmt train` that is killed, told to stop or out of room, at any moment: what is there is whole, and it goes on to the
very end that it would have come to.

An interpreter that has imported torch takes seconds to start. So one is started here, as `python -m` of this file, and
forks a process for every command, which then is `nmt train` as its users have it.
"""

from __future__ import annotations

import fnmatch
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.cli.main import main
from nmt.run import Run, read_weights
from nmt.train.checkpoint import read_checkpoint
from nmt.train.kept import list_kept
from nmt.translator import load
from tests.integration.test_resume import signalled, told
from tests.integration.test_sweep import corpus
from tests.integration.test_train import environment
from tests.integration.toy import RECURRENT, ROOT, SHORT, train

__all__ = ["corpus"]  # a fixture

KILLS, KILLED = 30, 128 + signal.SIGKILL
UPDATES = 90
SETTINGS = (
    *RECURRENT,
    "model.encoder.hidden_size=16",
    "model.encoder.dropout=0.2",
    "model.decoder.dropout=0.2",
    f"train.updates={UPDATES}",
    "train.accumulate=2",
    "train.log_every=1",
    "train.valid_every=3",
    "train.save_every=1",
    "train.metric=loss",
    "train.ema=0.8",
    "train.keep_last=2",
    "train.keep_best=1",
    "train.average=2",
)
IMPORTED = ("nmt.experiment", "nmt.settings", "hydra", "torch._dynamo")  # what takes most of the time to begin
WRITTEN = (
    "config.yaml", "source.model", "target.model", "metrics.jsonl", "last.safetensors", "model.safetensors",
    "update-*.safetensors", "test.txt", "test.npz", "evaluation.json",
)  # fmt: skip


class Server:
    """Forks one `nmt train` after another."""

    def __init__(self, folder: Path) -> None:
        self.pipe = folder / "pipe"
        os.mkfifo(self.pipe)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.test_killed"],
            cwd=ROOT,
            env=environment(TMPDIR=str(folder)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def begin(self, *arguments: str, limit: int | None = None, cut: str | None = None) -> None:
        """`nmt train ARGUMENTS`. limit: bytes of a file, as `ulimit -f` has it. cut: it is killed when it has written a
        file of such a name and is about to put it into its place."""
        self.tell({"arguments": arguments, "output": str(self.pipe), "limit": limit, "cut": cut})
        self.child = self.answer()
        self.said = self.pipe.open(encoding="utf-8", errors="replace")

    def wait(self, updates: int) -> None:
        """Until it trains and has made so many updates, or has no more to make."""
        for line in self.said:
            if "parameters;" in line or line.startswith("update "):
                updates -= line.startswith("update ")
                if updates <= 0:
                    return
            if line.startswith((f"valid {UPDATES} ", "already at")):
                return

    def signal(self, number: int) -> None:
        """It may have ended by itself, but its process id is its own until `end`."""
        os.kill(self.child, number)

    def end(self) -> tuple[int, str]:
        """Its exit code as a shell has it, 128 + the signal that ended it, and what it said that has not been read."""
        with self.said:
            said = self.said.read()
        self.tell(None)
        return shell_code(self.answer()), said

    def tell(self, something: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(something) + "\n")
        self.process.stdin.flush()

    def answer(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())


def shell_code(code: int) -> int:
    """Of Python's exit code, which is minus the signal that ended a process."""
    return code if code >= 0 else 128 - code


def serve() -> None:
    """What a server does: the number of the process that it has forked, and when asked its exit code."""
    for module in IMPORTED:
        import_module(module)
    child = 0
    for line in sys.stdin:
        asked = json.loads(line)
        if asked is None:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        elif child := os.fork():
            print(child, flush=True)
        else:
            run_command(**asked)


def run_command(arguments: list[str], output: str, limit: int | None, cut: str | None) -> None:
    """The process of a command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open(output, "wb") as pipe:
        os.dup2(pipe.fileno(), 1)
        os.dup2(pipe.fileno(), 2)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if cut is not None:
        kill_before(cut)
    try:
        os._exit(main(["train", *arguments]))
    except KeyboardInterrupt:  # when all is done
        os._exit(130)


def kill_before(name: str) -> None:
    """This process, when a file of such a name is about to take its place."""
    replace = os.replace

    def killed(source: Any, target: Any) -> None:
        if fnmatch.fnmatch(Path(target).name, name):
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)

    os.replace = killed


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("server"))
    yield made
    made.process.communicate()


@pytest.fixture(scope="module")
def settings(corpus: list[str]) -> list[str]:
    return [*SHORT, *corpus, *SETTINGS]


@pytest.fixture(scope="module")
def whole(settings: list[str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that nothing has befallen."""
    run = Run(tmp_path_factory.mktemp("whole") / "run")
    train(run.path, *settings)
    return run


def command(run: Run, settings: list[str]) -> list[str]:
    """What begins this run, or goes on with it."""
    return [f"resume={run.path}"] if run.last.exists() else [*settings, f"run={run.path}"]


def check_whole(run: Run) -> None:
    """All that is there can be used."""
    if run.last.exists():
        read_checkpoint(run.last)
    if run.best.exists():
        assert run.last.exists()
        load(run.path)
    for kept in list_kept(run.last.parent):
        read_weights(kept.path)
    if run.metrics.exists():
        *lines, _ = run.metrics.read_bytes().split(b"\n")
        assert all(json.loads(line)["update"] > 0 for line in lines)
    if run.evaluation.exists():
        assert json.loads(run.evaluation.read_bytes())["bleu"]


def files(run: Run) -> set[str]:
    return {str(path.relative_to(run.path)) for path in run.path.rglob("*")}


def check_same(run: Run, whole: Run) -> None:
    """Scores, weights, translations and the state at the end; and nothing lies about."""
    assert told(run.path) == told(whole.path)
    for name in ("model.safetensors", "translations/test.txt", "evaluation.json"):
        assert (run.path / name).read_bytes() == (whole.path / name).read_bytes(), name
    states = [read_checkpoint(one.last).tensors for one in (run, whole)]
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[1][name], tensor) for name, tensor in states[0].items())
    assert files(run) == files(whole)


def go_on_to_the_end(server: Server, run: Run, settings: list[str]) -> None:
    server.begin(*command(run, settings))
    code, said = server.end()
    assert code == 0, said


def test_killed_at_any_moment(server: Server, settings: list[str], whole: Run, tmp_path: Path) -> None:
    """E01: 30 times, when it has made a few updates and some time has passed."""
    run, generator, kills = Run(tmp_path / "run"), random.Random(7), 0
    while kills < KILLS:
        server.begin(*command(run, settings))
        server.wait(generator.randint(0, 4))
        time.sleep(generator.uniform(0, 0.05))
        server.signal(signal.SIGKILL)
        code, said = server.end()
        assert code in (0, KILLED), said
        kills += code == KILLED
        check_whole(run)
    go_on_to_the_end(server, run, settings)
    check_same(run, whole)


def test_killed_while_it_writes(server: Server, settings: list[str], whole: Run, tmp_path: Path) -> None:
    """E01: every file of a run has been written and not yet put into its place."""
    run = Run(tmp_path / "run")
    for name in WRITTEN:
        server.begin(*command(run, settings), cut=name)
        code, said = server.end()
        assert code == KILLED, (name, said)
        check_whole(run)
    assert any(run.path.rglob(".*.part"))
    go_on_to_the_end(server, run, settings)
    check_same(run, whole)


SIGNALS = [
    ([signal.SIGINT], 130),
    ([signal.SIGTERM], 143),
    ([signal.SIGINT, signal.SIGINT], 130),
    ([signal.SIGTERM, signal.SIGTERM], 143),
]


def test_told_to_stop_at_any_moment(server: Server, settings: list[str], whole: Run, tmp_path: Path) -> None:
    """E02, E12: once it saves, twice it may not; it ends in the code of the signal, and goes on."""
    run, generator = Run(tmp_path / "run"), random.Random(8)
    for numbers, code in SIGNALS * 3:
        server.begin(*command(run, settings))
        server.wait(generator.randint(1, 4))
        for number in numbers:
            time.sleep(generator.uniform(0, 0.02))
            server.signal(number)
        found, said = server.end()
        assert found == code, said
        assert "Traceback" not in said
        assert len(numbers) > 1 or "stopped after update" in said
        check_whole(run)
    go_on_to_the_end(server, run, settings)
    check_same(run, whole)


def test_ctrl_c_twice(settings: list[str], tmp_path: Path) -> None:
    """In an interpreter of its own; the second comes while it saves or ends."""
    run = Run(tmp_path / "run")
    code = signalled([*settings, f"run={run.path}"], signal.SIGINT, signal.SIGINT, TMPDIR=str(tmp_path))
    assert shell_code(code) == 130
    assert read_checkpoint(run.last).progress.update >= 6
    check_whole(run)


ROOM = [  # for files as large as this one and so many bytes; the file for which there is none
    ("checkpoints/last.safetensors", -1, "checkpoints/last.safetensors"),
    ("metrics.jsonl", 99, "metrics.jsonl"),  # an event has more
    ("metrics.jsonl", -1, "metrics.jsonl"),
    ("translations/test.txt", 0, "metrics.jsonl"),
]


@pytest.mark.parametrize(("room", "more", "name"), ROOM)
def test_no_room_to_go_on(
    room: str, more: int, name: str, server: Server, settings: list[str], whole: Run, tmp_path: Path
) -> None:
    """E01: as `ulimit -f` and a full disk have it. A line names the file; what was there stays, and goes on later."""
    run = Run(shutil.copytree(whole.path, tmp_path / "run"))
    kept, before = {*files(run)} - {"evaluation.json"}, contents(run)
    longer = (f"resume={run.path}", f"train.updates={UPDATES + 2}")
    server.begin(*longer, limit=(run.path / room).stat().st_size + more)
    code, said = server.end()
    assert code == 2
    assert no_room(said) == str(run.path / name)
    assert contents(run) == before
    assert {*files(run)} - {"evaluation.json"} == kept
    check_whole(run)
    server.begin(*longer)
    code, said = server.end()
    assert code == 0, said
    assert [event["update"] for event in told(run.path) if event["event"] == "train"] == [*range(1, UPDATES + 3)]


def test_no_room_to_begin(server: Server, settings: list[str], tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    server.begin(*command(run, settings), limit=100)
    code, said = server.end()
    assert code == 2
    assert no_room(said).endswith("source.model")
    assert not run.path.exists()


def contents(run: Run) -> list[bytes]:
    """The weights and the state, to the byte."""
    return [path.read_bytes() for path in sorted(run.path.rglob("*.safetensors"))]


def no_room(said: str) -> str:
    """The file that the one line of the error names, which is the last."""
    assert "Traceback" not in said
    assert said.count("nmt: error: ") == 1, said
    found = re.fullmatch("nmt: error: (.*): cannot be written: .*File too large.*", said.splitlines()[-1])
    assert found, said
    return found[1]


if __name__ == "__main__":
    serve()
