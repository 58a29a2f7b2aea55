"""No attention: the fixed-vector encoder-decoder (Sutskever 2014; with the vector fed at every step: Cho 2014).

Shape letters: B sentences, N query rows (B or B x beam), T query positions, S source positions, D memory size.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from nmt.model.attention.attention import Prepared
from nmt.model.interface import Attended


class NoAttention(nn.Module):
    """Zero weights, and for context the encoder's summary at every step (`feed_summary`) or nothing at all."""

    feeds_back = False
    mixes = False
    samples = False
    heads = 1

    def __init__(self, *, query_size: int, memory_size: int, feed_summary: bool = False) -> None:
        super().__init__()
        self.context_size = memory_size if feed_summary else 0

    def prepare(self, states: Tensor, valid: Tensor, summary: Tensor, first: int = 0) -> Prepared:
        """Keeps the summary; there are no keys."""
        return Prepared(states[:, :, :0], states[:, :, :0], valid, summary)

    def start(self, prepared: Prepared) -> tuple[Any, ...]:
        """Nothing is carried from position to position."""
        return ()

    def forward(
        self, query: Tensor, prepared: Prepared, state: tuple[Any, ...], position: Tensor, need_weights: bool = True
    ) -> tuple[Attended, tuple[Any, ...]]:
        """Query [N, T, Q] -> context [N, T, D or 0] and zero weights [N, 1, T, S]."""
        rows, steps = query.shape[:2]
        sentences, size = prepared.valid.shape
        summary = prepared.summary[:, : self.context_size].repeat_interleave(rows // sentences, dim=0)
        zeros = query.new_zeros(rows, 1, steps, size)
        return Attended(summary.unsqueeze(1).expand(-1, steps, -1), zeros, zeros, None, None, {}), state
