"""What a window returns: which source positions each step may read, and a factor on their weights.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Windowed(NamedTuple):
    """allowed: bool, broadcastable to [B, T, S], never True on an invalid position; gain: a factor on the weights,
    broadcastable to [B, T, S], or None where all are 1 (Luong 2015, equation 10: the Gaussian of local-p)."""

    allowed: Tensor
    gain: Tensor | None
