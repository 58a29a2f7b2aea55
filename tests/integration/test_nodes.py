"""`torchrun --nnodes 2 ... -m nmt.cli.train`: two machines that share a file system train what one process trains."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

from tests.integration.test_distributed import kill_after_a_checkpoint
from tests.integration.test_resume import SETTINGS, told, whole
from tests.integration.test_train import environment
from tests.integration.toy import SHORT, data, train

__all__ = ["whole"]  # a fixture


def free_port() -> int:
    """One that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def node(place: list[str], settings: list[str]) -> subprocess.Popen[str]:
    """torchrun as it is started on a machine; here they are all this machine."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1", *place]
    return subprocess.Popen(
        [*torchrun, "-m", "nmt.cli.train", *settings],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ends_of(nodes: list[subprocess.Popen[str]]) -> list[tuple[str, str]]:
    """What they said, who have to succeed."""
    try:
        said = [one.communicate(timeout=120) for one in nodes]
    finally:
        for one in nodes:
            one.kill()
    assert [one.returncode for one in nodes] == [0, 0], said
    return said


def test_two_nodes_are_one_process(whole: Path, toy: Path, tmp_path: Path) -> None:
    """To the last bit; the first node's process alone speaks and writes."""
    run, port = tmp_path / "run", free_port()
    settings = [*SHORT, *data(toy, "rev", "train"), *SETTINGS, f"run={run}"]
    place = ["--master-addr=127.0.0.1", f"--master-port={port}"]
    nodes = [node([*place, f"--node-rank={rank}"], settings) for rank in range(2)]
    said = ends_of(nodes)
    assert told(run) == told(whole)
    for name in ("model.safetensors", "translations/test.txt", "evaluation.json"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name
    (out, err), (other_out, other_err) = said
    assert "2 processes; 1 threads; cpu" in err
    assert out.splitlines()[-1] == str(run)
    assert other_out == ""
    assert not re.search("^(update|valid|nmt:)", other_err, re.M), other_err


def test_a_node_whose_process_dies(toy: Path, tmp_path: Path) -> None:
    """All begin again, whose machines count restarts for themselves and meet in a store that knows the dead; they go on
    to what was never interrupted."""
    slower = ("train.updates=60", "train.save_every=1", "train.valid_every=60", "train.log_every=60")
    runs = [tmp_path / name for name in ("whole", "killed")]
    train(runs[0], *data(toy, "rev", "train"), *SETTINGS, *slower)
    place = ["--max-restarts=1", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{free_port()}"]
    settings = [*SHORT, *data(toy, "rev", "train"), *SETTINGS, *slower, f"run={runs[1]}"]
    nodes = [node(place, settings) for _ in range(2)]
    kill_after_a_checkpoint(1, runs[1], nodes[0])
    said = ends_of(nodes)
    assert any("going on after update" in err for _, err in said)
    assert (runs[0] / "model.safetensors").read_bytes() == (runs[1] / "model.safetensors").read_bytes()
