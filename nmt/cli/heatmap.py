"""`nmt heatmap RUN|EXPORT --line N -o F.png`: the matrix of a line as a picture, or one picture for each line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.align.record import Record
    from nmt.data.pharaoh import Links

SUMMARY = "picture of one sentence's alignment"
_FORMATS = ("png", "svg", "pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument("export", type=Path, metavar="RUN|EXPORT", help="a run, or an npz or jsonl alignment export")
    parser.add_argument("--line", type=int, metavar="N", help="the line to draw, from 1; without it, every line")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="F.png, F.svg or F.pdf; without --line a directory"
    )
    parser.add_argument("--format", choices=_FORMATS, default="png", help="kind of the pictures in a directory")
    parser.add_argument("--gold", type=Path, help="gold links a line, to be outlined")


def run(arguments: argparse.Namespace) -> int:
    """Find the export, draw."""
    from nmt.align.export import read_export, read_header, read_record
    from nmt.align.record import find_export
    from nmt.data.pharaoh import read_links

    export = find_export(arguments.export)
    gold = read_links(arguments.gold) if arguments.gold else None
    name = str(read_header(export).get("run", export.stem))
    if arguments.line is not None:
        record = read_record(export, arguments.line)
        _draw(record, arguments.output, name, _gold_of(arguments.gold, gold, arguments.line, record))
        return 0
    if arguments.output.suffix.lower().removeprefix(".") in _FORMATS:
        raise UserError(
            f"{arguments.output}: give --line N for one picture, or a directory for a picture of every line"
        )
    for number, record in enumerate(read_export(export), start=1):
        # Numbered, never named after the text: text may hold slashes, repeat, or be too long for a name.
        path = arguments.output / f"{number:05d}.{arguments.format}"
        _draw(record, path, name, _gold_of(arguments.gold, gold, number, record))
    return 0


def _gold_of(path: Path, gold: list[Links] | None, line: int, record: Record) -> Links | None:
    if gold is None:
        return None
    if line > len(gold):
        raise UserError(f"{path} has {len(gold)} lines: none for line {line} of the export")
    sizes = len(record.matrix.source_words), len(record.matrix.target_words)
    for s, t in sorted(gold[line - 1].possible):
        if s >= sizes[0] or t >= sizes[1]:
            raise UserError(f"{path}, line {line}: link {s}-{t} lies outside a pair of {sizes[0]} and {sizes[1]} words")
    return gold[line - 1]


def _draw(record: Record, path: Path, name: str, gold: Links | None) -> None:
    from nmt.align.heatmap import draw_heatmap

    blank = not (record.matrix.source_words and record.matrix.target_words)
    title = f"{name}, line {record.index + 1}" + " (a side is blank)" * blank
    draw_heatmap(record.matrix, path, title=title, gold=gold)
