"""Hard attention: one position is read, s_t drawn from softmax(energies), and the window's gain is part of the odds.

A choice has no gradient; three normalizers train it, each by its own estimate, and share what is here: `reinforce` (the
score function), `gumbel` (a relaxation backward) and `marginal` (no estimate: the sum over choices).

In evaluation mode the first two read the most probable position, the same one each time, and `marginal` goes on mixing;
`at_inference` changes that, for a trained run as well. One that draws in use draws anew in every pass: exported weights
and forced scores are then of other draws than the translation's.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.model import masks
from nmt.model.attention.normalizers.normalized import Normalized


def odds(energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Tensor:
    """ln of each position's probability, up to a constant [B, T, S]; the lowest number where nothing may be read."""
    return masks.hide(energies if log_gain is None else energies + log_gain, allowed)


def one_hot(positions: Tensor, allowed: Tensor, like: Tensor) -> Tensor:
    """Positions [B, T] -> exactly one 1 a row, like the energies [B, T, S]; a row with nothing allowed has none."""
    return masks.clear(torch.zeros_like(like).scatter(-1, positions.unsqueeze(-1), 1.0), allowed)


def noise(like: Tensor) -> Tensor:
    """Independent Gumbel(0, 1): added to log-odds, the greatest is a draw from the distribution (Gumbel 1954)."""
    return -torch.empty_like(like).exponential_().log()


def draw(log_odds: Tensor) -> Tensor:
    """[B, T, S] -> a position [B, T] for each row, drawn by torch's generator."""
    return (log_odds.detach() + noise(log_odds)).argmax(-1)


def read_one(log_odds: Tensor, allowed: Tensor, at_inference: str) -> Normalized:
    """What a trained choice reads: one position a row, drawn or the most probable [B, T, S]."""
    chosen = draw(log_odds) if at_inference == "sample" else log_odds.argmax(-1)
    return Normalized(one_hot(chosen, allowed, log_odds), None, None, {})


def check_inference(value: str, allowed: tuple[str, ...]) -> str:
    """`at_inference`, if it is one of these."""
    if value not in allowed:
        raise ValueError(f"at_inference is {value!r}: allowed are {', '.join(allowed)}")
    return value
