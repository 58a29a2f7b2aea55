"""`torchrun --nnodes 2 ... -m nmt.cli.train`: two machines that share a file system train what one process trains."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

from tests.integration.test_resume import SETTINGS, told, whole
from tests.integration.test_train import environment
from tests.integration.toy import SHORT, data

__all__ = ["whole"]  # a fixture


def free_port() -> int:
    """One that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def node(rank: int, port: int, settings: list[str]) -> subprocess.Popen[str]:
    """torchrun as it is started on the machine of this number; here they are all this machine."""
    place = ["--nnodes=2", "--nproc-per-node=1", f"--node-rank={rank}", "--master-addr=127.0.0.1"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", *place, f"--master-port={port}"]
    return subprocess.Popen(
        [*torchrun, "-m", "nmt.cli.train", *settings],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_nodes_are_one_process(whole: Path, toy: Path, tmp_path: Path) -> None:
    """To the last bit; the first node's process alone speaks and writes."""
    run, port = tmp_path / "run", free_port()
    settings = [*SHORT, *data(toy, "rev", "train"), *SETTINGS, f"run={run}"]
    nodes = [node(rank, port, settings) for rank in range(2)]
    try:
        said = [one.communicate(timeout=300) for one in nodes]
    finally:
        for one in nodes:
            one.kill()
    assert [one.returncode for one in nodes] == [0, 0], said
    assert told(run) == told(whole)
    for name in ("model.safetensors", "translations/test.txt", "evaluation.json"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name
    (out, err), (other_out, other_err) = said
    assert "2 processes; 1 threads; cpu" in err
    assert out.splitlines()[-1] == str(run)
    assert other_out == ""
    assert not re.search("^(update|valid|nmt:)", other_err, re.M), other_err
