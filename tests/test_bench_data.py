"""scripts/bench_data.py: what it makes of marks and looks, the memory it sees, and batches that are not sorted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nmt.compose import compose_values
from nmt.config import read_config

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture(autouse=True, scope="module")
def _on_path() -> Iterator[None]:
    """What a script beside the package sees."""
    sys.path.insert(0, str(SCRIPTS))
    yield
    sys.path.remove(str(SCRIPTS))


@pytest.fixture
def bench() -> Any:
    return import_module("bench_data")


def test_looks_belong_to_the_phase_they_fell_in() -> None:
    from bench.phases import Phase, phases

    marks = "10.0 reading\n12.0 tokenizer\n15.0 encoding\n16.0 tokenizer\n17.5 encoding\n20.0 end\n"
    seen = [(9.0, 900.0), (10.0, 1.0), (11.9, 7.0), (14.0, 3.0), (15.5, 4.0), (17.0, 2.0), (18.0, 9.0), (20.0, 800.0)]
    found = [Phase("reading", 2.0, 7.0), Phase("tokenizer", 4.5, 3.0), Phase("encoding", 3.5, 9.0)]
    assert phases(marks, seen) == found


HOLDS = """
import os, subprocess, sys, time
def mark(name):
    with open(sys.argv[1], "a") as file:
        file.write(f"{time.monotonic()} {name}\\n")
    time.sleep(0.3)
mark("before")
code = "import time; held = b'x' * (64 << 20); time.sleep(0.4)"
subprocess.run([sys.executable, "-c", code]) if sys.argv[2] == "child" else exec(code)
mark("end")
"""


@pytest.mark.parametrize("who", ["self", "child"])
def test_memory_is_that_of_the_whole_tree(who: str, tmp_path: Path) -> None:
    from bench.phases import watch

    (phase,) = watch([sys.executable, "-c", HOLDS, tmp_path / "marks", who], tmp_path / "marks", threads=1, extra={})
    assert 64 < phase.memory < 128
    assert 0.6 < phase.seconds < 20


def test_a_failure_is_told(tmp_path: Path) -> None:
    from bench.phases import watch

    with pytest.raises(SystemExit, match="exit code 3"):
        watch([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "marks", threads=1, extra={})


def test_the_corpus_has_no_two_pairs_alike(bench: Any, tmp_path: Path) -> None:
    folder = bench.write_corpus(12_005, tmp_path / "corpus")
    for side in ("en", "gl"):
        lines = (folder / f"train.{side}").read_text(encoding="utf-8").split("\n")
        assert len(set(lines)) == len(lines) == 12_006
        assert lines[12_000] == f"{lines[0].removesuffix(' 0')} 12000"
    assert len((folder / "dev.gl").read_text(encoding="utf-8").splitlines()) == 20


def test_pairs_as_drawn_are_cut_within_the_budget() -> None:
    from bench.unsorted_train import cut_as_drawn

    assert cut_as_drawn([3, 5, 2, 2, 9, 12, 1], 12) == [[0, 1], [2, 3], [4], [5], [6]]
    assert cut_as_drawn([3, 2, 2, 2], 12) == [[0, 1, 2, 3]]


def test_the_settings_of_its_trainings_are_ours(bench: Any, tmp_path: Path) -> None:
    """Read as `nmt train` reads them."""
    for _, more in bench.BATCHES.values():
        read_config(compose_values(bench.ours.overrides("s1", tmp_path, tmp_path / "run", 2, more)))
    read_config(compose_values(bench.settings_of(tmp_path, 2, [])))


def test_tables(bench: Any) -> None:
    from bench.phases import Phase

    found = [
        [Phase("encoding", 2.0, 100.0), Phase("training", 1.0, 200.0)],
        [Phase("encoding", 20.0, 103.0), Phase("training", 1.0, 199.0)],
    ]
    table = bench.table_of_phases([1_000, 12_000], found)
    assert "| encoding | 2.0 | 20.0 | 100 | 103 | 3 |" in table
    assert "encoding: 500 pairs/s at 1,000, 600 pairs/s at 12,000" in table
    batches = {
        "as drawn": [bench.Batching(100.0, 0.5)] * 3,
        "sorted": [bench.Batching(rate, 0.1) for rate in (150.0, 200.0, 300.0)],
    }
    assert "| sorted | 10.0% | 200 | 2.00 (1.50 to 3.00) |" in bench.table_of_batches(batches)


@pytest.mark.slow
def test_memory_by_size_is_measured(tmp_path: Path) -> None:
    """The whole of --scale on two small corpora."""
    small = ["tokenizer.vocabulary_size=200", "train.updates=2", "train.batch_tokens=256", "model.embedding_size=16"]
    command = [
        sys.executable,
        SCRIPTS / "bench_data.py",
        "--scale",
        "--work",
        tmp_path,
        "--pairs",
        "300,600",
        "--threads",
        "1",
        *small,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [line[1].strip() for line in lines] == ["phase", "---", "reading", "tokenizer", "encoding", "training"]
    assert "order of an epoch" in done.stdout
