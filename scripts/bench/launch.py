"""A process of its own for each measurement, with the most memory that it ever held."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

INTERVAL = 0.05  # seconds between looks at a process's memory
TUNED = {  # glibc keeps what is freed; without these it gives large blocks back and has them faulted in again
    "MALLOC_MMAP_THRESHOLD_": "4000000000",
    "MALLOC_TRIM_THRESHOLD_": "8000000000",
    "MALLOC_TOP_PAD_": "100000000",
}


class Outcome(NamedTuple):
    """What a process printed, both streams, and VmHWM in MiB: the peak of its resident memory."""

    text: str
    memory: float


def run(command: Sequence[str | Path], *, threads: int, log: Path, extra: Mapping[str, str] | None = None) -> Outcome:
    """Run to the end on the CPU with `threads` threads. SystemExit with its last lines where it fails."""
    environment = {**plain_environment(threads), **(extra or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output, env=environment)
        try:
            memory = watch(process)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    text = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode:
        last = "\n".join(text.splitlines()[-15:])
        raise SystemExit(f"bench_train: exit code {process.returncode} of {' '.join(map(str, command))}\n{last}")
    return Outcome(text, memory)


def plain_environment(threads: int) -> dict[str, str]:
    """Ours without what tunes the allocator or shows a GPU, and without our packages for a peer's Python."""
    dropped = ("MALLOC_", "PYTHONPATH", "LD_PRELOAD", "GLIBC_TUNABLES")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), "CUDA_VISIBLE_DEVICES": ""}


def watch(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end; the last VmHWM seen, which never falls."""
    memory = 0.0
    while process.poll() is None:
        memory = max(memory, high_water(process.pid))
        time.sleep(INTERVAL)
    return memory


def high_water(pid: int) -> float:
    """VmHWM in MiB; 0 where the process has just ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) / 1024 if lines else 0.0


def tell(text: str) -> None:
    """A line on the way, for people."""
    print(text, file=sys.stderr, flush=True)
