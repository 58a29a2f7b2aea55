"""The Transformer decoder: causal self-attention, attention over the source, feed-forward, layer on layer.

Vaswani 2017, section 3.1. Unlike the recurrent decoder it has no wiring: every layer attends once, with its own query.

Shape letters: B sentences, N rows (B, or B x beam in search), T target positions, S source positions, D model size,
L layers, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.model.attention.attention import AttentionLike, Prepared
from nmt.model.dropout import Dropout
from nmt.model.embedding import Embedding, Projection
from nmt.model.interface import DecoderOutput, EncoderSizes, Memory, Step, mix
from nmt.model.positions.position import Position
from nmt.model.transformer.layer import FeedForward, Residual, check_layers, check_self_attention, final_norm


class LayerState(NamedTuple):
    """past: keys and values of the positions already decoded, a row a hypothesis; cross_attention: what attention over
    the source carries from position to position."""

    past: Prepared
    cross_attention: tuple[Any, ...]


class TransformerState(NamedTuple):
    """A LayerState a layer, and the position [N] of the next token."""

    layers: tuple[LayerState, ...]
    position: Tensor


class LayerOutput(NamedTuple):
    """x [N, T, D]; log_choice [N, T]; weights [N, H, T, S]; self_weights [N, H, T, T]; losses by name; next state."""

    x: Tensor
    log_choice: Tensor | None
    weights: Tensor
    self_weights: Tensor
    losses: dict[str, Tensor]
    state: LayerState


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention, feed-forward, each in a residual block."""

    def __init__(
        self,
        *,
        size: int,
        memory_size: int,
        feedforward_size: int,
        self_attention: Callable[..., AttentionLike],
        cross_attention: Callable[..., AttentionLike],
        position: Callable[..., Position],
        pre_norm: bool,
        dropout: float,
        activation_dropout: float,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention(query_size=size, memory_size=size, position=position, causal=True)
        check_self_attention(self.self_attention)
        self.cross_attention = cross_attention(query_size=size, memory_size=memory_size)
        if self.cross_attention.mixes:
            raise ValueError(
                "attention reads a mixture (marginal hard attention), and one context must enter the residual sum: "
                "take the reinforce or gumbel normalizer, or a recurrent decoder"
            )
        if self.cross_attention.context_size != size:
            context = self.cross_attention.context_size
            raise ValueError(f"attention reads a context of {context} numbers, and the residual sum needs {size}")
        self.feeds_back = self.cross_attention.feeds_back
        self.feedforward = FeedForward(size=size, inner_size=feedforward_size, dropout=activation_dropout)
        self.self_block = Residual(size=size, pre_norm=pre_norm, dropout=dropout)
        self.cross_block = Residual(size=size, pre_norm=pre_norm, dropout=dropout)
        self.feedforward_block = Residual(size=size, pre_norm=pre_norm, dropout=dropout)

    def forward(
        self,
        x: Tensor,
        state: LayerState,
        cross: Any,
        valid: Tensor,
        position: Tensor,
        need_weights: bool,
        causal: bool = True,
    ) -> LayerOutput:
        """x [N, T, D] at positions [N or 1, T], the positions before them in `state` -> LayerOutput.

        valid [N, T]: True everywhere, causality alone restricting the past (padding stands behind every real query);
        but without `causal`, what every position may read.
        """
        inner = self.self_block.enter(x)
        first = state.past.valid.shape[1]
        past = extend(state.past, self.self_attention.prepare(inner, valid, inner[:, 0], first))
        own, _ = self.self_attention(inner, past, self.self_attention.start(past), position, need_weights, causal)
        x = self.self_block.leave(x, own.context)
        query = self.cross_block.enter(x)
        read, cross_state = self.cross_attention(query, cross, state.cross_attention, position, need_weights)
        x = self.cross_block.leave(x, read.context)
        x = self.feedforward_block.leave(x, self.feedforward(self.feedforward_block.enter(x)))
        return LayerOutput(
            x,
            read.log_choice,
            read.weights,
            own.weights,
            read.losses,
            LayerState(past, cross_state),
        )


def extend(past: Prepared, new: Prepared) -> Prepared:
    """Keys and values of earlier and of new positions, in order."""
    if past.valid.shape[1] == 0:
        return new
    keys, values = (torch.cat(pair, dim=-2) for pair in ((past.keys, new.keys), (past.values, new.values)))
    return Prepared(keys, values, torch.cat([past.valid, new.valid], dim=1), past.summary)


class TransformerDecoder(nn.Module):
    """The layers over a memory of any encoder.

    self_attention, attention, position, relative: classes (or any callables), built here: `position` once for the
    input, the others in every layer. tied: the output projection shares the embedding's table. dropout,
    activation_dropout: see `TransformerEncoder`.

    Raises:
        ValueError: the attention reads a context of another size than the model's, which the residual sum needs, or a
            mixture.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: EncoderSizes,
        layers: int,
        feedforward_size: int,
        self_attention: Callable[..., AttentionLike],
        attention: Callable[..., AttentionLike],
        position: Callable[..., Position],
        relative: Callable[..., Position] = Position,
        pre_norm: bool = True,
        dropout: float = 0.0,
        activation_dropout: float = 0.0,
        tied: bool = False,
    ) -> None:
        super().__init__()
        check_layers(layers)
        size = embedding.size
        self.embedding = embedding
        self.position = position(size=size, head_size=size)
        self.dropout = Dropout(dropout)
        self.blocks = nn.ModuleList(
            DecoderLayer(
                size=size,
                memory_size=encoder.output_size,
                feedforward_size=feedforward_size,
                self_attention=self_attention,
                cross_attention=attention,
                position=relative,
                pre_norm=pre_norm,
                dropout=dropout,
                activation_dropout=activation_dropout,
            )
            for _ in range(layers)
        )
        self.norm = final_norm(size=size, pre_norm=pre_norm)
        self.projection = Projection(
            input_size=size, vocabulary_size=embedding.vocabulary_size, tied=embedding if tied else None
        )
        self.layers = layers
        first = self.stacked()[0]
        self.heads = first.cross_attention.heads
        self.samples = first.cross_attention.samples
        self.carries = first.feeds_back or layers > 1
        self.looks_ahead = not first.feeds_back
        self.longest = self.position.longest

    def stacked(self) -> list[DecoderLayer]:
        """The layers with their type, which nn.ModuleList does not keep."""
        return cast(list[DecoderLayer], list(self.blocks))

    def prepare(self, memory: Memory) -> tuple[Any, ...]:
        """Each layer's keys and values of the source, a row a sentence."""
        return tuple(
            block.cross_attention.prepare(memory.states, memory.valid, memory.summary) for block in self.stacked()
        )

    def start(self, prepared: tuple[Any, ...]) -> TransformerState:
        """No past, position 0."""
        summary = prepared[0].summary
        x = summary.new_zeros(len(summary), 0, self.embedding.size)
        none = torch.ones(len(summary), 0, dtype=torch.bool, device=x.device)
        layers = []
        for block, cross in zip(self.stacked(), prepared, strict=True):
            past = block.self_attention.prepare(x, none, x.sum(1))
            layers.append(LayerState(past, block.cross_attention.start(cross)))
        return TransformerState(tuple(layers), torch.zeros(len(x), dtype=torch.long, device=x.device))

    def step(self, token: Tensor, state: TransformerState, prepared: tuple[Any, ...]) -> Step:
        """Tokens [N] -> output for the position after them (T = 1) and the next state."""
        layers, position = state
        first = layers[0].past.valid.shape[1]
        output, layers = self.run(token.unsqueeze(1), first, position.unsqueeze(1), layers, prepared, ())
        return Step(output, TransformerState(layers, position + 1))

    def forward(
        self,
        target_in: Tensor,
        prepared: tuple[Any, ...],
        weights_of: Sequence[int] = (),
        full_context: Tensor | None = None,
    ) -> DecoderOutput:
        """Ids [B, T] -> output for every position, with weights of the layers named in `weights_of`.

        full_context [B, T]: the positions that every position may read, those after it too (padding must not be one);
        None: each reads those up to itself. In one call of everything, but where an attention feeds back.
        """
        if not self.looks_ahead:
            assert full_context is None, "what feeds back has no later positions to read"
            return self.one_by_one(target_in, prepared, weights_of)
        position = torch.arange(target_in.shape[1], device=target_in.device).unsqueeze(0)
        layers = self.start(prepared).layers
        output, _ = self.run(target_in, 0, position, layers, prepared, weights_of, full_context)
        return output

    def one_by_one(self, target_in: Tensor, prepared: tuple[Any, ...], weights_of: Sequence[int]) -> DecoderOutput:
        """Position after position, each with what the attention keeps of those before it."""
        layers, outputs = self.start(prepared).layers, []
        for first, token in enumerate(target_in.unbind(1)):
            position = torch.full((1, 1), first, device=token.device)
            output, layers = self.run(token.unsqueeze(1), first, position, layers, prepared, weights_of)
            outputs.append(output)
        return join(outputs)

    def run(
        self,
        tokens: Tensor,
        first: int,
        position: Tensor,
        states: tuple[LayerState, ...],
        prepared: tuple[Any, ...],
        weights_of: Sequence[int],
        full_context: Tensor | None = None,
    ) -> tuple[DecoderOutput, tuple[LayerState, ...]]:
        """Ids [N, T] that follow `first` decoded ones -> output and the layers' next states."""
        x = self.dropout(self.position.embed(self.embedding(tokens), first))
        causal = full_context is None
        valid = torch.ones_like(tokens, dtype=torch.bool) if full_context is None else full_context
        results: list[LayerOutput] = []
        for number, (block, state, cross) in enumerate(zip(self.stacked(), states, prepared, strict=True)):
            results.append(block(x, state, cross, valid, position, number in weights_of, causal))
            x = results[-1].x
        rows, steps = tokens.shape
        kept = [results[number] for number in weights_of]
        output = DecoderOutput(
            states=self.norm(x),
            log_prior=None,
            log_choice=add([result.log_choice for result in results]),
            weights=stack([result.weights for result in kept], rows, steps, prepared[0].valid.shape[-1], x),
            self_weights=stack([result.self_weights for result in kept], rows, steps, first + steps, x),
            losses=sum_by_name([result.losses for result in results]),
        )
        return output, tuple(result.state for result in results)

    def readout(self, states: Tensor, log_prior: Tensor | None) -> Tensor:
        """States [..., D] -> logits [..., V]."""
        return mix(self.projection(states), log_prior)


def join(outputs: list[DecoderOutput]) -> DecoderOutput:
    """Outputs of single positions, in order -> that of all of them; self-attention gets zeros for what came later."""
    steps = len(outputs)
    choices = [output.log_choice for output in outputs if output.log_choice is not None]
    return DecoderOutput(
        states=torch.cat([output.states for output in outputs], dim=1),
        log_prior=None,
        log_choice=torch.cat(choices, dim=1) if choices else None,
        weights=torch.cat([output.weights for output in outputs], dim=3),
        self_weights=torch.cat(
            [F.pad(output.self_weights, (0, steps - output.self_weights.shape[-1])) for output in outputs], dim=3
        ),
        losses={name: torch.cat([output.losses[name] for output in outputs], dim=1) for name in outputs[0].losses},
    )


def stack(weights: list[Tensor], rows: int, steps: int, size: int, like: Tensor) -> Tensor:
    """Layers' weights [N, H, T, S] -> [N, layers, H, T, S]; of no layer, an empty one."""
    return torch.stack(weights, dim=1) if weights else like.new_zeros(rows, 0, 0, steps, size)


def add(parts: list[Tensor | None]) -> Tensor | None:
    """The sum of what is there, None where nothing is."""
    there = [part for part in parts if part is not None]
    return torch.stack(there).sum(0) if there else None


def sum_by_name(losses: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Each layer's named terms [N, T], added up by name."""
    total: dict[str, Tensor] = {}
    for layer in losses:
        for name, loss in layer.items():
            total[name] = total[name] + loss if name in total else loss
    return total
