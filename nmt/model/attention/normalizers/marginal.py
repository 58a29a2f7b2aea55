"""Hard attention by its marginal likelihood: no choice is made, all of them are summed (Wu 2018; Shankar 2018).

Shape letters: B sentences, T target positions, S source positions, M choices of a mixture.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.normalizers.hard import check_inference, odds, one_hot
from nmt.model.attention.normalizers.normalized import Mixture, Normalized


class Marginal(nn.Module):
    """p(y_t) = sum_s p(s) p(y_t | s): every position is a choice, and the readout mixes what they predict.

    Where nothing feeds back this is the exact likelihood (Wu 2018). Where something does, the sum over all
    pasts would be dear: each step's sum is exact and the expected context is fed on (Shankar 2018).

    positions: 0 sums over all; k over each step's k most probable, their probabilities divided by their sum.
    at_inference: "mixture" scores the same sum; "argmax" reads the most probable position alone.
    """

    mixes = True
    samples = False

    def __init__(self, *, positions: int = 0, at_inference: str = "mixture") -> None:
        super().__init__()
        if positions < 0:
            raise ValueError(f"positions is {positions}: allowed is 0 (all) or how many")
        self.positions = positions
        self.at_inference = check_inference(at_inference, ("mixture", "argmax"))

    def forward(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
        """Energies [B, T, S] -> the prior as weights [B, T, S], and the mixture of it (M = S, or fewer)."""
        log_odds = odds(energies, allowed, log_gain)
        if not self.training and self.at_inference == "argmax":
            chosen = log_odds.argmax(-1, keepdim=True)
            only = Mixture(torch.zeros_like(chosen, dtype=energies.dtype), chosen)
            return Normalized(one_hot(chosen.squeeze(-1), allowed, energies), only, None, {})
        weights = masks.clear(log_odds.softmax(-1), allowed)
        if not 0 < self.positions < energies.shape[-1]:
            return Normalized(weights, Mixture(log_odds.log_softmax(-1), None), None, {})
        best, chosen = log_odds.topk(self.positions, dim=-1)
        mixed = torch.zeros_like(weights).scatter(-1, chosen, best.softmax(-1))
        return Normalized(masks.clear(mixed, allowed), Mixture(best.log_softmax(-1), chosen), None, {})
