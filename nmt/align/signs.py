"""What a matrix tells of a sentence without any gold: how spread its reading is, and what looks wrong with it.

Each row is read as shares: sizes of its values divided by their sum; a row of zeros stays zero. The row of the
target's EOS is left out everywhere, the column of the source's EOS counts in rows. Letters: T target, S source words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNREAD = 0.2  # a source word whose shares, summed over the target words, stay under it was never read
REPEATED = 3.0  # one whose shares come to as much was read again and again
UNIFORM = 0.9  # a row of at least that share of the largest possible entropy, ln(S + 1), is near uniform


class Signs(NamedTuple):
    """For each matrix of a stack. entropy: mean of the rows' -sum_s w_s ln w_s, in nats, rows of zeros left out (nan
    where no row is left); unread, repeated: how many source words were; uniform: how many rows are near uniform."""

    entropy: NDArray[np.float64]
    unread: NDArray[np.int64]
    repeated: NDArray[np.int64]
    uniform: NDArray[np.int64]


def signs(values: NDArray[np.floating]) -> Signs:
    """Of matrices over words, [..., T + 1, S + 1]. A pair with a blank side has no signs."""
    *stack, rows, columns = values.shape
    if rows < 2 or columns < 2:
        none = np.zeros(stack, dtype=np.int64)
        return Signs(np.full(stack, np.nan), none, none, none)
    shares = row_shares(values)
    entropies = row_entropies(shares)
    filled = (shares.sum(axis=-1) > 0).sum(axis=-1)
    read = shares[..., :-1].sum(axis=-2)
    return Signs(
        entropy=np.where(filled > 0, entropies.sum(axis=-1) / np.maximum(filled, 1), np.nan),
        unread=(read < UNREAD).sum(axis=-1),
        repeated=(read >= REPEATED).sum(axis=-1),
        # Of two columns a row is near uniform too easily: .7 and .3 would be.
        uniform=(entropies >= UNIFORM * np.log(columns)).sum(axis=-1) * (columns > 2),
    )


def row_shares(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Matrices [..., T + 1, S + 1] -> how the reading of each target word is divided, [..., T, S + 1]."""
    sizes = np.abs(values[..., :-1, :].astype(np.float64))
    sums = sizes.sum(axis=-1, keepdims=True)
    shares: NDArray[np.float64] = sizes / np.where(sums > 0, sums, 1)
    return shares


def row_entropies(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares [..., S + 1] -> -sum_s w_s ln w_s, in nats, [...]; 0 of a row of zeros."""
    entropies: NDArray[np.float64] = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=-1)
    return entropies
