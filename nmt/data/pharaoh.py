"""Word links in Pharaoh format, one sentence a line: `0-0 1-2 2p1`, source before target.

`s-t` is a sure link, `spt` or `s?t` a possible one (Och & Ney 2003). Written files count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nmt.data.corpus import read_lines
from nmt.errors import UserError

FIELD = re.compile(r"([0-9]+)([-p?])([0-9]+)")


class Links(NamedTuple):
    """(source word, target word) pairs from 0. `possible` holds all of `sure`, as the error rate's formulas want it."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def parse_links(text: str, *, one_based: bool = False) -> Links:
    """One line -> its links; a blank line has none. UserError: a field that is no link, or 0 when counted from 1."""
    fields = [_parse_field(field, int(one_based)) for field in text.split()]
    return Links(
        frozenset(link for link, sure in fields if sure),
        frozenset(link for link, _ in fields),
    )


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """The links as `s-t`, sorted, joined by single spaces; no links give an empty text."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def read_links(path: Path, one_based: bool = False) -> list[Links]:
    """All lines of a file. UserError names file and line (from 1)."""
    return [_parse_line(line, path, number, one_based) for number, line in enumerate(read_lines(path), start=1)]


def _parse_field(field: str, base: int) -> tuple[tuple[int, int], bool]:
    match = FIELD.fullmatch(field)
    if match is None:
        raise UserError(f"{field!r} is not a link: write 1-2 for a sure one, 1p2 or 1?2 for a possible one")
    source, target = int(match[1]) - base, int(match[3]) - base
    if source < 0 or target < 0:
        raise UserError(f"{field!r}: words are counted from 1 here")
    return (source, target), match[2] == "-"


def _parse_line(line: str, path: Path, number: int, one_based: bool) -> Links:
    try:
        return parse_links(line, one_based=one_based)
    except UserError as error:
        raise UserError(f"{path}, line {number}: {error}") from error
