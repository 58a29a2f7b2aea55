"""Hard attention by REINFORCE (Xu 2015, section 4.1): a draw is judged by the loss of what was predicted from it.

The normalizer draws and tells the choice's log-probability; the loss (nmt.train.loss.reinforce) does the judging.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.normalizers.hard import check_inference, draw, odds, one_hot, read_one
from nmt.model.attention.normalizers.normalized import Normalized


class Reinforce(nn.Module):
    """Draws a position and tells the loss its log-probability, which is pushed by what the choice cost (Xu 2015).

    reward: the weight of the score function's term (the paper's lambda_r); at 1 the gradient estimate is unbiased, less
    of it is less noise. entropy: that of the distribution's entropy, which training raises (lambda_e). expectation: how
    often the weighted mean is read instead of a draw, which lowers the estimate's variance; the paper takes it for half
    of its sentences. The coin falls once a call for each head: for a sentence where the whole target runs in one call,
    else for a position.
    """

    mixes = False
    samples = True

    def __init__(
        self, *, reward: float = 1.0, entropy: float = 0.0, expectation: float = 0.5, at_inference: str = "argmax"
    ) -> None:
        super().__init__()
        if not 0 <= expectation <= 1:
            raise ValueError(f"expectation is {expectation}: allowed is 0 to 1")
        self.reward = reward
        self.entropy = entropy
        self.expectation = expectation
        self.at_inference = check_inference(at_inference, ("argmax", "sample"))

    def forward(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
        """Energies [B, T, S] -> weights with one 1 a row (in training at times the distribution), log_choice [B, T]."""
        log_odds = odds(energies, allowed, log_gain)
        if not self.training:
            return read_one(log_odds, allowed, self.at_inference)
        log_probs = log_odds.log_softmax(-1)
        chosen = draw(log_odds)
        mean = torch.rand(len(energies), 1, 1, device=energies.device) < self.expectation
        weights = torch.where(mean, log_probs.exp(), one_hot(chosen, allowed, energies))
        log_choice = log_probs.gather(-1, chosen.unsqueeze(-1)).masked_fill(mean, 0.0).squeeze(-1)
        log_choice = self.reward * log_choice
        losses = {"entropy": self.entropy * negative_entropy(log_probs, allowed)} if self.entropy else {}
        return Normalized(masks.clear(weights, allowed), None, log_choice, losses)


def negative_entropy(log_probs: Tensor, allowed: Tensor) -> Tensor:
    """sum_s p ln p [B, T] over what is allowed."""
    return masks.clear(log_probs.exp() * log_probs, allowed).sum(-1)
