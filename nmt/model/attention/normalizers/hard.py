"""Hard attention: one position is read, s_t drawn from softmax(energies), and the window's gain is part of the odds.

A choice has no gradient; three estimators train it, one class each:
  Reinforce  the score function with a baseline (Xu 2015, section 4.1)
  Gumbel     the straight-through relaxation (Jang 2017, section 2.2)
  Marginal   no estimate: the likelihood summed over the choices (Wu 2018; Shankar 2018)

In evaluation mode the first two read the most probable position, the same one each time, and Marginal goes on mixing;
`at_inference` changes that, for a trained run as well.

Shape letters: B sentences, T target positions, S source positions, M choices of a mixture.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.normalizers.normalized import Mixture, Normalized


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


def check_inference(value: str, allowed: tuple[str, ...]) -> str:
    """`at_inference`, if it is one of these."""
    if value not in allowed:
        raise ValueError(f"at_inference is {value!r}: allowed are {', '.join(allowed)}")
    return value


class Reinforce(nn.Module):
    """Draws a position and tells the loss its log-probability, which is pushed by what the choice cost (Xu 2015).

    entropy: the weight of the distribution's entropy, which training raises. expectation: how often the
    weighted mean is read instead of a draw, which lowers the estimate's variance; the paper takes it for half of its
    sentences. The coin falls once a call: a sentence where the whole target runs in one, else a position.
    """

    mixes = False
    samples = True

    def __init__(self, *, entropy: float = 0.0, expectation: float = 0.5, at_inference: str = "argmax") -> None:
        super().__init__()
        if not 0 <= expectation <= 1:
            raise ValueError(f"expectation is {expectation}: allowed is 0 to 1")
        self.entropy = entropy
        self.expectation = expectation
        self.at_inference = check_inference(at_inference, ("argmax", "sample"))

    def forward(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
        """Energies [B, T, S] -> weights with one 1 a row (in training at times the distribution), log_choice [B, T]."""
        log_odds = odds(energies, allowed, log_gain)
        if not self.training:
            chosen = draw(log_odds) if self.at_inference == "sample" else log_odds.argmax(-1)
            return Normalized(one_hot(chosen, allowed, energies), None, None, {})
        log_probs = log_odds.log_softmax(-1)
        chosen = draw(log_odds)
        mean = torch.rand(len(energies), 1, 1, device=energies.device) < self.expectation
        weights = torch.where(mean, log_probs.exp(), one_hot(chosen, allowed, energies))
        log_choice = log_probs.gather(-1, chosen.unsqueeze(-1)).masked_fill(mean, 0.0).squeeze(-1)
        losses = {"entropy": self.entropy * negative_entropy(log_probs, allowed)} if self.entropy else {}
        return Normalized(masks.clear(weights, allowed), None, log_choice, losses)


def negative_entropy(log_probs: Tensor, allowed: Tensor) -> Tensor:
    """sum_s p ln p [B, T] over what is allowed."""
    return masks.clear(log_probs.exp() * log_probs, allowed).sum(-1)


class Gumbel(nn.Module):
    """One position forward, the gradient of softmax((energies + noise) / temperature) backward (Jang 2017)."""

    mixes = False
    samples = False

    def __init__(self, *, temperature: float = 1.0, at_inference: str = "argmax") -> None:
        super().__init__()
        if temperature <= 0:
            raise ValueError(f"temperature is {temperature}: it must be positive")
        self.temperature = temperature
        self.at_inference = check_inference(at_inference, ("argmax", "sample"))

    def forward(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized:
        """Energies [B, T, S] -> weights [B, T, S] with one 1 a row."""
        log_odds = odds(energies, allowed, log_gain)
        if not self.training:
            chosen = draw(log_odds) if self.at_inference == "sample" else log_odds.argmax(-1)
            return Normalized(one_hot(chosen, allowed, energies), None, None, {})
        noisy = masks.hide(log_odds + noise(log_odds), allowed)
        relaxed = masks.clear((noisy / self.temperature).softmax(-1), allowed)
        hard = one_hot(noisy.argmax(-1), allowed, energies)
        return Normalized(hard + (relaxed - relaxed.detach()), None, None, {})


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
        return Normalized(weights, Mixture(best.log_softmax(-1), chosen), None, {})
