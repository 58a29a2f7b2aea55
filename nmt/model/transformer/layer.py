"""The parts of a Transformer layer: a residual block with its normalisation before or after, and the feed-forward net.

Shape letters: N rows, T positions, D model size, F feed-forward size.
"""

from __future__ import annotations

from torch import Tensor, nn

from nmt.model.attention.attention import AttentionLike
from nmt.model.dropout import Dropout


class Residual(nn.Module):
    """x + f(norm(x)) (pre-norm: Xiong 2020) or norm(x + f(x)) (post-norm: Vaswani 2017, section 3.1).

    `enter` gives what f reads, `leave` joins f's result to x.
    """

    def __init__(self, *, size: int, pre_norm: bool, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.pre_norm = pre_norm
        self.dropout = Dropout(dropout)

    def enter(self, x: Tensor) -> Tensor:
        """[N, T, D] -> what the block's function reads."""
        normed: Tensor = self.norm(x) if self.pre_norm else x
        return normed

    def leave(self, x: Tensor, result: Tensor) -> Tensor:
        """The block's input and its function's result -> the block's output [N, T, D]."""
        joined = self.dropout.add(x, result)
        return joined if self.pre_norm else self.norm(joined)


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2 (Vaswani 2017, equation 2)."""

    def __init__(self, *, size: int, inner_size: int, dropout: float) -> None:
        super().__init__()
        if inner_size < 1:
            raise ValueError(f"feedforward_size is {inner_size}: it must be at least 1")
        self.inner = nn.Linear(size, inner_size)
        self.outer = nn.Linear(inner_size, size)
        self.dropout = Dropout(dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """[N, T, D] -> [N, T, D]."""
        result: Tensor = self.outer(self.dropout.relu(self.inner(x)))
        return result


def final_norm(*, size: int, pre_norm: bool) -> nn.Module:
    """A pre-norm stack's last sum is not normalised by any layer, so the stack does it."""
    return nn.LayerNorm(size) if pre_norm else nn.Identity()


def check_self_attention(attention: AttentionLike) -> None:
    """Only what a decoder reads of the source may be a mixture, drawn and judged by the loss, or kept in mind."""
    if attention.mixes or attention.samples:
        raise ValueError("self-attention can't be a mixture, nor drawn for the loss to judge: take a soft normalizer")
    if attention.feeds_back:
        raise ValueError("self-attention reads all positions at once: coverage is for attention over the source")


def check_layers(layers: int) -> None:
    """A Transformer without layers would be an embedding."""
    if layers < 1:
        raise ValueError(f"layers is {layers}: it must be at least 1")
