"""Coverage: what has been read already enters the next step's energies, so that nothing is read twice or left out.

The state is each source position's sum of weights so far. Divided by a fertility N sigmoid(u' h_s), how often a word
wants to be read, it is Tu's linguistic coverage (2016, section 3.1); without, See's coverage vector (2017, equation
10). It enters the score through the keys, key_s + v c_s: for the additive score v' tanh(W s + U h_s + v c_s), as Tu and
See (equation 11) have it, and for others likewise.

See's loss, sum_s min(weight_s, coverage_s) at each step (equation 12), punishes reading a place again.

Shape letters: B sentences, N query rows (B or B x beam), S source positions, K key size, D memory size.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Coverage(nn.Module):
    """fertility: N, the most that a word is read; 0 has none. loss: the weight of See's term; 0 leaves it out."""

    def __init__(self, *, memory_size: int, key_size: int, fertility: float = 0.0, loss: float = 0.0) -> None:
        super().__init__()
        if fertility < 0 or loss < 0:
            raise ValueError(f"fertility ({fertility}) and loss ({loss}) must be 0 (off) or positive")
        if key_size < 1:
            raise ValueError("this score has no keys for coverage to enter: it sees no words (location)")
        self.fertility = fertility
        self.weight = loss
        self.entry = nn.Parameter(torch.empty(key_size))
        nn.init.normal_(self.entry, std=key_size**-0.5)
        self.wants = nn.Linear(memory_size, 1, bias=False) if fertility else None

    def start(self, valid: Tensor, values: Tensor) -> Tensor:
        """Nothing is read yet: [B, S]."""
        return values.new_zeros(valid.shape)

    def keys(self, keys: Tensor, values: Tensor, read: Tensor) -> Tensor:
        """Keys [N, S, K] of values [N, S, D] of which `read` [N, S] is behind -> the keys of this step."""
        covered = read
        if self.wants is not None:
            covered = read / (self.fertility * self.wants(values).sigmoid()).squeeze(-1)
        return keys + covered.unsqueeze(-1) * self.entry

    def losses(self, weights: Tensor, read: Tensor) -> dict[str, Tensor]:
        """This step's weights [N, S] and what was read before -> the named term [N, 1]."""
        if not self.weight:
            return {}
        return {"coverage": self.weight * torch.minimum(weights, read).sum(-1, keepdim=True)}
