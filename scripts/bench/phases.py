"""Anonymous memory of a process and all its children, watched from outside, phase by phase."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench.launch import INTERVAL, plain_environment

UNREADABLE = (FileNotFoundError, ProcessLookupError)  # of a process that has just ended


class Phase(NamedTuple):
    """Its seconds, and the most RssAnon that was seen in it, in MiB: memory that no file stands for."""

    name: str
    seconds: float
    memory: float


def watch(command: Sequence[str | Path], marks: Path, *, threads: int, extra: dict[str, str]) -> list[Phase]:
    """Run a command that writes when its phases begin into `marks`. SystemExit with its last lines where it fails."""
    marks.unlink(missing_ok=True)
    log = marks.with_suffix(".log")
    seen: list[tuple[float, float]] = []
    with log.open("wb") as output:
        environment = {**plain_environment(threads), **extra}
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output, env=environment)
        try:
            while process.poll() is None:
                seen.append((time.monotonic(), sum(map(anonymous, tree(process.pid)))))
                time.sleep(INTERVAL)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode:
        last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise SystemExit(f"bench_data: exit code {process.returncode} of {' '.join(map(str, command))}\n{last}")
    return phases(marks.read_text(encoding="utf-8"), seen)


def phases(marks: str, seen: Sequence[tuple[float, float]]) -> list[Phase]:
    """From lines of beginnings, the last one being the end, and (time, MiB) of every look. A phase that comes twice
    (two tokenizers) is one."""
    lines = [line.split() for line in marks.splitlines()]
    found: dict[str, Phase] = {}
    for (begin, name), (end, _) in pairwise(lines):
        seconds = float(end) - float(begin)
        memory = max((size for when, size in seen if float(begin) <= when < float(end)), default=0.0)
        before = found.get(name, Phase(name, 0.0, 0.0))
        found[name] = Phase(name, before.seconds + seconds, max(before.memory, memory))
    return list(found.values())


def tree(pid: int) -> Iterator[int]:
    """The process and all below it."""
    yield pid
    try:
        tasks = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
    except UNREADABLE:
        return
    for children in tasks:
        try:
            own = children.read_text().split()
        except UNREADABLE:
            continue
        for child in own:
            yield from tree(int(child))


def anonymous(pid: int) -> float:
    """RssAnon in MiB; 0 where the process has just ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except UNREADABLE:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("RssAnon")]
    return int(lines[0].split()[1]) / 1024 if lines else 0.0
