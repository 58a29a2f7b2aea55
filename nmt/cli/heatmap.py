"""`nmt heatmap RUN|EXPORT ... --line N -o F.png`: matrices as a picture, or a picture for each line of the exports."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.align.heatmap import Outline, Panel
    from nmt.align.record import Record, View
    from nmt.data.pharaoh import Links

    Titled: TypeAlias = tuple[tuple[str, ...], Panel]  # what tells the panel from others: run, view, line
    Line: TypeAlias = tuple[int, Sequence[Record]]  # its number, from 1, and its record in each export

SUMMARY = "picture of alignments: a sentence, heads, runs side by side"
_FORMATS = ("png", "svg", "pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument(
        "exports", type=Path, nargs="+", metavar="RUN|EXPORT", help="runs, or npz or jsonl exports, to be side by side"
    )
    lines = parser.add_mutually_exclusive_group()
    lines.add_argument("--line", type=int, metavar="N", help="the line to draw, from 1; without it, every line")
    lines.add_argument("--grid", type=_lines, metavar="LINES", help="these lines as one picture, such as 3,8,20-25")
    parser.add_argument(
        "--view",
        action="append",
        metavar="N|TEXT|all",
        help="what to draw of an export: a view by its number, from 0, or those whose names hold the text, such as "
        "'layer 2' or erasure; may be repeated (default: 0, the alignment)",
    )
    parser.add_argument("--pieces", action="store_true", help="pieces in place of words")
    parser.add_argument("--gold", type=Path, help="gold links a line, to be outlined")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="F.png, F.svg or F.pdf; without a line or grid a directory"
    )
    parser.add_argument("--format", choices=_FORMATS, default="png", help="kind of the pictures in a directory")


def run(arguments: argparse.Namespace) -> int:
    """Find the exports and what to draw of them, draw, and say which characters no font has."""
    from nmt.align.export import check_gold_is_of
    from nmt.data.pharaoh import read_links
    from nmt.progress import say

    for path in arguments.exports if arguments.gold else ():
        check_gold_is_of(path)
    exports = _told_apart([_open(path, arguments.view or ["0"]) for path in arguments.exports])
    gold = read_links(arguments.gold) if arguments.gold else None
    drawing = Drawing(exports, arguments.pieces, arguments.gold, gold)
    if arguments.line is not None or arguments.grid is not None:
        lines = _chosen_lines(exports, arguments.grid or [arguments.line])
        missing = drawing.draw(lines, arguments.output)
    else:
        missing = _draw_all(drawing, arguments.output, arguments.format)
    if missing:
        some = " ".join(sorted(missing)[:12])
        say(f"no font on this machine has {some}: boxes stand for them; an SVG takes the fonts of whoever opens it")
    return 0


class Export(NamedTuple):
    """An export file, the name of its run, and those of its views to draw, by number."""

    path: Path
    name: str
    views: dict[int, View | None]  # None: the one view of a jsonl export, which does not say what it is


class Drawing(NamedTuple):
    """What is to be drawn of every line."""

    exports: Sequence[Export]
    pieces: bool
    gold_file: Path | None
    gold: list[Links] | None

    def draw(self, lines: Sequence[Line], path: Path) -> frozenset[str]:
        """One picture of all these lines; the characters that no font has."""
        from nmt.align.heatmap import MOST_PANELS, draw_panels

        size = len(lines) * sum(len(export.views) for export in self.exports)
        if size > MOST_PANELS:
            raise UserError(f"{path}: these are {size} matrices; one picture holds at most {MOST_PANELS}")
        title, rows = _with_titles([self._panels(line) for line in lines])
        return draw_panels(self._broken(rows), path, title=title)

    def _panels(self, line: Line) -> list[Titled]:
        """One for each export and view."""
        from nmt.align.heatmap import Panel

        number, records = line
        panels: list[Titled] = []
        for export, record in zip(self.exports, records, strict=True):
            is_blank = not (record.source_words and record.target_words)
            where = f"line {number}" + " (a side is blank)" * is_blank
            outlines = self._outlines(number, record)
            for place, view in export.views.items():
                matrix = record.pieces(place) if self.pieces else record.words(place)
                raw = str(view) if view is not None and view.raw else None
                panels.append(((export.name, str(view or ""), where), Panel(matrix, outlines=outlines, raw=raw)))
        return panels

    def _outlines(self, line: int, record: Record) -> list[Outline]:
        from nmt.align.heatmap import outline_pieces, outline_words
        from nmt.data.pharaoh import check_inside

        if self.gold is None:
            return []
        if line > len(self.gold):
            raise UserError(f"{self.gold_file} has {len(self.gold)} lines: none for line {line} of the export")
        gold = self.gold[line - 1]
        check_inside(gold, len(record.source_words), len(record.target_words), f"{self.gold_file}, line {line}")
        if self.pieces:
            return outline_pieces(gold, record.source_pieces.word, record.target_pieces.word)
        return outline_words(gold)

    def _broken(self, rows: list[list[Panel]]) -> list[list[Panel]]:
        """A row for each line; of a single line, a row for each layer of heads; and else all in one, to be broken."""
        if len(rows) > 1:
            return rows if len(rows[0]) > 1 else [[panel for row in rows for panel in row]]
        views = [view for export in self.exports for view in export.views.values()]
        layers = [len(list(group)) for _, group in groupby(views, key=lambda view: view and (view.method, view.layer))]
        if len(self.exports) > 1 or max(layers) == 1 or len(layers) == 1:
            return rows
        panels = iter(rows[0])
        return [[next(panels) for _ in range(length)] for length in layers]


def _draw_all(drawing: Drawing, folder: Path, kind: str) -> frozenset[str]:
    """A picture of every line."""
    if folder.suffix.lower().removeprefix(".") in _FORMATS:
        raise UserError(
            f"{folder}: give --line N or --grid LINES for one picture, or a directory for one of every line"
        )
    missing: frozenset[str] = frozenset()
    for line in _all_lines(drawing.exports):
        # Numbered, never named after the text: text may hold slashes, repeat, or be too long for a name.
        missing |= drawing.draw([line], folder / f"{line[0]:05d}.{kind}")
    return missing


def _with_titles(lines: Sequence[Sequence[Titled]]) -> tuple[str, list[list[Panel]]]:
    """What all panels have in common is the picture's title, the rest is each panel's own."""
    everywhere = [set(parts) for parts in zip(*(parts for line in lines for parts, _ in line), strict=True)]
    common = [parts for parts in everywhere if len(parts) == 1]
    rows = [
        [panel._replace(title=_joined(p for p in parts if {p} not in common)) for parts, panel in line]
        for line in lines
    ]
    return _joined(part for parts in common for part in parts), rows


def _joined(parts: Iterator[str]) -> str:
    return " \u00b7 ".join(filter(None, parts))


def _open(path: Path, wanted: Sequence[str]) -> Export:
    from nmt.align.export import read_header
    from nmt.align.record import find_export, header_views

    export = find_export(path)
    header = read_header(export)
    views: list[View | None] = [*header_views(header)] if header else [None]
    return Export(export, str(header.get("run", export.stem)), _chosen_views(export, views, wanted))


def _told_apart(exports: list[Export]) -> list[Export]:
    """Exports whose run others have too are called by their files."""
    names = [export.name for export in exports]
    return [one._replace(name=str(one.path)) if names.count(one.name) > 1 else one for one in exports]


def _chosen_views(export: Path, views: Sequence[View | None], wanted: Sequence[str]) -> dict[int, View | None]:
    """Those that are asked for, in the order of asking and then of the export, each once."""
    chosen: dict[int, View | None] = {}
    for text in wanted:
        found = [number for number, view in enumerate(views) if text in ("all", str(number)) or _has(view, text)]
        if not found:
            names = "; ".join(f"{number} {view or 'the alignment'}" for number, view in enumerate(views))
            raise UserError(f"{export}: no view '{text}'; there are: {names}")
        chosen.update((number, views[number]) for number in found)
    return chosen


def _has(view: View | None, text: str) -> bool:
    return view is not None and not text.isdecimal() and text.lower() in str(view).lower()


def _all_lines(exports: Sequence[Export]) -> Iterator[Line]:
    """Every line with its record in each export. UserError where they have other sources, or not as many lines."""
    from nmt.align.export import read_export

    streams = (read_export(export.path) for export in exports)
    for number, records in enumerate(zip_longest(*streams), start=1):
        for export, record in zip(exports, records, strict=True):
            if record is None:
                raise UserError(f"{export.path} has {number - 1} lines, and another of the exports has more")
            if record.source != records[0].source:
                raise UserError(f"line {number} of {export.path} has another source than that of {exports[0].path}")
        yield number, records


def _chosen_lines(exports: Sequence[Export], wanted: Sequence[int]) -> list[Line]:
    """In the order of asking."""
    found: dict[int, Line] = {}
    number = 0
    for number, records in _all_lines(exports):
        if number in wanted:
            found[number] = (number, records)
        if number >= max(wanted):
            break
    for line in wanted:
        if line not in found:
            holds = f"it holds the lines 1 to {number}" if number else "it holds none"
            raise UserError(f"{exports[0].path}: no line {line}; {holds}")
    return [found[line] for line in wanted]


def _lines(text: str) -> list[int]:
    """`3,8,20-22` -> [3, 8, 20, 21, 22]."""
    lines: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal() and 0 < int(first) <= int(last or first)):
            raise argparse.ArgumentTypeError(f"'{text}' are no lines; write them as 3,8,20-25, counted from 1")
        lines += range(int(first), int(last or first) + 1)
    return lines
