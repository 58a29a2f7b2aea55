"""What the bench of aligners is made of: settings that build, words as peers read them, rows that score."""

from __future__ import annotations

import argparse
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nmt.compose import compose
from nmt.experiment import check_settings
from tests.laws.models import CORPUS


def load_script() -> ModuleType:
    """The script, which lies beside the package and not in it."""
    spec = spec_from_file_location("bench_align", Path(__file__).parents[1] / "scripts" / "bench_align.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench_align = load_script()


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    """A corpus of two pairs, of which one has a word with a no-break space."""
    folder = tmp_path / "data" / "danish_english"
    folder.mkdir(parents=True)
    (folder / "da-en.da").write_text("Et hus\nTi\u00a0mil væk\n", encoding="utf-8")
    (folder / "da-en.en").write_text("A house\nTen miles off\n", encoding="utf-8")
    (folder / "da-en.gold").write_text("0-0 1-1\n0-0 0p1 1-2\n", encoding="utf-8")
    given = {"corpus": "danish_english", "data": tmp_path / "data", "runs": tmp_path / "runs", "settings": []}
    return bench_align.Bench(argparse.Namespace(**given, peer_python=Path("python")))


@pytest.mark.parametrize("name", bench_align.MODELS)
def test_every_model_of_the_bench_builds(name: str) -> None:
    links = ["train.guided_alignment=links"] if name == "guided" else []  # as its run gets those that it has made
    check_settings(compose([*bench_align.MODELS[name], *bench_align.COMMON, *CORPUS, *links]))


def test_peers_get_our_words() -> None:
    assert bench_align.plain("  Ti\u00a0mil  VÆK ") == "ti_mil væk"


def test_rows_are_of_all_pairs_and_of_the_last(bench: Any) -> None:
    right = bench_align.as_sets(bench.gold)
    assert bench.row("right", right) == "| right | 0.000 | 0.000 | 1.000 | 1.000 |"
    turned = bench_align.turn(bench_align.turn(right))
    rows = dict(row.strip("| ").split(" | ", 1) for row in bench.both("ours", right, turned))
    assert [*rows] == [f"ours, {kind}" for kind in ("forward", "reverse", *bench_align.SYMMETRIES)]
    assert {row.partition(" | ")[0] for row in rows.values()} == {"0.000"}
    assert bench.row("nothing", [set(), set()]).startswith("| nothing | 1.000 |")
