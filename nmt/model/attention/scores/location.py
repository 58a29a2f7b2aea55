"""Luong's location score: the energy of position s is row s of W h_t (Luong 2015, equation 8).

What stands in the source plays no part: the query alone says where to look. W has a row for each of `maximum`
positions. A shorter sentence uses the first of them; of a longer one, the words beyond are not read (Luong's note to
the equation): their energy is lower than any other, though above that of what is forbidden. Where a window shows
nothing but such words, their weights are equal.

Elsewhere: "location" (Sockeye, with a bias). Not the location-aware attention of speech recognition (Chorowski 2015),
which reads the last step's weights.

Shape letters: B sentences, T target positions, S source positions, Q query size, D memory size.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.model import masks


class Location(nn.Module):
    """Energies of at most `maximum` source positions, EOS counted as one; keys have no numbers.

    Raises:
        ValueError: there is no position.
    """

    def __init__(self, *, query_size: int, memory_size: int, maximum: int) -> None:
        super().__init__()
        if maximum < 1:
            raise ValueError(f"maximum is {maximum}: at least 1 source position must have an energy")
        self.key_size = 0
        self.maximum = maximum
        self.positions = nn.Linear(query_size, maximum, bias=False)

    def project(self, states: Tensor) -> Tensor:
        """States [B, S, D] -> keys [B, S, 0], which say how many there are and nothing more."""
        return states[..., :0]

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Query [B, T, Q], keys [B, S, 0] -> energies [B, T, S]."""
        size = keys.shape[1]
        energies = F.linear(query, self.positions.weight[:size])  # [B, T, S or maximum]
        known = torch.full((1,), energies.shape[-1], device=query.device)
        padded = F.pad(energies, (0, size - energies.shape[-1]))
        return padded.masked_fill(~masks.valid_mask(known, size), torch.finfo(padded.dtype).min / 2)
