"""Matrices as a picture: source words across, target words down, the darker the more attention.

One matrix, or several side by side in rows with one scale for all: heads of a layer, mechanisms, sentences of a page.
Signed values have a scale of their own, white at 0. Lengths are in inches unless a name says otherwise.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from nmt.align.colours import diverging_colours, even_colours
from nmt.align.figure import drawing, in_drawn_order, kind_of, missing_characters, saved, shown
from nmt.align.matrix import AlignmentMatrix, Weights
from nmt.data.files import open_whole
from nmt.data.pharaoh import Links

GOLD = "#e8590c"
EOS = "</s>"
MOST_PANELS = 400

_NUMBERS_UP_TO = 16  # words a side: beyond that, numbers in the cells are too many to be read
_LONGEST_LABEL = 32  # characters
_LARGEST_SIDE = 100.0  # of all grids together; very long pairs get smaller cells rather than a picture nothing can open
_MOST_PIXELS = 50e6
_MOST_PATHS = 400  # cells of an SVG or PDF that are shapes; more become one embedded image, and the text stays text
_GAP = 0.25
_TITLE_POINTS = 9.0
_ASPECT = 1.5  # width over height that rows are broken for


class Outline(NamedTuple):
    """A frame around cells, from column and row on; solid for a sure link, dashed for a possible one."""

    column: int
    row: int
    width: int
    height: int
    is_sure: bool


class Panel(NamedTuple):
    """One matrix of a picture. raw: None for weights, of 0 to 1; otherwise what the signed values are called."""

    matrix: AlignmentMatrix
    title: str = ""
    outlines: Sequence[Outline] = ()
    raw: str | None = None


class Scale(NamedTuple):
    """The colours of all panels with one kind of values."""

    colours: Colormap
    low: float
    high: float
    label: str


class _Place(NamedTuple):
    """Where a panel's cells are: left and top from the picture's top left corner; which sides have words."""

    panel: Panel
    left: float
    top: float
    has_source: bool
    has_target: bool


class _Sizes(NamedTuple):
    cell: float
    words: float  # points
    numbers: float | None  # points; None where numbers in the cells would be too small


def draw_heatmap(
    matrix: AlignmentMatrix, path: Path, *, title: str = "", gold: Links | None = None, numbers: bool = True
) -> frozenset[str]:
    """Write the picture of one matrix; arguments, result and errors otherwise as for `draw_panels`.

    `gold` links, of words, are outlined, sure ones by a full line, possible ones by a dashed line.
    """
    outlines = [] if gold is None else outline_words(gold)
    return draw_panels([[Panel(matrix, "", outlines)]], path, title=title, numbers=numbers)


def draw_panels(
    rows: Sequence[Sequence[Panel]], path: Path, *, title: str = "", numbers: bool = True
) -> frozenset[str]:
    """Write all panels as one picture; the suffix of `path` (.png, .svg, .pdf) says which kind.

    Rows stay rows; panels of a single row are broken into as many as make a well-shaped picture. `numbers` writes the
    values with two decimals into the cells while there are few enough words. EOS has a column and a row of its own, set
    apart. A panel of the same words as the one to its left, or as all others, does not say them again.

    Returns the characters that no font of this machine has. Raises UserError for another suffix or a place that cannot
    be written, ValueError for an outline beyond the matrix.
    """
    kind = kind_of(path)
    with drawing():
        content, missing = saved(_figure(rows, title, numbers, kind), kind)
    with open_whole(path) as stream:
        stream.write(content)
    return missing


def heatmap_svg(panel: Panel) -> bytes:
    """The picture of one panel as SVG, for a page."""
    with drawing():
        return saved(_figure([[panel]], "", True, "svg"), "svg")[0]


def outline_words(gold: Links) -> list[Outline]:
    """A frame for each linked pair of words."""
    return [Outline(s, t, 1, 1, (s, t) in gold.sure) for s, t in sorted(gold.possible)]


def outline_pieces(gold: Links, source: Sequence[int], target: Sequence[int]) -> list[Outline]:
    """A frame around all pieces of each linked pair; `source`, `target`: each piece's word. Words without pieces have
    none."""
    frames = []
    for s, t in sorted(gold.possible):
        columns, rows = _places(source, s), _places(target, t)
        if columns and rows:
            width, height = columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1
            frames.append(Outline(columns[0], rows[0], width, height, (s, t) in gold.sure))
    return frames


def _places(words: Sequence[int], word: int) -> list[int]:
    return [place for place, other in enumerate(words) if other == word]


def _figure(rows: Sequence[Sequence[Panel]], title: str, numbers: bool, kind: str) -> Figure:
    panels = [panel for row in rows for panel in row]
    sizes = _sizes(panels, numbers)
    ruler = _Ruler(sizes, kind)
    places = _arranged(rows, ruler)
    width, height = _extent(places, ruler)
    figure = Figure(figsize=(width, height), dpi=min(150.0, (_MOST_PIXELS / (width * height)) ** 0.5))
    FigureCanvasAgg(figure)
    scales = _scales(panels)
    for place in places:
        _draw(figure, place, scales[place.panel.raw], sizes, kind)
    _colour_bars(figure, list(scales.values()), places[0].top)
    if title:
        figure.text(places[0].left / width, 1 + 0.1 / height, shown(title), fontsize=11, va="bottom")
    return figure


def _sizes(panels: Sequence[Panel], numbers: bool) -> _Sizes:
    """Roomy for a short pair, still readable for one of 80 words or for a page of many."""
    longest = max(max(panel.matrix.weights.shape) for panel in panels)
    roomy = 0.42 if longest <= _NUMBERS_UP_TO + 1 else 0.3 if longest <= 40 else 0.24
    crowded = 1.0 if len(panels) == 1 else 0.8 if len(panels) <= 4 else 0.6
    total = max(longest, sum(max(panel.matrix.weights.shape) ** 2 for panel in panels) ** 0.5)
    cell = min(max(roomy * crowded, 0.2), _LARGEST_SIDE / total)
    fits = longest <= _NUMBERS_UP_TO + 1 and cell > 0.3
    return _Sizes(cell, min(11.0, 36 * cell), 18 * cell if numbers and fits else None)


class _Ruler:
    """Measures cells, words and titles."""

    def __init__(self, sizes: _Sizes, kind: str) -> None:
        self.cell = sizes.cell
        self._kind = kind
        self._points = sizes.words
        figure = Figure(dpi=72)
        FigureCanvasAgg(figure)
        self._text = figure.text(0, 0, "")
        self._known: dict[tuple[str, ...], float] = {}

    def words(self, words: tuple[str, ...]) -> float:
        """The longest of them, and the room between it and the cells."""
        if words not in self._known:
            self._known[words] = self._longest(_labels(words, self._kind), self._points) + 0.1
        return self._known[words]

    def grid(self, panel: Panel) -> tuple[float, float]:
        """Width and height of the cells."""
        rows, columns = panel.matrix.weights.shape
        return columns * self.cell, rows * self.cell

    def width(self, panel: Panel) -> float:
        """Of the cells, or of the title above them where that is wider."""
        grid = self.grid(panel)[0]
        return max(grid, self._longest(_title_lines(panel, grid), _TITLE_POINTS))

    def title(self, panel: Panel) -> float:
        """The height of the title with the room below it."""
        return 0.15 + len(_title_lines(panel, self.grid(panel)[0])) * _TITLE_POINTS * 1.25 / 72 if panel.title else 0.0

    def _longest(self, texts: Sequence[str], points: float) -> float:
        self._text.set_fontsize(points)
        widths = []
        with missing_characters():
            for text in texts:
                self._text.set_text(text)
                widths.append(self._text.get_window_extent().width)
        return float(max(widths)) / 72


def _arranged(rows: Sequence[Sequence[Panel]], ruler: _Ruler) -> list[_Place]:
    """Every panel's place. A single row is broken where that makes the best-shaped picture with the fewest gaps."""
    if len(rows) > 1:
        return _placed(rows, ruler)
    (panels,) = rows

    def badness(places: list[_Place]) -> float:
        width, height = _extent(places, ruler)
        in_rows = Counter(place.top for place in places).values()
        return float(abs(np.log(width / height / _ASPECT))) + 1 - min(in_rows) / max(in_rows)

    counts = range(1, len(panels) + 1)
    broken = ([panels[start : start + count] for start in range(0, len(panels), count)] for count in counts)
    return min((_placed(candidate, ruler) for candidate in broken), key=badness)


def _placed(rows: Sequence[Sequence[Panel]], ruler: _Ruler) -> list[_Place]:
    """From left to right and from top to bottom."""
    is_one_pair = len({_pair(panel) for row in rows for panel in row}) == 1
    places: list[_Place] = []
    top = 0.0
    for number, row in enumerate(rows):
        labelled = max(map(len, rows[:number]), default=0) if is_one_pair else 0  # so many columns have words above
        top += max(
            ruler.title(one) + (j >= labelled) * ruler.words(one.matrix.source_words) for j, one in enumerate(row)
        )
        left = 0.0
        for j, panel in enumerate(row):
            has_target = j == 0 or _pair(row[j - 1]) != _pair(panel)
            left += has_target * ruler.words(panel.matrix.target_words)
            places.append(_Place(panel, left, top, j >= labelled, has_target))
            left += ruler.width(panel) + _GAP
        top += max(ruler.grid(panel)[1] for panel in row) + _GAP
    return places


def _pair(panel: Panel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return panel.matrix.source_words, panel.matrix.target_words


def _extent(places: Sequence[_Place], ruler: _Ruler) -> tuple[float, float]:
    return (
        max(place.left + ruler.width(place.panel) for place in places),
        max(place.top + ruler.grid(place.panel)[1] for place in places),
    )


def _scales(panels: Sequence[Panel]) -> dict[str | None, Scale]:
    """One for the weights and one for each kind of signed values, by what `Panel.raw` says."""
    scales: dict[str | None, Scale] = {}
    for raw in dict.fromkeys(panel.raw for panel in panels):
        if raw is None:
            scales[raw] = Scale(even_colours(), 0.0, 1.0, "weight")
        else:
            most = max(float(np.abs(panel.matrix.weights).max()) for panel in panels if panel.raw == raw) or 1.0
            scales[raw] = Scale(diverging_colours(), -most, most, raw)
    return scales


def _draw(figure: Figure, place: _Place, scale: Scale, sizes: _Sizes, kind: str) -> None:
    panel = place.panel
    weights = panel.matrix.weights
    axes = _axes(figure, place.left, place.top, weights.shape[1] * sizes.cell, weights.shape[0] * sizes.cell)
    mesh = axes.pcolormesh(
        weights, cmap=scale.colours, vmin=scale.low, vmax=scale.high, edgecolors="0.92", linewidth=1.5 * sizes.cell
    )
    mesh.set_rasterized(kind != "png" and weights.size > _MOST_PATHS)
    axes.invert_yaxis()
    _label(axes, place, sizes.words, kind)
    _set_eos_apart(axes, weights.shape)
    if sizes.numbers is not None:
        _write_numbers(axes, weights, scale, sizes.numbers)
    _outline(axes, panel)
    if panel.title:
        title = "\n".join(_title_lines(panel, weights.shape[1] * sizes.cell))
        axes.set_title(title, loc="left", fontsize=_TITLE_POINTS, pad=6, linespacing=1.15)


def _axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """`left` and `top` from the figure's top left corner."""
    wide, high = figure.get_size_inches()
    return figure.add_axes((left / wide, 1 - (top + height) / high, width / wide, height / high))


def _label(axes: Axes, place: _Place, points: float, kind: str) -> None:
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=points)
    matrix = place.panel.matrix
    if place.has_source:
        axes.set_xticks(_centres(matrix.source_words), _labels(matrix.source_words, kind), rotation=90)
        axes.get_xticklabels()[-1].set_color("0.6")
    else:
        axes.set_xticks([])
    if place.has_target:
        axes.set_yticks(_centres(matrix.target_words), _labels(matrix.target_words, kind))
        axes.get_yticklabels()[-1].set_color("0.6")
    else:
        axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def _centres(words: Sequence[str]) -> list[float]:
    return [place + 0.5 for place in range(len(words) + 1)]


def _labels(words: Sequence[str], kind: str) -> list[str]:
    return [*(in_drawn_order(_shown_word(word), kind) for word in words), EOS]


def _title_lines(panel: Panel, width: float) -> list[str]:
    """Broken so that it stays over its own cells, but for words that are too long."""
    return textwrap.wrap(shown(panel.title), max(14, int((width + _GAP) / (_TITLE_POINTS * 0.55 / 72)))) or [""]


def _set_eos_apart(axes: Axes, shape: tuple[int, ...]) -> None:
    axes.axhline(shape[0] - 1, color="0.6", linewidth=0.8)
    axes.axvline(shape[1] - 1, color="0.6", linewidth=0.8)


def _write_numbers(axes: Axes, weights: Weights, scale: Scale, points: float) -> None:
    sign = "+" if scale.low < 0 else ""
    for (t, s), weight in np.ndenumerate(weights):
        if abs(weight) >= 0.005:  # what would read 0.00 says nothing
            ink = "white" if abs(weight) > 0.45 * scale.high else "0.25"
            digits = 2 if abs(weight) < 9.995 else 1
            text = f"{weight:{sign}.{digits}f}"
            axes.text(s + 0.5, t + 0.5, text, ha="center", va="center", fontsize=points, color=ink)


def _outline(axes: Axes, panel: Panel) -> None:
    rows, columns = (size - 1 for size in panel.matrix.weights.shape)
    for frame in panel.outlines:
        if frame.column + frame.width > columns or frame.row + frame.height > rows:
            raise ValueError(f"gold link {frame.column}-{frame.row} lies outside a pair of {columns} and {rows} words")
        corner, size = (frame.column + 0.06, frame.row + 0.06), (frame.width - 0.12, frame.height - 0.12)
        line = "solid" if frame.is_sure else (0, (2, 2))
        axes.add_patch(Rectangle(corner, *size, fill=False, linestyle=line, linewidth=1.5, edgecolor=GOLD))


def _colour_bars(figure: Figure, scales: Sequence[Scale], top: float) -> None:
    """Beside the first row, of the same thickness for every size of picture."""
    width, height = figure.get_size_inches()
    tall = max(1.2, min(height - top, 4.0))
    for number, scale in enumerate(scales):
        axes = _axes(figure, width + 0.2 + 0.9 * number, top, 0.14, tall)
        colours = ScalarMappable(Normalize(scale.low, scale.high), scale.colours)
        bar = figure.colorbar(colours, cax=axes, ticks=[0, 0.25, 0.5, 0.75, 1] if scale.low == 0 else None)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=2, labelsize=8)
        bar.set_label(scale.label, fontsize=8)


def _shown_word(word: str) -> str:
    visible = shown(word)
    return visible if len(visible) <= _LONGEST_LABEL else visible[: _LONGEST_LABEL - 1] + "…"
