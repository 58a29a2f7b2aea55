"""Colours that look as different as what they stand for.

Weights: white for 0 to a dark blue for 1, in even steps. Signed values: white for 0, the same blue for the greatest, a
red as dark and as vivid for the least. Things that are only to be told apart: hues all round.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from numpy.typing import NDArray

PALE, DARK = "#ffffff", "#0b2f73"
RED = 0.35  # radians around Oklab's axis of greys

# Linear sRGB to cone responses, and their cube roots to lightness, green-red, blue-yellow (Ottosson 2020, "Oklab").
_TO_CONE = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@cache
def even_colours() -> ListedColormap:
    """Equal steps of weight look equally far apart: a straight line in Oklab."""
    return ListedColormap(_rgb(_line(_ends()[1], np.linspace(0, 1, 256))), name="nmt")


@cache
def diverging_colours() -> ListedColormap:
    """From red over white, in the middle, to blue: what is as far from 0 looks as far from white on either side."""
    _, dark = _ends()
    chroma = float(np.hypot(dark[1], dark[2]))
    red = np.array([dark[0], chroma * np.cos(RED), chroma * np.sin(RED)])
    steps = np.linspace(0, 1, 129)
    return ListedColormap(_rgb(np.concatenate([_line(red, steps[:0:-1]), _line(dark, steps)])), name="nmt_signed")


def distinct_colours(count: int) -> list[tuple[float, float, float]]:
    """Hues in even steps around Oklab, light and dark in turn, all legible on white."""
    turns = np.arange(count)
    angles = 2 * np.pi * turns / count + 0.5
    lightness = np.where(turns % 2, 0.68, 0.48)
    colours = _rgb(np.stack([lightness, 0.14 * np.cos(angles), 0.14 * np.sin(angles)], axis=1))
    return [(float(r), float(g), float(b)) for r, g, b in colours]


def _ends() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _oklab(np.array(to_rgb(PALE))), _oklab(np.array(to_rgb(DARK)))


def _line(end: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Oklab colours [N, 3] on the straight line from white, at 0, to `end`, at 1."""
    return _ends()[0] * (1 - steps[:, None]) + end * steps[:, None]


def _oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lab: NDArray[np.float64] = np.cbrt(linear @ _TO_CONE.T) @ _TO_LAB.T
    return lab


def _rgb(lab: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = np.clip((lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_CONE).T, 0, 1)
    rgb: NDArray[np.float64] = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return rgb
