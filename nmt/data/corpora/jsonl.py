"""JSON lines: an object a line, with a key a language, or one key `translation` of such an object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.data.corpora.corpus import Corpus, Pair, begun
from nmt.data.corpora.values import check_different, check_files, check_text, describe, paths, text_of
from nmt.data.lines import check_file, count_lines, files_after, is_blank, read_lines
from nmt.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Jsonl(Corpus):
    """The texts of two keys, of one file or of several. source_key, target_key: None stands for the language."""

    path: str | list[str]
    source_key: str | None = None
    target_key: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_files("path", self.path)
        for key in ("source_key", "target_key"):
            if getattr(self, key) is not None:
                check_text(key, getattr(self, key))
        check_different(("source_key", "target_key"), self._keys)

    @property
    def name(self) -> str:
        return describe(self.path)

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        files = paths(self.path)
        for file in files:
            check_file(file)
        return begun(self._read(files, start))

    def count(self) -> int:
        return sum(map(count_lines, paths(self.path)))

    @property
    def _keys(self) -> tuple[str, str]:
        return self.source_key or self.source_language, self.target_key or self.target_language

    def _read(self, files: list[Path], start: int) -> Iterator[Pair]:
        source, target = self._keys
        for file, passed in files_after(files, start):
            for number, line in enumerate(read_lines(file, passed), start=passed + 1):
                where = f"{file}, line {number}"
                entry = _entry(line, where)
                yield _text(entry, source, where), _text(entry, target, where)


def _entry(line: str, where: str) -> dict[str, Any]:
    """The object of the line that has the texts."""
    if is_blank(line):
        raise UserError(f"{where}: this line is blank, where a JSON object belongs")
    try:
        row = DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: this is no JSON object ({error})") from error
    if not isinstance(row, dict):
        raise UserError(f"{where}: this is no JSON object but {type(row).__name__}")
    inner = row.get("translation")
    return inner if isinstance(inner, dict) else row


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    if key not in entry:
        raise UserError(f"{where}: there is no {key!r}; it has: {', '.join(entry)}")
    text = text_of(entry[key], key, where)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{where}: {key!r} has half of a surrogate pair, which is no character") from error
    return text


def _unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(items)
    if len(entry) != len(items):
        twice = next(key for place, (key, _) in enumerate(items) if key in dict(items[:place]))
        raise ValueError(f"the key {twice!r} comes twice")
    return entry


DECODER = json.JSONDecoder(object_pairs_hook=_unique)
