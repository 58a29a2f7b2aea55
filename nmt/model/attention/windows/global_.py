"""Global attention: every source position may be read (Luong 2015, section 3.1)."""

from __future__ import annotations

from torch import Tensor, nn

from nmt.model.attention.windows.window import Windowed


class Global(nn.Module):
    """All valid positions, no gain."""

    needs_length = False

    def __init__(self, *, query_size: int) -> None:
        super().__init__()

    def forward(self, query: Tensor, valid: Tensor, position: Tensor) -> Windowed:
        """Query [B, T, Q], valid [B, S], position [B or 1, T] -> allowed [B, 1, S]."""
        return Windowed(valid.unsqueeze(1), None)
