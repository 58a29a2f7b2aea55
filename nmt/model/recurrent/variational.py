"""Variational dropout: one mask a sentence and place, the same at every position (Gal & Ghahramani 2016, section 4).

What is embedded, what goes from layer to layer and what is read out are masked so, each by a mask of its own. The
recurrent state, which the paper masks as well, is not: its mask would stand between a state and its matrix, U (z * h),
another z in each row, and a fused recurrent call (torch's own, cuDNN's) takes one U for all rows and lets nobody in
between two positions.

Shape letters: N rows, T positions, E embedding size, D a layer's output size, H hidden size, L layers, R readout size.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class SentenceMasks(NamedTuple):
    """A decoder's masks for all positions of its sentences; empty where each position draws its own, or nothing drops.

    embedded: one [N, 1, E]; between: one [N, H] for each layer but the last; output: one [N, 1, R].
    """

    embedded: tuple[Tensor, ...] = ()
    between: tuple[Tensor, ...] = ()
    output: tuple[Tensor, ...] = ()
