"""Alignment exports: one door to all formats, writing and reading.

npz       weights and words for programs, streaming both ways (nmt/align/npz.py lists its arrays)
jsonl     one object a pair (nmt/align/lines.py lists its keys)
pharaoh   the links of a pair a line, `s-t` from 0; an empty line where there are none
nematus   soft alignments as Nematus and Marian tools read them

Every format has an entry for every pair, blank ones included. Files appear under their name only when complete.
npz and jsonl can be read back; which of the two a file is shows in its first bytes, not in its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from nmt.align.lines import jsonl_line, nematus_block, parse_jsonl, pharaoh_line
from nmt.align.npz import read_npz, read_npz_header, write_npz
from nmt.align.record import Header, Record, find_export
from nmt.data.files import open_whole
from nmt.data.lines import read_lines
from nmt.errors import UserError
from nmt.run import Run

_TEXT_FORMATS = {"jsonl": jsonl_line, "pharaoh": pharaoh_line, "nematus": nematus_block}
FORMATS = ("pharaoh", "jsonl", "npz", "nematus")


def write_export(format: str, path: Path, records: Iterable[Record], header: Header) -> int:
    """Write `records` in order, one at a time, and return how many there were. Only npz keeps the header."""
    if format == "npz":
        return write_npz(path, records, header)
    if format not in _TEXT_FORMATS:
        raise UserError(f"unknown export format '{format}'; there are {', '.join(FORMATS)}")
    return _write_text(format, path, records)


def read_export(path: Path) -> Iterator[Record]:
    """The records of an npz or jsonl export, one at a time; UserError where the file is foreign or cut short."""
    return read_npz(path) if _is_zip(path) else parse_jsonl(path)


def check_gold_is_of(path: Path) -> None:
    """UserError for a run whose export is of its own translations: gold links are of others."""
    if not path.is_dir() or not Run(path).translation.is_file():
        return
    if list(read_lines(Run(path).translation)) == [record.target for record in read_export(find_export(path))]:
        raise UserError(
            f"{path}: its export is of its own translations, and gold links are of references; "
            f"`nmt align {path} --source F --target REFERENCES --format npz -o OUT` makes an export that they fit"
        )


def read_header(path: Path) -> Header:
    """The header of an npz export; empty for jsonl, which has none."""
    return read_npz_header(path) if _is_zip(path) else {}


def read_record(path: Path, line: int) -> Record:
    """The record of one line, counted from 1."""
    count = 0
    for count, record in enumerate(read_export(path), start=1):
        if count == line:
            return record
    raise UserError(f"{path}: no line {line}; it holds the lines 1 to {count}" if count else f"{path}: holds no lines")


def _write_text(format: str, path: Path, records: Iterable[Record]) -> int:
    written = 0
    with open_whole(path) as stream:
        for record in records:
            stream.write(_TEXT_FORMATS[format](record).encode("utf-8"))
            written += 1
    return written


def _is_zip(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(2) == b"PK"
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
