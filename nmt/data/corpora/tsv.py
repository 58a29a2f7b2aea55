"""Tables with a column a language: tab-separated text, or comma-separated values with quotes as RFC 4180 has them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from nmt.data.corpora.corpus import Corpus, Pair, begun
from nmt.data.corpora.values import check_different, check_files, describe, paths, require
from nmt.data.lines import check_file, count_lines, decode_lines, files_after, one_line, open_binary, read_lines
from nmt.errors import UserError

Rows = Iterator[tuple[int, list[str]]]  # a row's number in its file, from 1, and its cells


@dataclass(frozen=True, kw_only=True)
class Tsv(Corpus):
    """Two columns of one table, or of several with the same columns.

    source_column, target_column: numbers from 1, or names, which the first row of each file then has.
    quoting: a cell in double quotes may hold separators, line breaks, which become spaces, and doubled quotes.
    Without it quotes are text, and a row ends at LF. Cells are text whatever they look like.
    """

    path: str | list[str]
    source_column: int | str = 1
    target_column: int | str = 2
    separator: str = "\t"
    quoting: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_files("path", self.path)
        for key, value in (("source_column", self.source_column), ("target_column", self.target_column)):
            number = isinstance(value, int) and not isinstance(value, bool) and value > 0
            require(number or (isinstance(value, str) and value != ""), key, value, "a number from 1 on, or a name")
        columns = self.source_column, self.target_column
        if isinstance(columns[0], str) != isinstance(columns[1], str):
            raise ValueError(f"source_column is {columns[0]!r} and target_column {columns[1]!r}: two numbers or names")
        check_different(("source_column", "target_column"), columns)
        allowed = "one character that is neither a line break nor a quote"
        require(len(self.separator) == 1 and self.separator not in '\r\n"', "separator", self.separator, allowed)

    @property
    def name(self) -> str:
        return describe(self.path)

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        files = paths(self.path)
        for file in files:
            check_file(file)
            self._layout(file)
        if self.quoting:  # where a row ends is known only when it is read, and so the first ones are
            return begun(islice(chain.from_iterable(self._read(file, self._header) for file in files), start, None))
        left = files_after(files, start, self._header)
        return begun(chain.from_iterable(self._read(file, passed) for file, passed in left))

    def count(self) -> int:
        if self.quoting:
            return super().count()
        return sum(count_lines(file) - self._header for file in paths(self.path))

    @property
    def _header(self) -> int:
        return int(isinstance(self.source_column, str))

    def _read(self, file: Path, passed: int) -> Iterator[Pair]:
        """The pairs of one file after so many rows."""
        width, source, target = self._layout(file)
        for number, cells in self._rows(file, passed):
            if len(cells) != width:
                raise UserError(f"{file}, row {number} has {_columns(len(cells))}, and row 1 has {width}")
            yield cells[source], cells[target]

    def _layout(self, file: Path) -> tuple[int, int, int]:
        """How many columns the file has, and which of them, from 0, are the source and the target."""
        _, cells = next(self._rows(file, 0), (1, None))
        if cells is None:
            if self._header:
                raise UserError(f"{file} is empty, and its first row is to name the columns")
            return 0, 0, 0
        source, target = (self._place(file, cells, column) for column in (self.source_column, self.target_column))
        return len(cells), source, target

    def _place(self, file: Path, cells: list[str], column: int | str) -> int:
        if isinstance(column, int):
            if column > len(cells):
                raise UserError(f"{file} has {_columns(len(cells))} in row 1, and column {column} is asked for")
            return column - 1
        if cells.count(column) != 1:
            named = "no column" if column not in cells else "more than one column"
            raise UserError(f"{file} has {named} {column!r}; there are: {', '.join(cells)}")
        return cells.index(column)

    def _rows(self, file: Path, passed: int) -> Rows:
        if self.quoting:
            return islice(_quoted(file, self.separator), passed, None)
        lines = enumerate(read_lines(file, passed), start=passed + 1)
        return ((number, line.split(self.separator)) for number, line in lines)


def _quoted(file: Path, separator: str) -> Rows:
    with open_binary(file) as stream:
        lines = (raw + "\n" for raw in decode_lines(stream, str(file)))
        rows = csv.reader(lines, delimiter=separator, strict=True)
        number = 0
        while True:
            number += 1
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise UserError(f"{file}, row {number}: {error}") from error
            yield number, [one_line(cell) for cell in cells]


def _columns(count: int) -> str:
    return f"{count} column{'' if count == 1 else 's'}"
