"""A matrix as a picture: source words across, target words down, the darker the more attention.

Words are shown as they are: `$`, `_` and `\\` are never read as mathematics, a script that the main font lacks is
taken from whatever fonts the machine has, and in SVG text stays text.
"""

from __future__ import annotations

import io
import logging
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from nmt.align.colours import even_colours
from nmt.align.matrix import AlignmentMatrix
from nmt.data.files import open_whole
from nmt.data.pharaoh import Links
from nmt.errors import UserError

SUFFIXES = (".png", ".svg", ".pdf")
GOLD = "#e8590c"
EOS = "</s>"

_NUMBERS_UP_TO = 16  # words a side: beyond that, numbers in the cells are too many to be read
_LONGEST_LABEL = 32  # characters
_LARGEST_SIDE = 100.0  # inches of grid; very long pairs get smaller cells rather than a picture nothing can open
_MOST_PIXELS = 50e6

# In order of preference; those that a machine lacks are passed over.
_FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Noto Sans JP",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Sans Arabic",
    "Noto Naskh Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Tamil",
    "Noto Sans Thai",
    "Noto Sans Ethiopic",
    "Noto Sans Georgian",
    "Noto Sans Armenian",
    "Noto Sans Symbols",
    "Noto Sans Symbols 2",
    "Noto Emoji",
    "Segoe UI Symbol",
    "Apple Symbols",
)


def draw_heatmap(
    matrix: AlignmentMatrix, path: Path, *, title: str = "", gold: Links | None = None, numbers: bool = True
) -> None:
    """Write the picture; the suffix of `path` (.png, .svg, .pdf) says which kind.

    `gold` links are outlined, sure ones by a full line, possible ones by a dashed line. `numbers` writes the weights
    with two decimals into the cells while there are few enough words. EOS has a column and a row of its own, set
    apart. Raises UserError for another suffix or a place that cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise UserError(f"{path}: a heatmap is written as {', '.join(SUFFIXES)}, not as '{path.suffix}'")
    with _our_settings(), _quiet_about_glyphs():
        figure = _figure(matrix, title, gold, numbers)
        picture = io.BytesIO()
        figure.savefig(picture, format=kind[1:], metadata=_undated(kind), bbox_inches="tight", pad_inches=0.15)
    with open_whole(path) as stream:
        stream.write(picture.getvalue())


@contextmanager
def _our_settings() -> Iterator[None]:
    """Text literal and, in SVG and PDF, kept as text, whatever this machine's matplotlibrc says."""
    with matplotlib.rc_context(
        {
            "text.parse_math": False,
            "text.usetex": False,
            "svg.fonttype": "none",
            "svg.hashsalt": "nmt",
            "pdf.fonttype": 42,
            "font.family": _fonts(),
        }
    ):
        yield


def _figure(matrix: AlignmentMatrix, title: str, gold: Links | None, numbers: bool) -> Figure:
    rows, columns = matrix.weights.shape
    cell = _cell_size(rows, columns)
    width, height = columns * cell, rows * cell
    figure = Figure(figsize=(width, height), dpi=min(150.0, (_MOST_PIXELS / (width * height)) ** 0.5))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    mesh = axes.pcolormesh(matrix.weights, cmap=even_colours(), vmin=0, vmax=1, edgecolors="0.92", linewidth=1.5 * cell)
    axes.invert_yaxis()
    _label(axes, matrix, size=26 * cell)
    _set_eos_apart(axes, rows, columns)
    if numbers and max(rows, columns) <= _NUMBERS_UP_TO + 1:
        _write_numbers(axes, matrix, size=18 * cell)
    if gold is not None:
        _outline(axes, gold, rows - 1, columns - 1)
    _colour_bar(figure, mesh, width, height)
    if title:
        axes.set_title(_shown(title), loc="left", fontsize=11, pad=10)
    return figure


def _cell_size(rows: int, columns: int) -> float:
    """Inches: roomy for a short pair, still readable for one of 80 words."""
    longest = max(rows, columns)
    return min(0.42 if longest <= _NUMBERS_UP_TO + 1 else 0.3 if longest <= 40 else 0.24, _LARGEST_SIDE / longest)


def _label(axes: Axes, matrix: AlignmentMatrix, *, size: float) -> None:
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=size)
    axes.set_xticks(_centres(matrix.source_words), _labels(matrix.source_words), rotation=90)
    axes.set_yticks(_centres(matrix.target_words), _labels(matrix.target_words))
    for spine in axes.spines.values():
        spine.set_visible(False)
    for label in (axes.get_xticklabels()[-1], axes.get_yticklabels()[-1]):
        _fade(label)


def _centres(words: Sequence[str]) -> list[float]:
    return [place + 0.5 for place in range(len(words) + 1)]


def _labels(words: Sequence[str]) -> list[str]:
    return [*map(_shown_word, words), EOS]


def _fade(label: Text) -> None:
    label.set_color("0.6")


def _set_eos_apart(axes: Axes, rows: int, columns: int) -> None:
    axes.axhline(rows - 1, color="0.6", linewidth=0.8)
    axes.axvline(columns - 1, color="0.6", linewidth=0.8)


def _write_numbers(axes: Axes, matrix: AlignmentMatrix, *, size: float) -> None:
    for (t, s), weight in np.ndenumerate(matrix.weights):
        if weight >= 0.005:  # what would read 0.00 says nothing
            ink = "white" if weight > 0.45 else "0.25"
            axes.text(s + 0.5, t + 0.5, f"{weight:.2f}", ha="center", va="center", fontsize=size, color=ink)


def _outline(axes: Axes, gold: Links, rows: int, columns: int) -> None:
    for s, t in sorted(gold.possible):
        if s >= columns or t >= rows:
            raise ValueError(f"gold link {s}-{t} lies outside a pair of {columns} and {rows} words")
        line = "solid" if (s, t) in gold.sure else (0, (2, 2))
        frame = Rectangle((s + 0.06, t + 0.06), 0.88, 0.88, fill=False, linestyle=line, linewidth=1.5)
        frame.set_edgecolor(GOLD)
        axes.add_patch(frame)


def _colour_bar(figure: Figure, mesh: QuadMesh, width: float, height: float) -> None:
    """Beside the grid, of the same thickness for every size of picture."""
    tall = min(1.0, max(1.2, min(height, 4.0)) / height)
    axes = figure.add_axes((1 + 0.2 / width, 1 - tall, 0.14 / width, tall))
    bar = figure.colorbar(mesh, cax=axes, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=2, labelsize=8)
    bar.set_label("weight", fontsize=8)


def _shown(text: str) -> str:
    """The text with an open box for what cannot be drawn, or may not stand in SVG."""
    return "".join("\u2423" if _is_invisible(character) else character for character in text)


def _shown_word(word: str) -> str:
    shown = _shown(word)
    return shown if len(shown) <= _LONGEST_LABEL else shown[: _LONGEST_LABEL - 1] + "…"


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in "\ufffe\uffff"


@cache
def _fonts() -> list[str]:
    there = {font.name for font in fontManager.ttflist}
    return [*(name for name in _FONTS if name in there), "sans-serif"]


def _undated(kind: str) -> dict[str, None]:
    """Metadata without the clock, so that the same matrix gives the same bytes."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}[kind]


@contextmanager
def _quiet_about_glyphs() -> Iterator[None]:
    """A machine without a font for some script still gets its picture, with boxes, not a page of warnings."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
            yield
    finally:
        logger.setLevel(level)
