"""The Transformer encoder: self-attention over the source, layer on layer (Vaswani 2017, section 3.1).

Shape letters: B sentences, S source positions, D model size, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention.attention import AttentionLike
from nmt.model.dropout import Dropout
from nmt.model.embedding import Embedding
from nmt.model.interface import Memory
from nmt.model.positions.position import Position
from nmt.model.transformer.layer import FeedForward, Residual, check_layers, check_self_attention, final_norm


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each in a residual block."""

    def __init__(
        self,
        *,
        size: int,
        feedforward_size: int,
        self_attention: Callable[..., AttentionLike],
        position: Callable[..., Position],
        pre_norm: bool,
        dropout: float,
        activation_dropout: float,
    ) -> None:
        super().__init__()
        self.attention = self_attention(query_size=size, memory_size=size, position=position)
        check_self_attention(self.attention)
        self.feedforward = FeedForward(size=size, inner_size=feedforward_size, dropout=activation_dropout)
        self.attention_block = Residual(size=size, pre_norm=pre_norm, dropout=dropout)
        self.feedforward_block = Residual(size=size, pre_norm=pre_norm, dropout=dropout)

    def forward(self, x: Tensor, valid: Tensor, position: Tensor, need_weights: bool) -> tuple[Tensor, Tensor]:
        """x [B, S, D], valid [B, S], position [1, S] -> (x, weights [B, H, S, S])."""
        inner = self.attention_block.enter(x)
        prepared = self.attention.prepare(inner, valid, inner[:, 0])
        attended, _ = self.attention(inner, prepared, self.attention.start(prepared), position, need_weights)
        assert not attended.losses, "a Memory carries no losses of self-attention"
        x = self.attention_block.leave(x, attended.context)
        x = self.feedforward_block.leave(x, self.feedforward(self.feedforward_block.enter(x)))
        return x, attended.weights


class TransformerEncoder(nn.Module):
    """Memory states are the last layer's; the summary is their mean over valid positions.

    self_attention, position, relative: classes (or any callables), built here, `position` once for the input and
    `relative` in every layer. dropout: of the input and of what each block gives; activation_dropout: of the ReLU in a
    feed-forward net (Vaswani 2017, section 5.4, has none there).
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        layers: int,
        feedforward_size: int,
        self_attention: Callable[..., AttentionLike],
        position: Callable[..., Position],
        relative: Callable[..., Position] = Position,
        pre_norm: bool = True,
        dropout: float = 0.0,
        activation_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_layers(layers)
        size = embedding.size
        self.embedding = embedding
        self.position = position(size=size, head_size=size)
        self.dropout = Dropout(dropout)
        self.blocks = nn.ModuleList(
            EncoderLayer(
                size=size,
                feedforward_size=feedforward_size,
                self_attention=self_attention,
                position=relative,
                pre_norm=pre_norm,
                dropout=dropout,
                activation_dropout=activation_dropout,
            )
            for _ in range(layers)
        )
        self.norm = final_norm(size=size, pre_norm=pre_norm)
        self.layers = layers
        self.output_size = size
        self.final_shape = (0, 1, 1, size)
        self.longest = self.position.longest

    def forward(self, source: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory:
        """Ids [B, S], lengths [B] -> Memory, with weights of the layers named in `weights_of`."""
        return self.read(self.embedding(source), lengths, weights_of)

    def read(self, embedded: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory:
        """`forward` from the embedded ids [B, S, D] on."""
        rows, size, _ = embedded.shape
        valid = masks.valid_mask(lengths, size)
        x = self.dropout(self.position.embed(embedded, 0))
        position = torch.arange(size, device=x.device).unsqueeze(0)
        kept = []
        for number, block in enumerate(self.blocks):
            x, weights = block(x, valid, position, number in weights_of)
            if number in weights_of:
                kept.append(weights)
        x = self.norm(x)
        return Memory(
            states=x,
            valid=valid,
            summary=masks.mean(x, valid),
            final=x.new_zeros(rows, *self.final_shape),
            weights=torch.stack(kept, dim=1) if kept else x.new_zeros(rows, 0, 0, size, size),
        )
