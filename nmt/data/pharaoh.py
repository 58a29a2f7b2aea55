"""Word links in Pharaoh format, one sentence a line: `0-0 1-2 2p1`, source before target.

`s-t` is a sure link, `spt` or `s?t` a possible one (Och & Ney 2003). Written files count from 0. `read_links` also
takes the form of the shared task of NAACL 2003 (Mihalcea & Pedersen 2003), one link a line: `0001 1 2 S`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nmt.data.lines import read_lines
from nmt.errors import UserError

FIELD = re.compile(r"([0-9]+)([-p?])([0-9]+)")
# Sentence, source and target word, all from 1 (a word 0 is none); sure or possible; confidence.
NAACL_LINE = re.compile(r"([0-9]+)\s+([0-9]+)\s+([0-9]+)(?:\s+([SP]))?(?:\s+[0-9]*\.?[0-9]+)?", re.ASCII)
NAACL_TAG = re.compile(r"<[^<>]*>")


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


def check_inside(links: Links, sources: int, targets: int, where: str) -> None:
    """UserError, which begins with `where`, for a link to a word that a pair of so many words does not have."""
    for s, t in sorted(links.possible):
        if s >= sources or t >= targets:
            size = f"{sources} source and {targets} target words, counted from 0"
            raise UserError(f"{where}: the link {s}-{t} lies outside the pair of {size}")


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """The links as `s-t`, sorted, joined by single spaces; no links give an empty text."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def read_links(path: Path, one_based: bool = False) -> list[Links]:
    """The links of every sentence of a file. UserError names file and line (from 1).

    The first line with text tells the form. The NAACL form always counts from 1, whatever `one_based` says; sentences
    are those up to the last that has a link, links to word 0 (none) are left out, and so are lines of a single tag.
    """
    lines = list(read_lines(path))
    first = next((line.strip() for line in lines if line.strip()), "")
    if NAACL_LINE.fullmatch(first) or NAACL_TAG.fullmatch(first):
        return _naacl_sentences(lines, path)
    return [_parse_line(line, path, number, one_based) for number, line in enumerate(lines, start=1)]


def iterate_links(path: Path, one_based: bool = False) -> Iterator[Links]:
    """The links of a file in Pharaoh format, one line at a time. UserError names file and line (from 1)."""
    return (_parse_line(line, path, number, one_based) for number, line in enumerate(read_lines(path), start=1))


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


def _naacl_sentences(lines: Iterable[str], path: Path) -> list[Links]:
    sure: dict[int, set[tuple[int, int]]] = defaultdict(set)
    possible: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for number, line in enumerate(map(str.strip, lines), start=1):
        if not line or NAACL_TAG.fullmatch(line):
            continue
        match = NAACL_LINE.fullmatch(line)
        if match is None:
            raise UserError(f"{path}, line {number}: {line!r} is not `sentence source target [S|P]`")
        sentence, source, target = (int(match[group]) - 1 for group in (1, 2, 3))
        if sentence < 0:
            raise UserError(f"{path}, line {number}: {line!r}: sentences are counted from 1 here")
        links = {(source, target)} if source >= 0 and target >= 0 else set()
        possible[sentence] |= links
        sure[sentence] |= links if match[4] != "P" else set()
    return [Links(frozenset(sure[one]), frozenset(possible[one])) for one in range(max(possible, default=-1) + 1)]
