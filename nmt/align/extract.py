"""From what a method finds of a pair to the values of one view: which method, layer, head and row are *the* weights.

Letters: L layers, H heads, V views, T target, S source pieces; the last row and column are EOS's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from nmt.align.methods import METHODS, normalised
from nmt.align.record import View
from nmt.config import AlignmentConfig
from nmt.errors import UserError
from nmt.translator import Method, Reading

AS_THEY_ARE = ("attention", "posterior")  # methods whose values are weights already


class Aligner(Protocol):
    """A model that reads given pairs by forced decoding, `first` being the first one's line; `nmt.load` gives one.

    Over the source it attends with so many layers of so many heads.
    """

    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...
    def read_pairs(self, pairs: Sequence[tuple[str, str]], first: int, method: Method) -> Sequence[Reading]: ...


def chosen_view(aligner: Aligner, alignment: AlignmentConfig) -> View:
    """The view that the settings name; layer, head and shift are attention's. UserError for what the model lacks."""
    if alignment.method != "attention":
        return View(alignment.method, 0, None, 0)
    layers, heads, layer, head = aligner.layers, aligner.heads, alignment.layer, alignment.head
    if not -layers <= layer < layers:
        raise UserError(f"layer {layer}: the model has {layers}, numbered 0 to {layers - 1} (or -{layers} to -1)")
    if head is not None and not 0 <= head < heads:
        raise UserError(f"head {head}: a layer of the model has {heads}, numbered 0 to {heads - 1}, or their mean")
    return View("attention", layer % layers, head, alignment.shift)


def all_views(aligner: Aligner, shifts: Sequence[int]) -> list[View]:
    """Attention's by every layer, head and shift, and of several heads their mean."""
    heads = [*range(aligner.heads)] + [None] * (aligner.heads > 1)
    return [View("attention", *one) for one in product(range(aligner.layers), heads, shifts)]


def read_views(read: Callable[[Method], Sequence[Reading]], views: Sequence[View]) -> list[Reading]:
    """Each pair's values of all views, [V, T, S]; `read` gives what a method finds of the pairs."""
    methods = {name: read(METHODS[name]) for name in dict.fromkeys(view.method for view in views)}
    return [
        Reading(
            np.stack([view_values(methods[view.method][place].values, view) for view in views]),
            one.source_pieces,
            one.target_pieces,
        )
        for place, one in enumerate(methods[views[0].method])
    ]


def view_values(values: NDArray[np.float32], view: View) -> NDArray[np.float32]:
    """[L, H, T, S] of the view's method -> [T, S]; a blank pair has L = H = 1, and zeros for every layer and head.

    The row of a target position is what was read to predict it. Shift 1 takes the next row instead, where that word is
    the input (SHIFT-ATT, Chen et al. 2020); the last row, EOS's, then keeps its own.
    """
    rows = values.shape[2]
    layer = values[min(view.layer, len(values) - 1)]
    chosen = layer.mean(axis=0) if view.head is None else layer[min(view.head, len(layer) - 1)]
    shifted: NDArray[np.float32] = chosen[np.minimum(np.arange(rows) + view.shift, rows - 1)]
    if view.raw or view.method in AS_THEY_ARE:
        return shifted
    shares: NDArray[np.float32] = normalised(torch.from_numpy(shifted)).numpy()
    return shares
