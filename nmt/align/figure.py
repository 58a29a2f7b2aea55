"""What all our pictures share: text shown as it is, fonts for every script, the same bytes for the same numbers.

`$`, `_` and `\\` are never read as mathematics, a script that the main font lacks is taken from whatever fonts the
machine has, and in SVG and PDF text stays text. Right-to-left words have their letters in the right order.
"""

from __future__ import annotations

import io
import logging
import re
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from nmt.errors import UserError

SUFFIXES = (".png", ".svg", ".pdf")

# From this version on matplotlib sets right-to-left text, and joins Arabic letters, by itself.
_SETS_BOTH_WAYS = tuple(map(int, matplotlib.__version__.split(".")[:2])) >= (3, 11)
_MISSING = re.compile(r"Glyph (\d+) .* missing from")
# Without this a viewer takes every label for left-to-right, and a full stop ends up before a Hebrew word.
_OWN_DIRECTION = b"<defs>\n  <style>text{unicode-bidi:plaintext}</style>"

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


def kind_of(path: Path) -> str:
    """`png`, `svg` or `pdf`, as the suffix says; UserError for another one."""
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise UserError(f"{path}: a picture is written as {', '.join(SUFFIXES)}, not as '{path.suffix}'")
    return kind[1:]


@contextmanager
def drawing() -> Iterator[None]:
    """Inside, figures are made and saved by our settings, whatever this machine's matplotlibrc says."""
    with matplotlib.rc_context(
        {
            "text.parse_math": False,
            "text.usetex": False,
            "svg.fonttype": "none",
            "svg.hashsalt": "nmt",
            "pdf.fonttype": 42,
            "font.family": _fonts(),
            "font.sans-serif": ["DejaVu Sans"],  # SVG names all of them with every text
        }
    ):
        yield


def saved(figure: Figure, kind: str) -> tuple[bytes, frozenset[str]]:
    """The picture, cut to what is drawn, and the characters that no font of this machine has, which are boxes in it.

    Of SVG there are none: whoever opens it has the fonts, or not. To be called inside `drawing()`.
    """
    picture = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    with missing_characters() as missing:
        figure.savefig(picture, format=kind, metadata=undated, bbox_inches="tight", pad_inches=0.15)
    content = picture.getvalue()
    if kind == "svg":
        return content.replace(b"<defs>", _OWN_DIRECTION, 1), frozenset()
    return content, frozenset(missing)


@contextmanager
def missing_characters() -> Iterator[set[str]]:
    """Gathers, until the block ends, what matplotlib would give a page of warnings for. Other warnings stay."""
    missing: set[str] = set()
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("always", message=_MISSING.pattern)
            yield missing
    finally:
        logger.setLevel(level)
    for warning in caught:
        match = _MISSING.match(str(warning.message))
        if match:
            missing.add(chr(int(match[1])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def shown(text: str) -> str:
    """The text with an open box for what cannot be drawn, or may not stand in SVG."""
    return "".join("\u2423" if _is_invisible(character) else character for character in text)


def in_drawn_order(word: str, kind: str) -> str:
    """The word as a text of a `kind` of picture has to have it, so that it reads as it should.

    SVG's viewers and newer matplotlibs know how to set right-to-left letters. Older ones set all letters from left to
    right, so these are turned here: unjoined where a script joins them, but in order. Numbers and Latin stay.
    """
    if _SETS_BOTH_WAYS or kind == "svg" or not any(map(_is_right_to_left, word)):
        return word
    clusters = re.findall(r".[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]*", word, re.DOTALL)
    runs = [list(run) for _, run in groupby(clusters, key=lambda cluster: _runs_left_to_right(cluster[0]))]
    turned = [run if _runs_left_to_right(run[0][0]) else [_mirrored(c) for c in reversed(run)] for run in runs]
    return "".join(cluster for run in reversed(turned) for cluster in run)


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def _runs_left_to_right(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("L", "EN", "AN")


def _mirrored(cluster: str) -> str:
    pairs = "()[]{}<>«»"
    return pairs[pairs.index(cluster) ^ 1] if cluster in pairs else cluster


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in "\ufeff\ufffe\uffff"


@cache
def _fonts() -> list[str]:
    there = {font.name for font in fontManager.ttflist}
    return [*(name for name in _FONTS if name in there), "sans-serif"]
