"""From a model's attention to matrices over words: which layer, head and row are *the* weights.

Letters: L layers, H heads, T target, S source pieces; the last row and column of the weights are EOS's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nmt.align.aer import aer
from nmt.align.links import argmax_links
from nmt.align.matrix import AlignmentMatrix, merge_pieces, merge_weights
from nmt.data.pharaoh import Links
from nmt.data.words import split_words
from nmt.errors import UserError

_PAIRS_AT_ONCE = 256


class PieceWeights(Protocol):
    """What a model read of a pair: weights [L, H, T + EOS, S + EOS] and, without EOS, each piece's word."""

    @property
    def weights(self) -> NDArray[np.float32]: ...
    @property
    def source_map(self) -> Sequence[int]: ...
    @property
    def target_map(self) -> Sequence[int]: ...


class Aligner(Protocol):
    """A model that reads given pairs by forced decoding, `first` being the first one's line; `nmt.load` gives one."""

    def attention(self, pairs: Sequence[tuple[str, str]], first: int) -> Sequence[PieceWeights]: ...


class HeadChoice(NamedTuple):
    """`head` None is the mean of the layer's heads; `aer` was reached on the gold that chose."""

    layer: int
    head: int | None
    shift: int
    aer: float


def align_pairs(
    aligner: Aligner, pairs: Iterable[tuple[str, str]], *, layer: int, head: int | None, shift: int
) -> Iterator[AlignmentMatrix]:
    """A matrix for each pair, in order, a few hundred pairs at a time. A pair with a blank side has only zeros."""
    stream, first = iter(pairs), 1
    while chunk := list(islice(stream, _PAIRS_AT_ONCE)):
        for (source, target), read in zip(chunk, aligner.attention(chunk, first), strict=True):
            yield read_matrix(split_words(source), split_words(target), read, layer=layer, head=head, shift=shift)
        first += len(chunk)


def select_weights(weights: NDArray[np.float32], *, layer: int, head: int | None, shift: int) -> NDArray[np.float32]:
    """[L, H, T, S] -> [T, S] of one layer and head, or of the mean of its heads (`head` None).

    The row of a target position is what was read to predict it. `shift` 1 takes the next row instead, where that word
    is the input (SHIFT-ATT, Chen et al. 2020); the last row, EOS's, then keeps its own. A negative layer counts from
    the end. Raises UserError for a layer or head that the model does not have.
    """
    layers, heads, rows, _ = weights.shape
    if not -layers <= layer < layers:
        raise UserError(f"layer {layer}: the model has {layers}, numbered 0 to {layers - 1} (or -{layers} to -1)")
    if head is not None and not 0 <= head < heads:
        raise UserError(f"head {head}: a layer of the model has {heads}, numbered 0 to {heads - 1}, or their mean")
    if shift < 0:
        raise UserError(f"shift {shift}: must be 0 or more")
    chosen = weights[layer].mean(axis=0) if head is None else weights[layer, head]
    shifted: NDArray[np.float32] = chosen[np.minimum(np.arange(rows) + shift, rows - 1)]
    return shifted


def choose_head(read: Sequence[PieceWeights], gold: Sequence[Links]) -> HeadChoice:
    """The layer, head (or mean) and shift of 0 or 1 whose argmax links have the least AER; the first of equals.

    `gold` must not be what is scored later, or the score is flattered: give a part kept for choosing.
    """
    if len(read) != len(gold):
        raise ValueError(f"{len(read)} pairs of weights, but {len(gold)} of gold links")
    shapes = [pair.weights.shape[:2] for pair in read if not _is_blank(pair)]
    if not shapes:
        raise ValueError("there is no pair to choose a head by")
    layers, heads = shapes[0]
    candidates = [*range(heads)] + [None] * (heads > 1)
    choices = (
        HeadChoice(layer, head, shift, _error(read, gold, layer, head, shift))
        for layer, head, shift in product(range(layers), candidates, (0, 1))
    )
    return min(choices, key=lambda choice: choice.aer)


def read_matrix(
    source: Sequence[str], target: Sequence[str], read: PieceWeights, *, layer: int, head: int | None, shift: int
) -> AlignmentMatrix:
    """The matrix over these words that was read of one pair; zeros for a pair with a blank side."""
    if _is_blank(read):
        zeros = np.zeros((len(target) + 1, len(source) + 1), dtype=np.float32)
        return AlignmentMatrix(tuple(source), tuple(target), zeros)
    chosen = select_weights(read.weights, layer=layer, head=head, shift=shift)
    return merge_pieces(chosen, read.source_map, read.target_map, source, target)


def _is_blank(read: PieceWeights) -> bool:
    """Such a pair was not read at all, and its weights need not have the heads of the others."""
    return not (read.source_map and read.target_map)


def _error(read: Sequence[PieceWeights], gold: Sequence[Links], layer: int, head: int | None, shift: int) -> float:
    return aer(gold, [_links(pair, layer, head, shift) for pair in read]).aer


def _links(read: PieceWeights, layer: int, head: int | None, shift: int) -> set[tuple[int, int]]:
    """Words beyond the last piece have no weights, so the maps alone tell enough of the words."""
    if _is_blank(read):
        return set()
    sources, targets = max(read.source_map) + 1, max(read.target_map) + 1
    chosen = select_weights(read.weights, layer=layer, head=head, shift=shift)
    merged = merge_weights(chosen, read.source_map, read.target_map, sources, targets)
    return argmax_links(AlignmentMatrix(("",) * sources, ("",) * targets, merged))
