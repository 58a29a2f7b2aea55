"""One part of a corpus read once: what is wrong with its lines and pairs, and figures for what only the whole tells."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt.data.doctor.characters import examine_line
from nmt.data.doctor.findings import Finding, Tally
from nmt.data.doctor.language import Judge
from nmt.data.doctor.reading import Part, Row
from nmt.data.doctor.repeats import Digests, Places, repeated, together
from nmt.data.doctor.shift import Lines, digit_code, end_code
from nmt.progress import progress

RATIO = 9  # of the words of the longer side to those of the shorter, from which on it is told
EVERY = 1000  # lines from one step of the bar to the next

_digits = re.compile("[0-9]").findall


class Figures:
    """Of one side, a value a line, of the mended text. characters: -1 where the line is no UTF-8."""

    def __init__(self) -> None:
        self.characters, self.words, self.digests = array("i"), array("i"), array("q")
        self.ends, self.digits = array("B"), array("B")

    def add(self, line: str, is_known: bool) -> int:
        """One more line, mended. Returns its words."""
        words = line.count(" ") + 1 if line else 0
        self.characters.append(len(line) if is_known else -1)
        self.words.append(words)
        self.digests.append(hash(line))
        self.ends.append(end_code(line))
        self.digits.append(digit_code("".join(_digits(line))))
        return words

    def lines(self) -> Lines:
        """For the search for shifts."""
        characters = np.frombuffer(self.characters, np.int32)
        return Lines(characters, np.frombuffer(self.ends, np.uint8), np.frombuffer(self.digits, np.uint8))

    def texts(self) -> Digests:
        """(N,) a digest of each line."""
        return np.frombuffer(self.digests, np.int64).astype(np.uint64)

    def lengths(self) -> NDArray[np.int32]:
        """(N,) words."""
        return np.frombuffer(self.words, np.int32)


@dataclass(frozen=True)
class Examined:
    """A part, what was found in it, and its figures, a set a side."""

    part: Part
    tally: Tally
    figures: Sequence[Figures]

    @property
    def counts(self) -> list[int]:
        """Lines of each side."""
        return [len(side.words) for side in self.figures]

    def usable(self) -> NDArray[np.bool_]:
        """(N,) rows with text on every side, all of it UTF-8. N: lines of the shortest side."""
        count = min(self.counts)
        known = np.ones(count, bool)
        for side in self.figures:
            known &= side.lines().characters[:count] > 0
        return known

    def digests(self) -> tuple[list[Digests], Digests]:
        """(N,) of each side, and of whole rows."""
        count = min(self.counts)
        sides = [side.texts()[:count] for side in self.figures]
        return sides, together(sides)

    def duplicates(self) -> Places:
        """Rows that have come before, from 0."""
        return repeated(self.digests()[1], np.flatnonzero(self.usable()))


def examine(part: Part, *, shown: int, max_words: int, judge: Judge | None = None) -> Examined:
    """Read the part. shown: line numbers a finding. UserError where it can't be read to its end."""
    tally = Tally(shown)
    found = Examined(part, tally, [Figures() for _ in part.sides])
    with progress(f"reading {part.role}", unit="lines", total=part.count()) as bar:
        for number, (row, offsets) in enumerate(part.rows(tally), start=1):
            mended, words = _lines(found, number, row, offsets, max_words)
            if len(mended) == len(part.sides) > 1:
                _pair(tally, number, row, mended, words)
                if judge is not None and len(mended) == 2:
                    judge.look(tally, number, *mended)
            elif mended == [""] and len(part.sides) == 1:
                tally.note("blank", None, number)
            if not number % EVERY:
                bar.advance(EVERY)
    if judge is not None:
        judge.sum_up(tally)
    return found


def _lines(
    found: Examined, number: int, row: Row, offsets: Sequence[int], max_words: int
) -> tuple[list[str], list[int]]:
    """Of the sides that have not ended: mended lines, and their words."""
    tally, sides, words = found.tally, [], []
    for index, line in enumerate(row):
        if line is None:
            continue
        name = found.part.sides[index]
        mended, faults = examine_line(line)
        is_known = True
        for kind, place in faults:
            finding = tally.note(kind, name, number, line, place=place)
            if kind == "utf8":
                is_known = False
                if offsets and len(finding.bytes) < tally.shown:
                    finding.bytes.append(offsets[index] + len(line[:place].encode("utf-8", "surrogateescape")))
        length = found.figures[index].add(mended, is_known)
        if length > max_words:
            tally.note("long", name, number, line, badness=length).detail = f"over {max_words}"
        sides.append(mended)
        words.append(length)
    return sides, words


def _pair(tally: Tally, number: int, row: Row, mended: Sequence[str], words: Sequence[int]) -> None:
    texts = [line or "" for line in row]
    least = min(words)
    if not least:
        if any(words):
            tally.note("one_blank", None, number, *texts)
        else:
            tally.note("blank", None, number)
        return
    if max(words) > RATIO * least:
        tally.note("ratio", None, number, *texts, badness=max(words) / least)
    if mended.count(mended[0]) == len(mended):
        tally.note("identical", None, number, *texts)


def add_places(found: Examined, kind: str, places: Places, detail: str = "") -> None:
    """A finding of rows (from 0) that only the whole part tells."""
    if len(places):
        lines = [int(place) + 1 for place in places[: found.tally.shown]]
        found.tally.add(Finding(kind, None, len(places), lines, detail=detail))
