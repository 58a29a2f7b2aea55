"""Raw text -> lines, and pairs of lines of two files.

A line ends at LF and nowhere else, so that line i of our output belongs to line i of the input whatever tool counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from nmt.errors import UserError

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 20  # bytes read at a time when lines are only counted


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, one at a time, without their LF or CRLF and without a leading byte order mark.

    U+2028, U+0085, FF and a CR inside a line are text. A last line without LF counts.
    UserError: no such file, a directory, not readable; invalid UTF-8, with file and line (from 1).
    """
    with open_binary(path) as file:
        yield from decode_lines(file, str(path))


def decode_lines(raw_lines: Iterable[bytes], name: str) -> Iterator[str]:
    """The same of an open binary stream, which `name` stands for in errors."""
    for number, raw in enumerate(raw_lines, start=1):
        yield _decode(raw.removeprefix(BOM) if number == 1 else raw, name, number)


def count_lines(path: Path) -> int:
    """How many lines `read_lines` gives, without decoding them."""
    count, last = 0, b"\n"
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UserError(f"{path}: this is a pipe or device, and it would be read twice: write it to a file")
    with open_binary(path) as file:
        while block := file.read(BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def read_pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Line i of one file with line i of the other. The counts are compared at once, before the first pair is asked for.

    UserError: unequal counts, naming both files and both counts; a pipe, which can't be read twice; whatever
    `read_lines` raises.
    """
    counts = count_lines(source), count_lines(target)
    if counts[0] != counts[1]:
        raise UserError(f"{source} has {counts[0]} lines but {target} has {counts[1]}: a pair is line i of both")
    return zip(read_lines(source), read_lines(target), strict=True)


def is_blank(line: str) -> bool:
    """Whether the line has no character besides whitespace."""
    return not line.strip()


def open_binary(path: Path) -> BinaryIO:
    """A file, pipe or device to read. UserError: no such file, a directory, not readable."""
    try:
        return open(path, "rb")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def _decode(raw: bytes, name: str, number: int) -> str:
    try:
        return raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        raise UserError(f"{name}, line {number}: not valid UTF-8 (byte 0x{wrong:02x})") from error
