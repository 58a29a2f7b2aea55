"""Medians, ratios and ranges, and the Markdown that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple


class Side(NamedTuple):
    """One contestant: target tokens/s and peak memory in MiB, a value a round."""

    name: str
    rates: list[float]
    memory: list[float]


class Ratio(NamedTuple):
    """Of the medians; and the least and greatest of the rounds' own."""

    of_medians: float
    least: float
    greatest: float

    def __str__(self) -> str:
        return f"{self.of_medians:.2f} ({self.least:.2f} to {self.greatest:.2f})"


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Ours to theirs, value i of both from round i."""
    rounds = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return Ratio(median(ours) / median(theirs), min(rounds), max(rounds))


def spread(values: Sequence[float]) -> str:
    """Least to greatest, whole numbers."""
    return f"{min(values):,.0f} to {max(values):,.0f}"


def comparison(ours: Side, peers: Sequence[Side], flop: float, peak: float) -> str:
    """A line a side. flop: of a target token; peak: FLOP a second of the machine's matrix product."""
    heads = ["", "target tokens/s", "range", "peak memory, MiB", "ours to it (rounds)", "share of product peak"]
    rows = [
        [
            side.name,
            f"{median(side.rates):,.0f}",
            spread(side.rates),
            f"{max(side.memory):,.0f}",
            "" if side is ours else str(ratio(ours.rates, side.rates)),
            f"{median(side.rates) * flop / peak:.0%}",
        ]
        for side in (ours, *peers)
    ]
    return markdown(heads, rows)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, its first column to the left and all others to the right."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))
