"""Every mask of the project is made and combined here: torch.bool, True = may be read.

Shape letters: B sentences, S source (or key) positions, T target (or query) positions.
"""

from __future__ import annotations

import torch
from torch import Tensor


def valid_mask(lengths: Tensor, size: int) -> Tensor:
    """Lengths [B] -> [B, size], True on the first `length` positions of each row."""
    return torch.arange(size, device=lengths.device) < lengths.unsqueeze(1)


def causal_mask(position: Tensor, size: int) -> Tensor:
    """Query positions [B, T] -> [B, T, size], True on keys that do not come after the query."""
    return torch.arange(size, device=position.device) <= position.unsqueeze(-1)


def both(first: Tensor, second: Tensor) -> Tensor:
    """What either mask forbids is forbidden; shapes broadcast."""
    return first & second


def mean(states: Tensor, valid: Tensor) -> Tensor:
    """States [B, S, D] -> their mean over the valid positions [B, S]: [B, D]."""
    share = valid.to(states.dtype) / valid.sum(1, keepdim=True)
    return (share.unsqueeze(1) @ states).squeeze(1)


def hide(energies: Tensor, allowed: Tensor) -> Tensor:
    """Finite energies, far below all others where nothing may be read.

    Far below and not -inf: after a softmax the two are alike wherever one position is allowed, and a row with none
    gives finite numbers (and gradients) that `clear` then sets to zero, where -inf gives NaN. It is added, to what may
    be a smaller mask: on a CPU that costs a tenth of filling by a mask.
    """
    far = torch.finfo(energies.dtype).max / 2
    return energies + (allowed.to(energies.dtype) - 1) * far


def clear(weights: Tensor, allowed: Tensor) -> Tensor:
    """Finite weights with exact zeros where nothing may be read, so that a row with nothing allowed is all zeros."""
    return weights * allowed.to(weights.dtype)
