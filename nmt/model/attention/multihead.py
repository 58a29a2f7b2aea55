"""Multi-head attention: H attentions on projections of their own, folded into the batch (Vaswani 2017, section 3.2.2).

Serves the Transformer's three uses and recurrent decoders, around any attention.

Shape letters: B sentences, N query rows (B or B x beam), T query positions, S source positions, H heads, d head size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn

from nmt.model.attention.attention import Attention, Prepared
from nmt.model.interface import Attended, map_tensors
from nmt.model.positions.position import Position


class MultiHead(nn.Module):
    """`heads` attentions of `size` / `heads` each (size 0: the query's); their contexts are joined and projected.

    head: builds the attention of one head, called with its query_size, memory_size, position and causal.

    Raises:
        ValueError: `heads` does not divide `size`, or the head's normalizer is a mixture.
    """

    def __init__(
        self,
        *,
        query_size: int,
        memory_size: int,
        heads: int,
        head: Callable[..., Attention],
        size: int = 0,
        position: Callable[..., Position] = Position,
        causal: bool = False,
    ) -> None:
        super().__init__()
        size = size or query_size
        if heads < 1 or size % heads:
            raise ValueError(f"heads is {heads}: it must divide the size that the heads share, {size}")
        self.heads = heads
        self.context_size = size
        self.query = nn.Linear(query_size, size)
        self.key_value = nn.Linear(memory_size, 2 * size)
        self.output = nn.Linear(size, size)
        self.head = head(
            query_size=size // heads, memory_size=size // heads, position=partial(position, heads=heads), causal=causal
        )
        if self.head.mixes:
            raise ValueError("a mixture over positions (marginal hard attention) can't be had in many heads: take one")
        self.mixes, self.samples = False, self.head.samples
        self.feeds_back = self.head.feeds_back
        for projection in (self.query.weight, *self.key_value.weight.chunk(2), self.output.weight):
            nn.init.xavier_uniform_(projection)
        for bias in (self.query.bias, self.key_value.bias, self.output.bias):
            nn.init.zeros_(bias)

    def split(self, x: Tensor) -> Tensor:
        """[B, T, H d] -> [B, H, T, d]."""
        return unflatten(x, 2, (self.heads, -1)).transpose(1, 2)

    def prepare(self, states: Tensor, valid: Tensor, summary: Tensor, first: int = 0) -> Prepared:
        """States [B, S, D] -> keys and values [B, H, S, d] of every head; the row stays a sentence, for `select`."""
        keys, values = self.key_value(states).chunk(2, dim=-1)
        turned = self.head.keys(self.split(keys).flatten(0, 1), first)
        return Prepared(unflatten(turned, 0, (-1, self.heads)), self.split(values).contiguous(), valid, summary)

    def for_heads(self, prepared: Prepared) -> Prepared:
        """The same with sentences x heads as rows, as one head sees it."""
        keys, values, valid, summary = prepared
        return Prepared(
            keys.flatten(0, 1),
            values.flatten(0, 1),
            valid.repeat_interleave(self.heads, dim=0),
            summary.repeat_interleave(self.heads, dim=0),
        )

    def start(self, prepared: Prepared) -> tuple[Any, ...]:
        """The heads' own states, a row a sentence."""
        state = self.head.start(self.for_heads(prepared))
        return map_tensors(state, lambda x: unflatten(x, 0, (-1, self.heads)))

    def forward(
        self,
        query: Tensor,
        prepared: Prepared,
        state: tuple[Any, ...],
        position: Tensor,
        need_weights: bool = True,
        causal: bool = True,
    ) -> tuple[Attended, tuple[Any, ...]]:
        """Query [N, T, Q] at positions [N or 1, T] -> context [N, T, size], weights [N, H, T, S]."""
        sentences = prepared.valid.shape[0]

        def fold(x: Tensor) -> Tensor:  # [B x beam, H, ...] -> [B x H x beam, ...]
            return unflatten(x, 0, (sentences, -1)).transpose(1, 2).flatten(0, 2)

        def unfold(x: Tensor) -> Tensor:  # and back
            return unflatten(x, 0, (sentences, self.heads, -1)).transpose(1, 2).flatten(0, 1)

        if position.shape[0] > 1:
            position = fold(position.unsqueeze(1).expand(-1, self.heads, -1))
        attended, state = self.head(
            fold(self.split(self.query(query))),
            self.for_heads(prepared),
            map_tensors(state, fold),
            position,
            need_weights,
            causal,
        )
        joined = unfold(attended.context).movedim(1, -2).flatten(-2)  # [N, T, size]
        return (
            Attended(
                self.output(joined),
                unfold(attended.weights).flatten(1, 2),
                unfold(attended.energies).flatten(1, 2),
                None,
                None if attended.log_choice is None else unfold(attended.log_choice).sum(1),
                {name: unfold(loss).sum(1) for name, loss in attended.losses.items()},
            ),
            map_tensors(state, unfold),
        )


def unflatten(x: Tensor, axis: int, sizes: tuple[int, ...]) -> Tensor:
    """Tensor.unflatten, which torch leaves without types."""
    split: Tensor = x.unflatten(axis, sizes)  # type: ignore[no-untyped-call]
    return split
