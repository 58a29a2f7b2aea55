"""The commands in README run as they stand, in order, in an empty folder; only trainings are made short.

The Multi30k block names a folder that a reader has to have: its commands are composed, not run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.compare.cells import expand
from nmt.compose import compose
from nmt.model.assemble import check_sizes
from tests.laws.models import CORPUS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(bash|python|)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
SHORT = (
    "train.updates=3 train.valid_every=3 train.batch_tokens=512 train.log_every=1 search.beam_size=5 "
    "search.max_offset=2 search.max_ratio=0.5 model.embedding_size=16"
)
SMALL = "model.encoder.hidden_size=16 model.decoder.hidden_size=16"
PROLOGUE = f"""set -eu
nmt() {{
    case "$*" in
        "train experiment=aligner"*) command nmt "$@" {SHORT} ;;
        train*) command nmt "$@" {SHORT} {SMALL} ;;
        *) command nmt "$@" ;;
    esac
}}
"""


def shell_lines() -> list[str]:
    """All shell lines but `make` and what needs Multi30k."""
    lines = [line for kind, block in BLOCKS if kind == "bash" for line in block.splitlines()]
    return [line for line in lines if "multi30k" not in line and not line.startswith("make ")]


def multi30k_lines() -> list[str]:
    return [
        line.partition("#")[0].strip()
        for kind, block in BLOCKS
        if kind == "bash"
        for line in block.splitlines()
        if "multi30k" in line
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where README's shell lines have been run."""
    place = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "data", place / "data")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    script = PROLOGUE + "\n".join(shell_lines())
    done = subprocess.run(
        ["bash", "-c", script], cwd=place, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return place


def test_shell_blocks_leave_what_they_promise(folder: Path) -> None:
    for name in ("config.yaml", "model.safetensors", "metrics.jsonl", "evaluation.json", "alignments/test.npz"):
        assert (folder / "runs" / "mine" / name).is_file(), name
    assert (folder / "test.gl").read_bytes().count(b"\n") == (folder / "corpus" / "test.en").read_bytes().count(b"\n")
    assert (folder / "line2.png").read_bytes().startswith(b"\x89PNG")
    assert "<html" in (folder / "runs" / "mine" / "inspector.html").read_text(encoding="utf-8")


def test_python_block(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for kind, block in BLOCKS:
        if kind == "python":
            exec(compile(block, "README.md", "exec"), {})


@pytest.mark.parametrize("line", [line for kind, block in BLOCKS if not kind for line in block.splitlines()])
def test_settings_build(line: str) -> None:
    """Blocks without a language are settings, to be added to a training."""
    check_sizes(compose([*CORPUS, *line.partition("#")[0].split()]))


def test_there_are_such_settings() -> None:
    assert [kind for kind, _ in BLOCKS].count("") == 2


@pytest.mark.parametrize("line", re.findall(r"`nmt compare (.*?)`", TEXT))
def test_compare_commands_compose(line: str) -> None:
    _, experiment, _, vary, _, seeds = line.split()
    cells = expand([vary], int(seeds))
    assert len(cells) == 9
    for cell in cells:
        check_sizes(compose([f"experiment={experiment}", *cell.overrides]))


@pytest.mark.parametrize("line", multi30k_lines())
def test_multi30k_commands_compose(line: str) -> None:
    program, command, *overrides = line.split()
    assert (program, command) == ("nmt", "train")
    assert compose(overrides).data.root == "FOLDER"
