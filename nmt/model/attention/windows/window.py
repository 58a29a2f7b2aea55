"""What a window returns: which source positions each step may read, and a factor on their weights.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Windowed(NamedTuple):
    """allowed: bool, broadcastable to [B, T, S], never True on an invalid position.

    log_gain: ln of a factor on the weights, broadcastable to [B, T, S], None where all are 1 (Luong 2015, equation 10:
    the Gaussian of local-p). renormalise: the factor acts before the normalizer, as a term of the energies, and not
    after it: of a softmax the products are divided by their sum.
    """

    allowed: Tensor
    log_gain: Tensor | None = None
    renormalise: bool = False
