"""A comparison whose cells are made by hand: nothing is trained."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from nmt.align.export import write_export
from nmt.compare.cells import Cell
from nmt.compare.comparison import Comparison
from nmt.compose import compose_values
from tests.compare.made import HEADER, SOURCES, TARGETS, Finish, record, write_tokenizers

SMALL = ("model.embedding_size=7", "model.encoder.hidden_size=5", "model.decoder.hidden_size=11")


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    """A corpus of four pairs, and a tiny model."""
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.xx").write_text("".join(f"{line}\n" for line in SOURCES), encoding="utf-8")
        (tmp_path / f"{part}.yy").write_text("".join(f"{line}\n" for line in TARGETS), encoding="utf-8")
    parts = [
        f"data.{part}.{side}={tmp_path}/{part}.{suffix}"
        for part in ("train", "valid", "test")
        for side, suffix in (("source", "xx"), ("target", "yy"))
    ]
    # a corpus of the user's own: the demo's links do not belong to it
    return ["data=files", "data.source_language=xx", "data.target_language=yy", f"data.root={tmp_path}", *parts, *SMALL]


@pytest.fixture
def comparison(tmp_path: Path, settings: list[str]) -> Comparison:
    """One that nothing has been done for."""
    return Comparison(folder=tmp_path / "compare", experiment="demo", fixed=settings, config_dir=None)


@pytest.fixture
def finish(comparison: Comparison) -> Finish:
    """Makes the run of a cell, as if it had been trained."""

    def make(
        cell: Cell,
        *,
        bleu: float = 50.0,
        translations: Sequence[str] = TARGETS,
        row: Sequence[float] = (0.5, 0.5),
        rates: Sequence[float] = (),
        **scores: float,
    ) -> Path:
        """`row`: what each target word reads of the only source word and of EOS."""
        run = comparison.run(cell)
        run.write_config(compose_values(comparison.overrides(cell)))
        write_tokenizers(run.path)
        events = [{"event": "train", "tokens_per_second": rate} for rate in rates]
        run.metrics.write_text("".join(json.dumps(event) + "\n" for event in [*events, {"event": "valid"}]))
        run.translation.parent.mkdir()
        run.translation.write_text("".join(f"{line}\n" for line in translations), encoding="utf-8")
        write_export("npz", run.alignment, [record(line, row) for line in translations], HEADER)
        metric = {"score": bleu, "low": bleu - 2, "high": bleu + 4, "signature": "nrefs:1"}
        run.evaluation.write_text(json.dumps({"bleu": metric, "chrf": metric, **scores}))
        return run.path

    return make
