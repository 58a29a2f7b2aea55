"""BLEU by source length, a line a kind: the picture of Bahdanau (2015, figure 2).

Each line is named at its end, in its colour, so that many of them can be told apart; names that would lie on one
another are moved, and a thin line leads to what they name.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from nmt.align.colours import distinct_colours
from nmt.compare.kinds import Kind, label
from nmt.compare.lengths import Bin
from nmt.data.files import open_whole

MARKERS = "osD^vP*X<>"
LABEL_HEIGHT = 0.19  # inches


def draw_lengths(kinds: Sequence[Kind], bins: Sequence[Bin], paths: Sequence[Path], *, title: str) -> None:
    """Write the picture to each path, as its suffix (.png, .svg) says. A kind that has no scores has no line."""
    drawn = [(label(kind, kinds), kind.mean_by_length()) for kind in kinds if kind.measured]
    with matplotlib.rc_context(
        # Text literal and, in SVG, kept as text, whatever this machine's matplotlibrc says.
        {"text.parse_math": False, "text.usetex": False, "svg.fonttype": "none", "svg.hashsalt": "nmt"}
    ):
        figure = _figure(drawn, bins, title)
        for path in paths:
            picture = io.BytesIO()
            kind = path.suffix[1:]
            undated = {"Date": None} if kind == "svg" else {}  # the same numbers give the same bytes
            figure.savefig(picture, format=kind, metadata=undated, bbox_inches="tight", pad_inches=0.15)
            with open_whole(path) as stream:
                stream.write(picture.getvalue())


def spread_apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least `gap` from one another between `low` and `high`, in the same order, with the least sum of squared
    moves; there must be room for all.

    Less i times the gap, the i-th smallest must not lie below the one before: pool those that do (isotonic regression).
    """
    order = np.argsort(places, kind="stable")
    pools: list[tuple[float, int]] = []  # mean, size
    for rank, place in enumerate(np.asarray(places, dtype=float)[order]):
        mean, size = place - rank * gap, 1
        while pools and pools[-1][0] > mean:
            other, others = pools.pop()
            mean, size = (mean * size + other * others) / (size + others), size + others
        pools.append((mean, size))
    levels = np.repeat([mean for mean, _ in pools], [size for _, size in pools])
    moved = levels.clip(low, high - gap * (len(places) - 1)) + gap * np.arange(len(places))
    return [float(moved[rank]) for rank in np.argsort(order, kind="stable")]


def _figure(drawn: Sequence[tuple[str, list[float | None]]], bins: Sequence[Bin], title: str) -> Figure:
    height = max(4.2, 1.4 * LABEL_HEIGHT * len(drawn))
    figure = Figure(figsize=(7.0, height), dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    colours = distinct_colours(len(drawn))
    for place, (_, scores) in enumerate(drawn):
        values = [np.nan if score is None else score for score in scores]
        marker = MARKERS[place % len(MARKERS)]
        axes.plot(values, color=colours[place], marker=marker, markersize=4.5, linewidth=1.4)
    _label_axes(axes, bins, title)
    _name_lines(axes, drawn, colours, len(bins) - 1, height)
    return figure


def _label_axes(axes: Axes, bins: Sequence[Bin], title: str) -> None:
    axes.set_xticks(range(len(bins)), [f"{one}\n{one.sentences}" for one in bins])
    axes.set_xlabel("source words; below them, the number of sentences")
    axes.set_ylabel("BLEU")
    axes.set_title(title, loc="left", fontsize=10)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    axes.set_xlim(-0.15, len(bins) - 1 + 0.1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _name_lines(
    axes: Axes,
    drawn: Sequence[tuple[str, list[float | None]]],
    colours: Sequence[tuple[float, float, float]],
    last: int,
    height: float,
) -> None:
    """At the right edge, from best to worst in the last bin."""
    ends = [(place, scores[-1]) for place, (_, scores) in enumerate(drawn) if scores[-1] is not None]
    low, high = axes.get_ylim()
    places = spread_apart([end for _, end in ends], (high - low) * LABEL_HEIGHT / height, low, high)
    for (line, end), place in zip(ends, places, strict=True):
        axes.annotate(
            drawn[line][0],
            xy=(last, end),
            xytext=(last + 0.16 + 0.04 * last, place),
            color=colours[line],
            va="center",
            fontsize=9,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colours[line], "linewidth": 0.6, "relpos": (0.0, 0.5)},
        )
