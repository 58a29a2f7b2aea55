"""One aligned pair, as the exports hold it, and the header that says how the weights came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nmt.align.links import Link
from nmt.align.matrix import AlignmentMatrix
from nmt.errors import UserError

Header = Mapping[str, object]


@dataclass(frozen=True, eq=False)
class Record:
    """A pair of lines with its matrix and links; `index` is its line, from 0. A blank pair has an empty entry."""

    index: int
    source: str
    target: str
    matrix: AlignmentMatrix
    links: frozenset[Link]


def make_header(
    *, run: str, layer: int, head: int | None, shift: int, links: str, source_tokenizer: str, target_tokenizer: str
) -> Header:
    """What a reader has to know to use the weights.

    Args:
        run: the run's name. layer: 0 is the first, -1 the last. head: None is the mean of the layer's heads.
        shift: rows that the weights were read later than the row that predicts the word.
        links: the rule that made the links. source_tokenizer, target_tokenizer: SHA-256 of the models.
    """
    return {
        "run": run,
        "method": "attention",
        "layer": layer,
        "head": "mean" if head is None else head,
        "shift": shift,
        "eos": "last column: source EOS; last row: target EOS, zeros where there is none; links ignore both",
        "merging": "columns of a word's pieces summed, rows averaged",
        "links": links,
        "source_tokenizer": source_tokenizer,
        "target_tokenizer": target_tokenizer,
    }


def find_export(path: Path) -> Path:
    """The export that a command means: the file itself, or the one inside a run directory."""
    export = path / "alignments" / "test.npz" if path.is_dir() else path
    if not export.is_file():
        reason = f"the run holds no {export.relative_to(path)}" if path.is_dir() else "there is no such file"
        raise UserError(f"{path}: {reason}; `nmt align` writes an alignment export")
    return export
