"""How long the lines are, and how much longer one side is than the other, as bars of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 12  # of lengths, the open last one included
WIDTH = 24  # characters of the longest bar
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
RATIOS = (1 / 4, 1 / 3, 1 / 2, 2 / 3, 0.8, 0.9, 1.1, 1.25, 1.5, 2, 3, 4)
LABELS = ("0.25", "0.33", "0.5", "0.67", "0.8", "0.9", "1.1", "1.25", "1.5", "2", "3", "4")


@dataclass(frozen=True)
class Histogram:
    """labels of the rows; counts: a column a name, each as long as the labels."""

    title: str
    labels: Sequence[str]
    counts: dict[str, list[int]]

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"title": self.title, "labels": list(self.labels), "counts": self.counts}

    def __str__(self) -> str:
        first = max(len(self.title), *map(len, self.labels))
        columns = [_column(name, counts) for name, counts in self.counts.items()]
        rows = zip([self.title, *self.labels], *columns, strict=True)
        return "\n".join("  ".join([f"{label:>{first}}", *cells]).rstrip() for label, *cells in rows)


def _column(name: str, counts: Sequence[int]) -> list[str]:
    """Heading and cells, all equally wide."""
    most = max(*counts, 1)
    digits = max(len(f"{count:,}") for count in counts)
    bars = ["█" * -(-WIDTH * count // most) for count in counts]
    cells = [f"{count:>{digits},} {bar}" for count, bar in zip(counts, bars, strict=True)]
    width = max(len(name), digits + 1 + WIDTH)
    return [f"{cell:<{width}}" for cell in (name, *cells)]


def length_histogram(sides: dict[str, NDArray[np.int32]]) -> Histogram:
    """Words a line, the sides beside one another. Nearly all lines are before the last row."""
    every = np.concatenate(list(sides.values()))
    reach = float(np.quantile(every, 0.99)) if len(every) else 1.0
    step = next((step for step in STEPS if 1 + step * (ROWS - 2) > reach), 0) or -(-int(reach) // (10 * ROWS - 20)) * 10
    borders = [1, *(1 + step * row for row in range(1, ROWS - 1))]
    labels = ["0", *(f"{b}-{b + step - 1}" if step > 1 else f"{b}" for b in borders[:-1]), f"{borders[-1]} or more"]
    counts = {
        name: np.bincount(np.searchsorted(borders, words, side="right"), minlength=ROWS).tolist()
        for name, words in sides.items()
    }
    return Histogram("words", labels, counts)


def ratio_histogram(source: NDArray[np.int32], target: NDArray[np.int32]) -> Histogram:
    """Target words a source word, of the pairs with text on both sides."""
    count = min(len(source), len(target))
    source, target = source[:count], target[:count]
    filled = (source > 0) & (target > 0)
    ratios = target[filled] / source[filled]
    counts = np.bincount(np.searchsorted(RATIOS, ratios, side="right"), minlength=len(RATIOS) + 1)
    labels = [
        f"below {LABELS[0]}",
        *map("-".join, pairwise(LABELS)),
        f"{LABELS[-1]} or more",
    ]
    return Histogram("target/source", labels, {"pairs": counts.tolist()})
