"""The text to be looked at, as it is stored: nothing is skipped, and what is no UTF-8 does not end the reading."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from nmt.data.corpora.corpus import Corpus
from nmt.data.doctor.findings import Tally
from nmt.data.lines import BOM, count_lines, open_binary
from nmt.data.parts import Part as Role
from nmt.errors import UserError

UTF_16 = (b"\xff\xfe", b"\xfe\xff")

Row = tuple[str | None, ...]  # line i of every side; None: the side has ended


@dataclass(frozen=True, kw_only=True)
class Part:
    """Parallel text: files, or a corpus of another form. sides: what people call them."""

    role: Role
    name: str
    sides: tuple[str, ...]
    files: tuple[Path, ...] = ()
    corpus: Corpus | None = None
    links: str | None = None

    def count(self) -> int | None:
        """How many lines the longest side has; None where only reading tells."""
        return max(map(count_lines, self.files)) if self.files else None

    def rows(self, tally: Tally | None = None) -> Iterator[tuple[Row, Sequence[int]]]:
        """(line i of every side, the byte of the file at which each line begins: none without files).

        A byte that is no UTF-8 is U+DC00 and its value. `tally` is told of byte order marks and line ends.
        """
        if self.corpus is not None:
            yield from ((pair, ()) for pair in self.corpus.pairs())
            return
        files = [
            FileLines(path, name, Tally(0) if tally is None else tally)
            for path, name in zip(self.files, self.sides, strict=True)
        ]
        for row in zip_longest(*files):
            yield row, [file.offset for file in files]

    def lines_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """The rows of these numbers (from 1), of those that are there."""
        last = max(numbers, default=0)
        found = {}
        for number, (row, _) in enumerate(self.rows(), start=1):
            if number > last:
                break
            if number in numbers:
                found[number] = row
        return found


class FileLines:
    """The lines of a file, once. `offset`: the byte at which the line that was given last begins."""

    def __init__(self, path: Path, name: str, tally: Tally) -> None:
        self.path, self.name, self.tally = path, name, tally
        self.offset = 0

    def __iter__(self) -> Iterator[str]:
        end, number, raw = 0, 0, b"\n"
        with open_binary(self.path) as file:
            for number, raw in enumerate(file, start=1):
                self.offset = end
                end += len(raw)
                yield self._text(raw, number)
        if not raw.endswith(b"\n"):
            self.tally.note("unfinished", self.name, number)

    def _text(self, raw: bytes, number: int) -> str:
        if number == 1 and raw.startswith(BOM):
            self.tally.note("bom", self.name, number)
            raw = raw.removeprefix(BOM)
            self.offset += len(BOM)
        if number == 1 and raw.startswith(UTF_16):
            self.tally.note("utf16", self.name, number)
        line = raw.removesuffix(b"\n")
        if line.endswith(b"\r"):
            self.tally.note("crlf", self.name, number)
            line = line[:-1]
        return line.decode("utf-8", "surrogateescape")


def file_part(role: Role, paths: Sequence[Path], links: str | None = None) -> Part:
    """Of files, whose names alone are enough where they differ. UserError for a pipe, a file that can't be read, and
    one that is named twice."""
    twice = next((path for place, path in enumerate(paths) if path in paths[:place]), None)
    if twice is not None:
        raise UserError(f"{twice} is given twice: each side has a file of its own")
    names = tuple(path.name for path in paths)
    sides = names if len(set(names)) == len(names) else tuple(map(str, paths))
    for path in paths:
        count_lines(path)
    return Part(role=role, name=", ".join(map(str, paths)), sides=sides, files=tuple(paths), links=links)
