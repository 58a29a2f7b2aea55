"""Raw text -> lines, and pairs of lines of two files.

A line ends at LF and nowhere else, so that line i of our output belongs to line i of the input whatever tool counts.
Files that end in .gz, .xz or .bz2 are read as what is packed in them.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from nmt.errors import UserError

LINE_SEPARATORS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # whatever any tool takes for the end of a line
BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 20  # bytes read at a time when lines are only counted
BREAK = re.compile("\r?\n")
UNPACK: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


def read_lines(path: Path, start: int = 0) -> Iterator[str]:
    """The lines of a UTF-8 file, one at a time, without their LF or CRLF and without a leading byte order mark.

    U+2028, U+0085, FF and a CR inside a line are text. A last line without LF counts. The first `start` lines are
    passed over without being decoded.
    UserError: no such file, a directory, not readable, a damaged archive; invalid UTF-8, with file and line (from 1).
    """
    with open_binary(path) as file:
        yield from decode_lines(file, str(path), start)


def decode_lines(raw_lines: Iterable[bytes], name: str, start: int = 0) -> Iterator[str]:
    """The same of an open binary stream, which `name` stands for in errors."""
    for number, raw in enumerate(islice(raw_lines, start, None), start=start + 1):
        yield _decode(raw.removeprefix(BOM) if number == 1 else raw, name, number)


def count_lines(path: Path) -> int:
    """How many lines `read_lines` gives, without decoding them."""
    count, last = 0, b"\n"
    check_file(path)
    with open_binary(path) as file:
        while block := file.read(BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def count_pairs(source: Path, target: Path) -> int:
    """How many lines both files have. UserError: unequal counts, naming both files and both counts."""
    counts = count_lines(source), count_lines(target)
    if counts[0] != counts[1]:
        raise UserError(f"{source} has {counts[0]} lines but {target} has {counts[1]}: a pair is line i of both")
    return counts[0]


def read_pairs(source: Path, target: Path, start: int = 0) -> Iterator[tuple[str, str]]:
    """Line i of one file with line i of the other, from line `start` (from 0) on. The counts are compared at once,
    before the first pair is asked for.

    UserError: unequal counts, naming both files and both counts; a pipe, which can't be read twice; whatever
    `read_lines` raises.
    """
    count_pairs(source, target)
    return zip(read_lines(source, start), read_lines(target, start), strict=True)


def files_after(files: Sequence[Path], start: int, header: int = 0) -> Iterator[tuple[Path, int]]:
    """The files that are left when the first `start` of all their lines are passed over, each with how many of its own
    lines to pass over; `header` lines at the head of each file are passed over besides."""
    for file in files:
        size = count_lines(file) - header if start else 0
        if start and start >= size:
            start -= size
            continue
        yield file, start + header
        start = 0


def is_blank(line: str) -> bool:
    """Whether the line has no character besides whitespace."""
    return not line.strip()


def one_line(text: str) -> str:
    """A text as the line of a file: a line break at its end is taken off, and those inside become spaces.

    As in `read_lines`, LF and CRLF are line breaks, and a CR is one at the end alone.
    """
    if "\n" not in text and not text.endswith("\r"):
        return text
    return BREAK.sub(" ", text.removesuffix("\n").removesuffix("\r"))


def check_file(path: Path) -> None:
    """UserError: what `open_binary` raises; a pipe or device, which can't be read twice."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise UserError(f"{path}: this is a pipe or device, and it would be read twice: write it to a file")
    open_binary(path).close()


def open_binary(path: Path) -> BinaryIO:
    """A file, pipe or device to read, unpacked where its suffix says that it is packed.

    UserError: no such file, a directory, not readable; a damaged archive, when that is met in reading.
    """
    unpack = UNPACK.get(path.suffix)
    try:
        if unpack is None:
            return open(path, "rb")
        packed = unpack(path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    return cast(BinaryIO, io.BufferedReader(_Unpacked(packed, path), BLOCK))


class _Unpacked(io.RawIOBase):
    """What is packed in an archive; that the archive is damaged is a UserError of whoever reads."""

    def __init__(self, packed: Any, path: Path) -> None:
        self._packed = packed
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count: int = self._packed.readinto(buffer)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            kind = self._path.suffix
            raise UserError(
                f"{self._path}: this is no whole {kind} archive ({' '.join(str(error).split())})"
            ) from error
        return count

    def close(self) -> None:
        self._packed.close()
        super().close()


def _decode(raw: bytes, name: str, number: int) -> str:
    try:
        return raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        raise UserError(f"{name}, line {number}: not valid UTF-8 (byte 0x{wrong:02x})") from error
