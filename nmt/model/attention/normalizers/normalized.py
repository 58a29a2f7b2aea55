"""What a normalizer returns.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Normalized(NamedTuple):
    """weights [B, T, S]. log_prior [B, T, S] makes the result a mixture: every position is a choice of its own, with
    this log-probability, and the readout mixes their predictions (marginal hard attention); None reads the weighted
    mean. losses: named extra terms for the training loss, each [B, T]."""

    weights: Tensor
    log_prior: Tensor | None
    losses: dict[str, Tensor]
