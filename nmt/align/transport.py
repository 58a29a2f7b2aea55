"""Entropy-regularised optimal transport between the words of a pair, by Sinkhorn's iteration in log space.

Cuturi 2013, "Sinkhorn Distances", algorithm 1; to extract word alignments, Dou & Neubig 2021.
Letters: T target, S source words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ENTROPY = 0.5  # the weight of the plan's entropy beside its cost; less makes a plan more decided
ITERATIONS = 50
LEAST_WEIGHT = 1e-4  # smaller weights count as this one, so that no cost is infinite


def transport_plan(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """The plan P [T, S] that minimises sum(P * cost) - ENTROPY * entropy(P), with rows of 1 / T and columns of 1 / S.

    cost = -ln(weight), so multiplying a row or column of `weights` changes nothing. Neither axis may be empty. The
    columns' sums are exact, the rows' as near as a fixed number of iterations brings them: the same weights give the
    same plan.
    """
    log_plan = np.log(np.maximum(weights.astype(np.float64), LEAST_WEIGHT)) / ENTROPY
    targets, sources = log_plan.shape
    for _ in range(ITERATIONS):
        log_plan -= _log_sum_exp(log_plan, axis=1) + np.log(targets)
        log_plan -= _log_sum_exp(log_plan, axis=0) + np.log(sources)
    return np.exp(log_plan)


def _log_sum_exp(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """ln(sum(exp(values))) along an axis, which stays with length 1."""
    greatest = values.max(axis=axis, keepdims=True)
    summed: NDArray[np.float64] = greatest + np.log(np.exp(values - greatest).sum(axis=axis, keepdims=True))
    return summed
