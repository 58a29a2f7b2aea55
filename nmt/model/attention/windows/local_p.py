"""Predictive local attention, local-p: the model predicts the centre and favours what is near it.

p_t = S sigmoid(v_p' tanh(W_p h_t)) (Luong 2015, equation 9). The weights of the window, a distribution of their own,
are multiplied by exp(-(s - p_t)^2 / (2 sigma^2)) with sigma = reach / 2 (equation 10). As published these products are
not divided by their sum; `renormalise` does so, by taking the factor into the energies.

The centre is a real number and learns through the Gaussian alone: the window's edges have no gradient.

Shape letters: B sentences, T target positions, S source positions, Q query size.
"""

from __future__ import annotations

from torch import Tensor, nn

from nmt.model.attention.windows.local import Local, distance
from nmt.model.attention.windows.window import Windowed


class LocalP(Local):
    """Positions within `reach` of the predicted centre, and the Gaussian's logarithm as their gain."""

    needs_length = True

    def __init__(self, *, query_size: int, reach: int, eos: bool = True, renormalise: bool = False) -> None:
        super().__init__(reach=reach, eos=eos)
        self.renormalise = renormalise
        self.hidden = nn.Linear(query_size, query_size, bias=False)
        self.centre = nn.Linear(query_size, 1, bias=False)

    def forward(self, query: Tensor, valid: Tensor, position: Tensor) -> Windowed:
        """Query [B, T, Q], valid [B, S] -> allowed and log_gain [B, T, S]."""
        readable, lengths = self.readable(valid)
        centre = lengths * self.centre(self.hidden(query).tanh()).sigmoid().squeeze(-1)  # [B, T]
        away = distance(centre, valid.shape[1])
        log_gain = -(away**2) / (2 * (self.reach / 2) ** 2)
        return Windowed(self.near(away, readable), log_gain, self.renormalise)
