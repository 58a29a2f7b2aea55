"""Lines and pairs that are there more than once, in a part or in two. Texts are compared by 64 bits of each.

Shape letters: N lines, K of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Digests = NDArray[np.uint64]
Places = NDArray[np.int64]  # (K,) lines, from 0, in order

_ODD = np.uint64(0x9E3779B97F4A7C15)


def together(sides: Sequence[Digests]) -> Digests:
    """(N,) of each row of several sides."""
    mixed = np.zeros_like(sides[0])
    for side in sides:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _ODD + side
    return mixed


def repeated(digests: Digests, places: Places) -> Places:
    """Which of these lines have come before among them."""
    _, firsts = np.unique(digests[places], return_index=True)
    again = np.ones(len(places), bool)
    again[firsts] = False
    return places[again]


def shared(digests: Digests, places: Places, others: Digests) -> Places:
    """Which of these lines are among the others."""
    return places[np.isin(digests[places], others)]


def first_like(digests: Digests, digest: np.uint64) -> int:
    """The first line with this digest, which one has."""
    return int((digests == digest).argmax())
