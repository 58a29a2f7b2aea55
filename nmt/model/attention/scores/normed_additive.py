"""Additive score with a weight-normalised v: score(s, h) = g v' tanh(W s + U h + b) / ||v||.

The additive score of Bahdanau 2015, appendix A.1.2, in the parametrisation of Salimans & Kingma 2016, equation 2: the
length of the vector, g, and its direction, v / ||v||, are learned apart. g starts at 1 / sqrt(K), so that the first
energies lie between -1 and 1 however many units there are; b starts at 0.

Elsewhere: "normed_bahdanau" (TensorFlow nmt; its seq2seq library's BahdanauAttention with normalize=True).

Shape letters: B sentences, S source positions, D memory size, K units.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model.attention.scores.additive import Additive


class NormedAdditive(Additive):
    """The additive score with a gain g and a bias b of its own."""

    def __init__(self, *, query_size: int, memory_size: int, size: int = 0) -> None:
        super().__init__(query_size=query_size, memory_size=memory_size, size=size)
        self.gain = nn.Parameter(torch.tensor(self.key_size**-0.5))
        self.bias = nn.Parameter(torch.zeros(self.key_size))

    def project(self, states: Tensor) -> Tensor:
        """States [B, S, D] -> keys U h + b [B, S, K]."""
        return super().project(states) + self.bias

    def vector(self) -> Tensor:
        """g v' / ||v|| [1, K]."""
        normed: Tensor = self.gain * self.energy.weight / self.energy.weight.norm()
        return normed
