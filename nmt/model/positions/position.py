"""The protocol of positions: four hooks that each kind overrides where it acts, and that default to nothing.

Absolute kinds add to the input; relative kinds turn queries and keys, change energies, or add to what is read. None
touches cross-attention. The base class is the kind `none`: without it and without a causal mask a Transformer reads a
bag of words.

    hook    Vaswani, Gehring: embed     Shaw: bias, read     Su (rotary): turn     Press (ALiBi): bias

Shape letters: B sentences (inside attention B x H: the heads of one sentence follow one another), T query positions, S
key positions (the first stands at position 0), D model size, d head size.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Position(nn.Module):
    """No positions at all; `explicit` says that energies or weights are needed, which a fused kernel never forms."""

    explicit = False
    longest: int | None = None  # tokens a sentence may have; None where any length works

    def __init__(self, *, size: int, head_size: int, heads: int = 1) -> None:
        super().__init__()

    def embed(self, x: Tensor, first: int) -> Tensor:
        """Input [B, T, D], whose first column stands at position `first` -> input [B, T, D]."""
        return x

    def turn(self, x: Tensor, position: Tensor) -> Tensor:
        """Queries or keys [B, T, d] at positions [B or 1, T] -> the same shape."""
        return x

    def bias(self, energies: Tensor, query: Tensor, position: Tensor) -> Tensor:
        """Energies [B, T, S] of queries [B, T, d] at positions [B or 1, T] -> energies [B, T, S]."""
        return energies

    def read(self, context: Tensor, weights: Tensor, position: Tensor) -> Tensor:
        """Context [B, T, d] read with weights [B, T, S] from positions [B or 1, T] -> context [B, T, d]."""
        return context


def distances(position: Tensor, size: int) -> Tensor:
    """Query positions [B or 1, T] -> j - i for each of the keys j = 0 .. size - 1: [B or 1, T, size]."""
    return torch.arange(size, device=position.device) - position.unsqueeze(-1)
