"""What only a whole part tells, or two of them: lost lines, repeats, and pairs that are in training and in a test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nmt.data.doctor.examine import Examined, add_places
from nmt.data.doctor.findings import Finding, excerpt
from nmt.data.doctor.repeats import first_like, repeated, shared
from nmt.data.doctor.shift import Fit, Shift, find_shifts

LEAST_RELATED = 200  # lines from which on it is told that lengths don't go together
BARE = ("shift", "duplicate", "ambiguous", "leaked", "leaked_source", "leaked_target")
RELATED = 0.2  # correlation below which they don't


def add_shifts(found: Examined) -> None:
    """Unequal counts, and where every further side is shifted against the first."""
    counts, sides = found.counts, found.part.sides
    if not min(counts):
        found.tally.add(Finding("empty", None, 1, detail=sides[counts.index(0)]))
    fits = [find_shifts(found.figures[0].lines(), side.lines()) for side in found.figures[1:]]
    if len(set(counts)) > 1:
        told = ", ".join(f"{side} has {count:,}" for side, count in zip(sides, counts, strict=True))
        if all(fit is not None and fit.correlation >= RELATED and not fit.shifts for fit in fits):
            told += "; what all have belongs together: lines are missing at the end"
        found.tally.add(Finding("counts", None, max(counts) - min(counts), detail=told))
    for side, fit in zip(sides[1:], fits, strict=True):
        if fit is not None:
            _add_fit(found, side, fit)


def _add_fit(found: Examined, side: str, fit: Fit) -> None:
    first = fit.shifts[: found.tally.shown]
    if first:
        told = "; ".join(describe(shift, found.part.sides[0], side) for shift in first)
        lines, offsets = [shift.line for shift in first], [shift.offset for shift in first]
        found.tally.add(Finding("shift", side, len(fit.shifts), lines, offsets=offsets, detail=told))
    elif fit.correlation < RELATED and min(found.counts) >= LEAST_RELATED:
        told = f"correlation {fit.correlation:.2f}"
        found.tally.add(Finding("unrelated", side, min(found.counts), detail=told))


def describe(shift: Shift, source: str, target: str) -> str:
    """What happened, in words."""
    where = f"from about line {shift.line:,} on, "
    if shift.offset is None:
        return f"{where}no line of {target} that was tried fits"
    if shift.offset == 0:
        fits = "the lines fit again"
    else:
        fits = (
            f"line i of {source} belongs to line i {'+' if shift.offset > 0 else '-'} {abs(shift.offset):,} of {target}"
        )
    moved = shift.offset - (shift.before or 0)
    fewer, more = (target, source) if moved < 0 else (source, target)
    return f"{where}{fits} ({abs(moved):,} missing in {fewer}, or too many in {more})"


def add_repeats(found: Examined) -> None:
    """Rows that have come before, and sources that have come with another target."""
    sides, rows = found.digests()
    duplicates = found.duplicates()
    if len(duplicates):
        first = first_like(rows, rows[duplicates[0]]) + 1
        add_places(found, "duplicate", duplicates, f"line {duplicates[0] + 1:,} is line {first:,} again")
    if len(sides) == 2:
        usable = found.usable()
        usable[duplicates] = False
        add_places(found, "ambiguous", repeated(sides[0], np.flatnonzero(usable)))


def add_leaks(found: Examined, training: Sequence[Examined]) -> None:
    """Pairs of a held-out part that are in training too, and their sides alone."""
    if len(found.part.sides) != 2 or not training:
        return
    known = [other.digests() for other in training]
    sides, rows = found.digests()
    usable = np.flatnonzero(found.usable())
    others = np.concatenate([pairs for _, pairs in known])
    leaked = shared(rows, usable, others)
    if len(leaked):
        line = first_like(others, rows[leaked[0]]) + 1
        where = f"line {leaked[0] + 1:,} is pair {line:,} of train"
        add_places(found, "leaked", leaked, where)
    rest = np.setdiff1d(usable, leaked)
    for side, kind in enumerate(("leaked_source", "leaked_target")):
        others = np.concatenate([texts[side] for texts, _ in known])
        add_places(found, kind, shared(sides[side], rest, others))


def add_excerpts(found: Examined) -> None:
    """The first line of what only the whole told: the part is read again as far as needed."""
    bare = [finding for finding in found.tally.findings() if finding.kind in BARE and finding.lines]
    rows = found.part.lines_at({finding.lines[0] for finding in bare})
    for finding in bare:
        texts = [line for line in rows.get(finding.lines[0], ()) if line is not None]
        finding.excerpt = " ||| ".join(map(excerpt, texts)) if any(texts) else ""
