"""What a normalizer returns, and the end that all soft ones have in common.

Shape letters: B sentences, T target positions, S source positions, M choices of a mixture.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from nmt.model import masks


class Mixture(NamedTuple):
    """Choices that the readout predicts from one by one and then mixes (marginal hard attention).

    log_prior [B, T, M]; positions [B, T, M], what each choice reads, None where choice m reads position m.
    """

    log_prior: Tensor
    positions: Tensor | None


class Normalized(NamedTuple):
    """weights [B, T, S], what was read (of a mixture: its prior). mixture: None reads the weighted mean.
    log_choice [B, T]: ln of the probability of what was sampled, None where nothing was; the training loss judges it.
    losses: named extra terms for the training loss, each [B, T]."""

    weights: Tensor
    mixture: Mixture | None
    log_choice: Tensor | None
    losses: dict[str, Tensor]


def soft(weights: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
    """A distribution [B, T, S] as weights: zero where nothing may be read, and times the window's gain, which is not
    renormalised (Luong 2015, equation 10)."""
    weights = masks.clear(weights, allowed)
    return Normalized(weights if log_gain is None else weights * log_gain.exp(), None, None, {})
