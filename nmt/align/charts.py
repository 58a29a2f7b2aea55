"""Small charts for a report, as SVG: how a number is distributed over sentences, and a number by groups of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from nmt.align.colours import DARK
from nmt.align.figure import drawing, saved

BINS = 20
_ACROSS = 3  # charts in a row


class Distribution(NamedTuple):
    """Numbers of sentences; low and high: the ends of the axis, None where the numbers say them."""

    values: Sequence[float]
    unit: str
    low: float | None = None
    high: float | None = None


def histograms(distributions: Mapping[str, Distribution]) -> bytes:
    """One chart each, under its name; a line marks the median. Those without values have none."""
    filled = {name: one for name, one in distributions.items() if len(one.values)}
    down = max(1, -(-len(filled) // _ACROSS))
    with drawing():
        figure = Figure(figsize=(3.2 * _ACROSS, 2.3 * down), dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        for place, (name, one) in enumerate(filled.items(), start=1):
            _draw_histogram(figure.add_subplot(down, _ACROSS, place), name, one)
        return saved(figure, "svg")[0]


def bars(names: Sequence[str], values: Sequence[float | None], *, across: str, up: str) -> bytes:
    """A bar for each name, from 0; none where there is no value. `across` and `up` are what the axes say."""
    with drawing():
        figure = Figure(figsize=(6.4, 2.8), dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        heights = [value or 0.0 for value in values]
        axes.bar(range(len(names)), heights, width=0.7, color=DARK)
        for place, value in enumerate(values):
            if value is not None:
                axes.text(place, value, f"{value:.1f}", ha="center", va="bottom", fontsize=8)
        axes.set_xticks(range(len(names)), names, fontsize=8)
        _dress(axes, across, up)
        return saved(figure, "svg")[0]


def _draw_histogram(axes: Axes, name: str, one: Distribution) -> None:
    values = np.asarray(one.values, dtype=np.float64)
    low = float(values.min()) if one.low is None else one.low
    high = float(values.max()) if one.high is None else one.high
    high = high if high > low else low + 1
    axes.hist(np.clip(values, low, high), bins=BINS, range=(low, high), color=DARK, edgecolor="white", linewidth=0.5)
    axes.axvline(float(np.median(values)), color="#e8590c", linewidth=1.2)
    axes.set_title(f"{name}, median {np.median(values):.3g}", loc="left", fontsize=9)
    _dress(axes, one.unit, "sentences")


def _dress(axes: Axes, across: str, up: str) -> None:
    axes.set_xlabel(across, fontsize=8)
    axes.set_ylabel(up, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
