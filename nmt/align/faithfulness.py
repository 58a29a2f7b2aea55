"""How far a model's attention can be believed: does it rank the source words as their erasure does?

Attention need not explain a prediction (Jain & Wallace 2019; Wiegreffe & Pinter 2019). Here one matrix over words is
held against another of the same pair, for each target word by Kendall's tau-b over the source words (Kendall 1945: tau
that allows ties) and by whether both have the same greatest word. EOS, of either side, takes no part.

Letters: T target, S source words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt.align.matrix import AlignmentMatrix


class Faithfulness(NamedTuple):
    """Of a sentence: the mean tau over its target words, and the share of them whose greatest source word is the same.

    words: how many target words could be compared: those with two distinct values at least, in both matrices.
    """

    tau: float
    agreement: float
    words: int


@dataclass(frozen=True)
class Spread:
    """Mean and quartiles of a figure over sentences."""

    mean: float
    quartiles: tuple[float, float, float]

    def __str__(self) -> str:
        lower, median, upper = self.quartiles
        return f"mean {self.mean:.3f}, median {median:.3f}, quartiles {lower:.3f} and {upper:.3f}"


@dataclass(frozen=True)
class FaithfulnessSummary:
    """Both figures over the sentences that could be compared; `left_out` counts the others. None where all were."""

    tau: Spread | None
    agreement: Spread | None
    sentences: int
    left_out: int

    def __str__(self) -> str:
        counted = f"{self.sentences} sentences, {self.left_out} more without anything to compare"
        if self.tau is None:
            return counted
        return f"Kendall's tau-b: {self.tau}\nsame greatest word: {self.agreement}\n{counted}"


def compare(first: AlignmentMatrix, second: AlignmentMatrix) -> Faithfulness | None:
    """A pair's figures, None where no target word can be compared (a blank side, or a single source word).

    Give erasure's magnitudes to ask how much a word counts, its signed values to ask how much it helps. Raises
    ValueError where the matrices are not of the same words.
    """
    words = [(matrix.source_words, matrix.target_words) for matrix in (first, second)]
    if words[0] != words[1]:
        raise ValueError(f"matrices of different words can't be compared: {words[0]} and {words[1]}")
    rows = zip(first.weights[:-1, :-1], second.weights[:-1, :-1], strict=True)
    compared = [(one, other) for one, other in rows if differs(one) and differs(other)]
    if not compared:
        return None
    taus = [kendall_tau_b(one, other) for one, other in compared]
    same = [one.argmax() == other.argmax() for one, other in compared]
    return Faithfulness(float(np.mean(taus)), float(np.mean(same)), len(compared))


def differs(row: NDArray[np.floating]) -> bool:
    """Whether a row [S] has two distinct values."""
    return row.size > 0 and bool((row != row[0]).any())


def kendall_tau_b(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    """Concordant pairs less discordant ones, over the root of (pairs not tied in one) x (pairs not tied in the other).

    Both [S], each with two distinct values.
    """
    signs = [np.sign(np.subtract.outer(values, values)) for values in (first, second)]
    untied = [np.count_nonzero(sign) for sign in signs]
    return float((signs[0] * signs[1]).sum() / np.sqrt(np.prod(untied, dtype=np.float64)))


def summarise(found: Iterable[Faithfulness | None]) -> FaithfulnessSummary:
    """The spread of both figures over sentences, each counting once."""
    given = list(found)
    compared = [one for one in given if one is not None]
    return FaithfulnessSummary(
        tau=spread([one.tau for one in compared]),
        agreement=spread([one.agreement for one in compared]),
        sentences=len(compared),
        left_out=len(given) - len(compared),
    )


def spread(values: list[float]) -> Spread | None:
    """None of nothing."""
    if not values:
        return None
    lower, median, upper = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return Spread(float(np.mean(values)), (lower, median, upper))
