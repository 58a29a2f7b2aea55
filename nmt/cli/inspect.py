"""`nmt inspect RUN|EXPORT -o F.html`: one page to look through all sentences of an export."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "one offline HTML page of all alignments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument("export", type=Path, metavar="RUN|EXPORT", help="a run, or an npz or jsonl alignment export")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="F.html", help="the page to write")


def run(arguments: argparse.Namespace) -> int:
    """Find the export, write the page."""
    from nmt.align.export import read_export, read_header
    from nmt.align.inspector import write_inspector
    from nmt.align.record import find_export

    export = find_export(arguments.export)
    header = {"run": export.stem, **read_header(export)}
    write_inspector(read_export(export), arguments.output, header)
    return 0
