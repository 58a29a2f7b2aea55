"""Attention over pieces merged into a matrix over words.

A word is a non-empty field between U+0020 of the raw line. The matrix has one column more than source words (source
EOS) and one row more than target words (target EOS). Letters: T target, S source words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class AlignmentMatrix:
    """`weights[t, s]`, [T + 1, S + 1]: how much of the attention of target word t goes to source word s.

    The last column is the source's EOS, the last row the target's; a hypothesis cut at the maximum length has zeros
    in the last row. Rows of attention sum to 1, but for words without pieces and kinds of attention that do not.
    """

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    weights: Weights

    def __post_init__(self) -> None:
        expected = (len(self.target_words) + 1, len(self.source_words) + 1)
        if self.weights.shape != expected:
            raise ValueError(f"an alignment matrix of shape {self.weights.shape} where the words need {expected}")
        if not np.isfinite(self.weights).all():
            raise ValueError("an alignment matrix holds a weight that is not finite")


def merge_pieces(
    weights: NDArray[np.floating],
    source_map: Sequence[int],
    target_map: Sequence[int],
    source_words: Sequence[str],
    target_words: Sequence[str],
) -> AlignmentMatrix:
    """Sum the columns of a source word's pieces, average the rows of a target word's.

    Args:
        weights: [target pieces + EOS, source pieces + EOS].
        source_map, target_map: for each piece, without EOS, the index of its word.

    So the mass of a row is kept, and a word counts the same whether it is cut into one piece or into five. A word
    without pieces (it vanished by normalisation) gets zeros. Raises ValueError where the shapes do not fit.
    """
    merged = merge_weights(weights, source_map, target_map, len(source_words), len(target_words))
    return AlignmentMatrix(tuple(source_words), tuple(target_words), merged)


def merge_weights(
    weights: NDArray[np.floating], source_map: Sequence[int], target_map: Sequence[int], sources: int, targets: int
) -> Weights:
    """`merge_pieces` on the numbers alone, for any leading axes: [.., pieces, pieces] -> [.., T + 1, S + 1]."""
    expected = (len(target_map) + 1, len(source_map) + 1)
    if weights.shape[-2:] != expected:
        raise ValueError(f"weights of shape {weights.shape} where the pieces need {expected}")
    columns = _membership(source_map, sources)
    rows = _membership(target_map, targets)
    rows /= np.maximum(rows.sum(axis=0), 1)
    merged: Weights = (rows.T @ weights @ columns).astype(np.float32)
    return merged


def _membership(piece_to_word: Sequence[int], words: int) -> NDArray[np.float64]:
    """[pieces + EOS, words + EOS], 1 where the piece belongs to the word; EOS is a word of its own."""
    belongs = np.zeros((len(piece_to_word) + 1, words + 1))
    belongs[np.arange(len(belongs)), [*piece_to_word, words]] = 1
    return belongs
