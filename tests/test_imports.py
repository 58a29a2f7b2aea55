"""Imports run one way (DESIGN, section 2), and importing the package loads no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "nmt"
# Each part may import itself and what stands before it. Parts of one rank do not know one another.
RANKS = {
    "errors": 0,
    "progress": 0,
    "config": 1,
    "build": 2,
    "compose": 2,
    "data": 3,
    "model": 4,
    "run": 4,
    "settings": 5,
    "search": 5,
    "translator": 6,
    "train": 7,
    "evaluate": 7,
    "align": 7,
    "prepare": 8,
    "experiment": 9,
    "compare": 10,
    "cli": 11,
}
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(name: str) -> str:
    """The part of the package that a dotted name lies in; '' for the package itself and what it defines."""
    part = name.partition(".")[2].partition(".")[0]
    return part if part in RANKS else ""


def imported(file: Path) -> set[str]:
    """Every part of nmt that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports say where from"
            names.update(
                f"{node.module}.{alias.name}" if node.module == "nmt" else str(node.module) for alias in node.names
            )
    return {part_of(name) for name in names if name.partition(".")[0] == "nmt"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_run_one_way(file: Path) -> None:
    part = file.relative_to(PACKAGE).with_suffix("").parts[0]
    if part == "__init__":
        assert imported(file) == {"translator"}, "the public door"
        return
    allowed = {other for other, rank in RANKS.items() if rank < RANKS[part]} | {part}
    if part == "cli":
        allowed |= {""}  # nmt.load, nmt.__version__
    assert imported(file) <= allowed


def test_every_part_has_its_place() -> None:
    parts = {file.relative_to(PACKAGE).with_suffix("").parts[0] for file in FILES} - {"__init__", "__main__"}
    assert parts == set(RANKS)


@pytest.mark.parametrize("module", ["nmt", "nmt.cli.main", "nmt.errors"])
def test_no_torch_by(module: str) -> None:
    """Nor anything else that is slow to load."""
    slow = "{'torch', 'numpy', 'datasets', 'hydra', 'matplotlib', 'sacrebleu', 'sentencepiece'}"
    code = f"import sys, {module}; print(sorted({slow} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
