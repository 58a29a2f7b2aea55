"""What is computed in which precision, where a training runs its products in half."""

from __future__ import annotations

import torch
from torch import Tensor

HALF = (torch.bfloat16, torch.float16)


def product_dtype(states: Tensor) -> torch.dtype:
    """What matrix products of these are made in."""
    device = states.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype


def full_precision(x: Tensor) -> Tensor:
    """Half precision in float32: sums of probabilities, and logarithms, need it."""
    return x.float() if x.dtype in HALF else x
