"""Hard attention by the straight-through Gumbel-softmax (Jang 2017, section 2.2).

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.normalizers.hard import check_inference, noise, odds, one_hot, read_one
from nmt.model.attention.normalizers.normalized import Normalized


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
            return read_one(log_odds, allowed, self.at_inference)
        noisy = masks.hide(log_odds + noise(log_odds), allowed)
        relaxed = masks.clear((noisy / self.temperature).softmax(-1), allowed)
        hard = one_hot(noisy.argmax(-1), allowed, energies)
        return Normalized(hard + (relaxed - relaxed.detach()), None, None, {})
