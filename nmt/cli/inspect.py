"""`nmt inspect RUN|EXPORT [EXPORT2] -o F.html`: one page to look through all sentences of an export, or of two."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.align.inspector import Side
    from nmt.data.pharaoh import Links

SUMMARY = "one offline HTML page of all alignments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument("export", type=Path, metavar="RUN|EXPORT", help="a run, or an npz or jsonl alignment export")
    parser.add_argument(
        "other", type=Path, nargs="?", metavar="EXPORT2", help="another of the same lines, to stand beside it"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="F.html", help="the page to write")
    parser.add_argument("--gold", type=Path, metavar="G", help="gold links a line, for AER and to be shown")
    parser.add_argument("--reference", type=Path, metavar="F", help="a reference a line, for BLEU; a run knows its own")


class Known(NamedTuple):
    """What is known of the lines of an export, besides it: gold links and reference translations."""

    gold: list[Links] | None
    references: list[str] | None


def run(arguments: argparse.Namespace) -> int:
    """Find the exports, write the page."""
    from nmt.align.export import check_gold_is_of
    from nmt.align.inspector import write_inspector
    from nmt.data.lines import read_lines
    from nmt.data.pharaoh import read_links

    for path in filter(None, (arguments.export, arguments.other)) if arguments.gold else ():
        check_gold_is_of(path)
    first = _side(arguments.export)
    known = _known(arguments.export)
    write_inspector(
        first.records,
        arguments.output,
        first.header,
        name=first.name,
        other=_side(arguments.other) if arguments.other else None,
        gold=read_links(arguments.gold) if arguments.gold else known.gold,
        references=list(read_lines(arguments.reference)) if arguments.reference else known.references,
    )
    return 0


def _side(path: Path) -> Side:
    from nmt.align.export import read_export, read_header
    from nmt.align.inspector import Side
    from nmt.align.record import find_export

    export = find_export(path)
    return Side(str(path), {"file": path.name, "run": export.stem, **read_header(export)}, read_export(export))


def _known(path: Path) -> Known:
    """Of a run whose export is of its test part, as long as that is where the run says.

    Where the export's targets are its own translations there is no gold; where they are the references, no BLEU.
    """
    from nmt.align.export import read_export
    from nmt.align.record import find_export
    from nmt.data.parts import has_part, part_links, part_pairs
    from nmt.run import Run

    run = Run(path)
    if not run.config_file.is_file():
        return Known(None, None)
    data = run.config().data
    try:
        pairs = list(part_pairs(data, "test")) if has_part(data, "test") else []
        gold = part_links(data, "test") if pairs else None
    except UserError:  # the run was moved away from its corpus
        return Known(None, None)
    aligned = [(record.source, record.target) for record in read_export(find_export(path))]
    if aligned == pairs:
        return Known(gold, None)
    if [source for source, _ in aligned] == [source for source, _ in pairs]:
        return Known(None, [target for _, target in pairs])
    return Known(None, None)
