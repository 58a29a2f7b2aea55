"""Where a side runs ahead of the other or falls behind: a line is missing here, or one too many there.

Line i of the source belongs with line i + d of the target, and d changes where a line was lost. The path of d that
explains the lines best is Viterbi's over blocks of lines; each change is then placed to the line. What speaks for a
pair is its log-likelihood ratio against two lines drawn apart: of the logarithms of its lengths, which are nearly
normal and correlated (Gale & Church 1993), of its last characters, and of its digits, whose tables the corpus teaches.

Shape letters: N source lines, M target lines, D offsets tried, B blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

CODES = 32  # values of a line's code
NEAR = 20  # offsets tried at either side of 0, and of the difference of the counts
FAR = 8  # offsets further off that the lengths as a whole suggest
FAR_LINES = 4_000_000  # beyond so many they are not looked for, as that would need much memory
PEAK = 7.0  # standard deviations that such a suggestion stands out by
BLOCK = 16  # lines
CHANGE = 25.0  # nats against every change of the offset
LOST = 100.0  # nats against leaving all offsets
LEAST_LINES = 60  # fewer tell nothing
LEAST_CORRELATION = 0.3  # of lengths along the path; below, lengths tell nothing
FIRST_GUESS = 0.7  # of that correlation
BOUND = 4.0  # nats that a single feature of a pair may say for or against it
DOUBT = 50.0  # pairs that a table of codes is smoothed by


@dataclass(frozen=True)
class Lines:
    """One side as figures, each N long: characters (-1: not known, 0: blank), and two codes below CODES."""

    characters: NDArray[np.int32]
    ends: Bytes
    digits: Bytes

    def __len__(self) -> int:
        return len(self.characters)


@dataclass(frozen=True)
class Shift:
    """From source line `line` (from 1) on, its target stands `offset` lines further down (negative: up) than it should,
    and before it `before` lines. None: the lines there belong together at no offset."""

    line: int
    before: int | None
    offset: int | None


@dataclass(frozen=True)
class Fit:
    """The shifts in order, and the correlation of the logarithms of the lengths of what belongs together."""

    shifts: Sequence[Shift]
    correlation: float


def end_code(line: str) -> int:
    """Of the last character: 0 for a letter, a digit or no character."""
    last = line[-1:]
    return 0 if not last or last.isalnum() else ord(last) % (CODES - 1) + 1


def digit_code(digits: str) -> int:
    """Of all digits of a line, joined: 0 for none."""
    return sum(map(ord, digits)) % (CODES - 1) + 1 if digits else 0


def find_shifts(source: Lines, target: Lines) -> Fit | None:
    """None where there are too few lines to tell. O(N D) time, O(N) memory."""
    if min(len(source), len(target)) < LEAST_LINES:
        return None
    xs, ys = _standard(source), _standard(target)
    offsets = _offsets(xs, ys)
    model = Model(xs, ys, source, target)
    path = _best_path(model, offsets)
    model.learn(path)
    path = _best_path(model, offsets)
    model.learn(path)
    correlation = model.correlation
    return Fit(_shifts(model, path) if correlation >= LEAST_CORRELATION else (), correlation)


def _standard(lines: Lines) -> Floats:
    """(N,) logarithms of lengths, mean 0 and deviation 1; NaN where there is no text."""
    known = lines.characters > 0
    logs: Floats = np.full(len(lines), np.nan, np.float32)
    logs[known] = np.log(lines.characters[known])
    spread = float(np.nanstd(logs)) if known.any() else 0.0
    centre = np.float32(np.nanmean(logs)) if known.any() else np.float32(0)
    standard: Floats = (logs - centre) / np.float32(max(spread, 1e-6))
    return standard


def _offsets(xs: Floats, ys: Floats) -> list[int]:
    """(D,) what is tried: near 0, near the difference of the counts, and where all lengths together have a peak."""
    gap = len(ys) - len(xs)
    near = {d for centre in (0, gap) for d in range(centre - NEAR, centre + NEAR + 1)}
    return sorted(near | _far(xs, ys) if max(len(xs), len(ys)) <= FAR_LINES else near)


def _far(xs: Floats, ys: Floats) -> set[int]:
    """Where the lengths of one side, moved along the other, agree with them more than by accident."""
    size = 1 << (len(xs) + len(ys)).bit_length()
    spectra = [np.fft.rfft(np.nan_to_num(side), size) for side in (xs, ys)]
    together = np.fft.irfft(np.conj(spectra[0]) * spectra[1], size) / np.sqrt(min(len(xs), len(ys)))
    peaks = [int(k) for k in np.argsort(together)[-FAR:] if together[k] > PEAK]
    return {k if k < len(ys) else k - size for k in peaks}


class Model:
    """What speaks for line i of the source with line j of the target."""

    def __init__(self, xs: Floats, ys: Floats, source: Lines, target: Lines) -> None:
        self.xs, self.ys = xs, ys
        self.codes = [(source.ends, target.ends), (source.digits, target.digits)]
        self.correlation = FIRST_GUESS
        self.tables: list[Floats] = []

    def score(self, begin: int, end: int, offset: int) -> Floats:
        """(end - begin,) nats for source lines begin to end at the offset; 0 where one is blank or not there."""
        scores = np.zeros(end - begin, np.float32)
        low, high = max(begin, -offset, 0), min(end, len(self.ys) - offset)
        if low >= high:
            return scores
        here, there = slice(low, high), slice(low + offset, high + offset)
        found = _normal_ratio(self.xs[here], self.ys[there], self.correlation)
        for table, (left, right) in zip(self.tables, self.codes, strict=False):
            found += table[left[here], right[there]]
        scores[low - begin : high - begin] = np.nan_to_num(found)
        return scores

    def learn(self, path: Sequence[Stretch]) -> None:
        """Correlation and tables from the pairs along the path."""
        lines = [np.arange(s.begin, s.end) for s in path if s.offset is not None]
        places = [np.arange(s.begin, s.end) + s.offset for s in path if s.offset is not None]
        here, there = np.concatenate([*lines, _NONE]), np.concatenate([*places, _NONE])
        inside = (there >= 0) & (there < len(self.ys))
        here, there = here[inside], there[inside]
        known = ~np.isnan(self.xs[here] + self.ys[there])
        here, there = here[known], there[known]
        self.correlation = _correlation(self.xs[here], self.ys[there])
        self.tables = [_table(left[here], right[there]) for left, right in self.codes]


_NONE = np.zeros(0, np.int64)


def _normal_ratio(xs: Floats, ys: Floats, correlation: float) -> Floats:
    """ln p(x, y) / p(x) p(y) of standard normal variables with this correlation, bounded."""
    r = min(max(correlation, 0.05), 0.95)
    square = 1 - r * r
    exponent = (2 * r * xs * ys - r * r * (xs * xs + ys * ys)) / (2 * square)
    ratio: Floats = np.clip(exponent - 0.5 * np.log(square), -BOUND, BOUND).astype(np.float32)
    return ratio


def _correlation(xs: Floats, ys: Floats) -> float:
    """0 where one side does not vary."""
    if len(xs) < 2 or not (xs.std() > 1e-6 and ys.std() > 1e-6):
        return 0.0
    return float(np.corrcoef(xs, ys)[0, 1])


def _table(left: Bytes, right: Bytes) -> Floats:
    """(CODES, CODES) ln p(a, b) / p(a) p(b), smoothed towards 0."""
    joint = np.bincount(left.astype(np.int64) * CODES + right, minlength=CODES * CODES).astype(np.float64)
    joint = joint.reshape(CODES, CODES)
    count = max(joint.sum(), 1.0)
    apart = (joint.sum(1, keepdims=True) + 1) * (joint.sum(0, keepdims=True) + 1) / (count + CODES) ** 2
    smooth = (joint + DOUBT * apart) / (count + DOUBT)
    table: Floats = np.clip(np.log(smooth / apart), -BOUND, BOUND).astype(np.float32)
    return table


@dataclass(frozen=True)
class Stretch:
    """Source lines begin to end (from 0, end excluded) with their target at one offset (None: at none)."""

    begin: int
    end: int
    offset: int | None


def _best_path(model: Model, offsets: Sequence[int]) -> list[Stretch]:
    """Viterbi's, of the offsets and of none. Where the counts differ, the last line stands at their difference."""
    count = len(model.xs)
    starts = np.arange(0, count, BLOCK)
    sums = np.stack([np.add.reduceat(model.score(0, count, d), starts) for d in offsets] + [np.zeros(len(starts))])
    gap = len(model.ys) - count
    last = offsets.index(gap) if gap else None
    states = _viterbi(sums.T, last)
    known = [*offsets, None]
    changes = [0, *(np.flatnonzero(np.diff(states)) + 1), len(states)]
    path = [
        Stretch(int(begin) * BLOCK, min(int(end) * BLOCK, count), known[states[begin]])
        for begin, end in pairwise(changes)
    ]
    return _placed(model, path)


def _viterbi(sums: NDArray[np.float64], last: int | None) -> NDArray[np.int64]:
    """(B,) the state of each block from (B, D + 1) nats, the last state being none."""
    blocks, states = sums.shape
    price = np.full(states, CHANGE)
    price[-1] = LOST
    back = np.zeros((blocks, states), np.int16)
    stay = np.arange(states, dtype=np.int16)
    best = sums[0] - np.where(np.arange(states) == states - 1, LOST, 0.0)
    for block in range(1, blocks):
        top = int(best.argmax())
        jump = best[top] - price
        moves = jump > best
        back[block] = np.where(moves, top, stay)
        best = np.where(moves, jump, best) + sums[block]
    path = np.zeros(blocks, np.int64)
    path[-1] = int(best.argmax()) if last is None else last
    for block in range(blocks - 1, 0, -1):
        path[block - 1] = back[block, path[block]]
    return path


def _placed(model: Model, path: list[Stretch]) -> list[Stretch]:
    """The same stretches with their borders moved to the line, by up to two blocks."""
    placed = path[:1]
    for after in path[1:]:
        before = placed[-1]
        low = max(before.begin + 1, after.begin - 2 * BLOCK)
        high = min(after.end, after.begin + 2 * BLOCK)
        gain = _scores(model, before.offset, low, high) - _scores(model, after.offset, low, high)
        border = low + int(np.concatenate([[0.0], np.cumsum(gain)]).argmax())
        placed[-1] = Stretch(before.begin, border, before.offset)
        placed.append(Stretch(border, after.end, after.offset))
    return placed


def _scores(model: Model, offset: int | None, begin: int, end: int) -> Floats:
    return np.zeros(end - begin, np.float32) if offset is None else model.score(begin, end, offset)


def _shifts(model: Model, path: Sequence[Stretch]) -> list[Shift]:
    """Where the offset is another than before; before the first line it is 0. A change after the last pair is none: one
    side merely has more lines at its end."""
    shifts: list[Shift] = []
    before: int | None = 0
    for stretch in path:
        is_over = stretch.begin >= len(model.xs) or (before is not None and stretch.begin + before >= len(model.ys))
        if stretch.offset != before and not is_over:
            shifts.append(Shift(stretch.begin + 1, before, stretch.offset))
        before = stretch.offset
    return shifts
