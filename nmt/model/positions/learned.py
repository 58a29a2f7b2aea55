"""Learned absolute positions (Gehring 2017, section 3.1): one vector a position, up to a maximum fixed in training.

Longer sentences are refused by name: nothing was ever learned for their ends. Other toolkits: Sockeye's "learned",
Marian's `transformer-train-positions`, fairseq's `encoder-learned-pos`.

Shape letters: B sentences, T positions, D model size.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.model.positions.position import Position


class Learned(Position):
    """Adds a learned vector; a position beyond the table is refused.

    Raises:
        UserError: a sentence is longer than `maximum` tokens.
    """

    def __init__(self, *, size: int, head_size: int, maximum: int, heads: int = 1) -> None:
        super().__init__(size=size, head_size=head_size, heads=heads)
        self.longest = maximum
        self.table = nn.Embedding(maximum, size)
        nn.init.normal_(self.table.weight, std=size**-0.5)

    def embed(self, x: Tensor, first: int) -> Tensor:
        """Input [B, T, D] -> input + table[first : first + T]."""
        last, maximum = first + x.shape[1], self.table.num_embeddings
        if last > maximum:
            raise UserError(
                f"a sentence of {last} tokens: learned positions reach to {maximum} (position.maximum); "
                "shorten it, or train with position=sinusoidal"
            )
        vectors: Tensor = self.table(torch.arange(first, last, device=x.device))
        return x + vectors
