"""The recurrent decoder: embedding, a stack of cells, and a wiring that says where attention stands.

Shape letters: B sentences, N rows (B, or B x beam in search), T target positions, E embedding size, H hidden size,
R readout size, M mixture components, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.model.attention.attention import AttentionLike
from nmt.model.dropout import Dropout
from nmt.model.embedding import Embedding, Projection
from nmt.model.interface import Attended, DecoderOutput, EncoderSizes, Memory, Step, mix
from nmt.model.recurrent.bridge import Bridge
from nmt.model.recurrent.cell import COMPONENTS, StackState
from nmt.model.recurrent.stack import RecurrentStack
from nmt.model.recurrent.variational import SentenceMasks
from nmt.model.recurrent.wiring import AfterStep, BeforeStep, RecurrentState


class RecurrentPrepared(NamedTuple):
    """Once a sentence: what the attention prepared, the stack's first state, and dropout's masks that are shared."""

    attention: Any
    first: StackState
    masks: SentenceMasks


class RecurrentDecoder(nn.Module):
    """Luong's or Bahdanau's decoder, by its wiring, over any attention.

    attention, wiring: classes (or any callables), built here where their sizes are known. tied: the output projection
    shares the embedding's table (two-way; three-way when the encoder has the same embedding), whose size the readout
    then has; otherwise it has the hidden size. dropout_shared: dropout draws one mask a sentence for all its positions
    (`variational`); the attention's own dropout goes on drawing afresh.
    """

    layers = 1  # of attention over the source
    looks_ahead = False
    longest: int | None = None

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: EncoderSizes,
        attention: Callable[..., AttentionLike],
        wiring: Callable[..., AfterStep | BeforeStep],
        hidden_size: int,
        layers: int = 1,
        cell: str = "gru",
        dropout: float = 0.0,
        dropout_shared: bool = False,
        tied: bool = False,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.dropout = Dropout(dropout)
        self.dropout_shared = dropout_shared
        readout_size = embedding.size if tied else hidden_size
        self.wiring = wiring(
            attention=attention(query_size=hidden_size, memory_size=encoder.output_size),
            embedding_size=embedding.size,
            hidden_size=hidden_size,
            readout_size=readout_size,
            dropout=dropout,
        )
        self.heads, self.samples = self.wiring.attention.heads, self.wiring.attention.samples
        self.carries = self.wiring.feeds_back
        self.stack = RecurrentStack(
            input_size=embedding.size + self.wiring.feed_size,
            hidden_size=hidden_size,
            layers=layers,
            cell=cell,
            dropout=dropout,
        )
        self.bridge = Bridge(
            final_shape=encoder.final_shape,
            summary_size=encoder.output_size,
            layers=layers,
            components=COMPONENTS[cell],
            hidden_size=hidden_size,
            backward_only=self.wiring.backward_bridge,
        )
        self.projection = Projection(
            input_size=readout_size, vocabulary_size=embedding.vocabulary_size, tied=embedding if tied else None
        )

    def prepare(self, memory: Memory) -> RecurrentPrepared:
        """Keys, the first state and shared masks, a row a sentence."""
        prepared = self.wiring.attention.prepare(memory.states, memory.valid, memory.summary)
        first = self.bridge(memory)
        return RecurrentPrepared(prepared, first, self.draw(first) if self.dropout_shared else SentenceMasks())

    def draw(self, first: StackState) -> SentenceMasks:
        """Masks for the sentences whose first state is this; empty ones where nothing is dropped."""
        hidden = first[0][0]
        rows = len(hidden)
        return SentenceMasks(
            embedded=self.dropout.draw(hidden.new_empty(rows, 1, self.embedding.size)),
            between=tuple(mask for layer in first[:-1] for mask in self.dropout.draw(layer[0])),
            output=self.dropout.draw(hidden.new_empty(rows, 1, self.projection.in_features)),
        )

    def start(self, prepared: RecurrentPrepared) -> RecurrentState:
        """The state before the first token."""
        hidden = prepared.first[0][0]
        return RecurrentState(
            stack=prepared.first,
            feed=hidden.new_zeros(len(hidden), self.wiring.feed_size),
            attention=self.wiring.attention.start(prepared.attention),
            position=torch.zeros(len(hidden), dtype=torch.long, device=hidden.device),
        )

    def step(self, token: Tensor, state: RecurrentState, prepared: RecurrentPrepared) -> Step:
        """Tokens [N] -> output for the position after them (T = 1) and the next state."""
        embedded = self.dropout(self.embedding(token.unsqueeze(1)), prepared.masks.embedded)
        word_weight, feed_weight = self.stack.split_input(embedded.shape[-1])
        gates = self.gates(embedded, word_weight)[:, 0]
        trace, attended, state = self.advance(gates, feed_weight, state, prepared)
        return Step(self.output(self.wiring.finish(trace, embedded, prepared.masks), [attended]), state)

    def advance(
        self, gates: Tensor, feed_weight: Tensor, state: RecurrentState, prepared: RecurrentPrepared
    ) -> tuple[Tensor, Attended, RecurrentState]:
        """The wiring's own `advance`, from what was prepared."""
        return self.wiring.advance(gates, feed_weight, state, prepared.attention, self.stack, prepared.masks)

    def forward(self, target_in: Tensor, prepared: RecurrentPrepared, weights_of: Sequence[int] = ()) -> DecoderOutput:
        """Ids [B, T] -> output for every position; in one call of everything where nothing feeds back."""
        embedded = self.dropout(self.embedding(target_in), prepared.masks.embedded)
        if isinstance(self.wiring, AfterStep) and not self.wiring.feeds_back:
            return self.together(self.wiring, embedded, prepared)
        return self.one_by_one(embedded, prepared)

    def together(self, wiring: AfterStep, embedded: Tensor, prepared: RecurrentPrepared) -> DecoderOutput:
        """All positions at once: one recurrent call, one attention call."""
        states = self.stack.run(embedded, prepared.first, prepared.masks.between)
        position = torch.arange(embedded.shape[1], device=embedded.device).unsqueeze(0)
        state = wiring.attention.start(prepared.attention)
        attended, _ = wiring.attention(states, prepared.attention, state, position)
        return self.output(wiring.attentional(states, attended, prepared.masks), [attended])

    def one_by_one(self, embedded: Tensor, prepared: RecurrentPrepared) -> DecoderOutput:
        """Position after position, with the embeddings' share of the gates computed for all of them before."""
        word_weight, feed_weight = self.stack.split_input(embedded.shape[-1])
        state = self.start(prepared)
        traces, reads = [], []
        for gates in self.gates(embedded, word_weight).unbind(1):
            trace, attended, state = self.advance(gates, feed_weight, state, prepared)
            traces.append(trace)
            reads.append(attended)
        return self.output(self.wiring.finish(torch.cat(traces, dim=1), embedded, prepared.masks), reads)

    def gates(self, embedded: Tensor, word_weight: Tensor) -> Tensor:
        """The embeddings' share of layer 0's input gates, bias included: [N, T, G H]."""
        return F.linear(embedded, word_weight, self.stack.rnn.bias_ih_l0)

    def output(self, states: Tensor, reads: list[Attended]) -> DecoderOutput:
        """Readout states [N, T, R] and what was read, position by position -> DecoderOutput."""
        priors = [read.log_prior for read in reads if read.log_prior is not None]
        choices = [read.log_choice for read in reads if read.log_choice is not None]
        positions = [read.positions for read in reads if read.positions is not None]
        weights = torch.cat([read.weights for read in reads], dim=2)  # [N, H, T, S]
        rows, steps = states.shape[:2]
        return DecoderOutput(
            states=states,
            log_prior=torch.cat(priors, dim=1) if priors else None,
            log_choice=torch.cat(choices, dim=1) if choices else None,
            weights=weights.unsqueeze(1),
            self_weights=states.new_zeros(rows, 0, 0, steps, steps),
            losses={name: torch.cat([read.losses[name] for read in reads], dim=1) for name in reads[0].losses},
            positions=torch.cat(positions, dim=1) if positions else None,
        )

    def readout(self, states: Tensor, log_prior: Tensor | None) -> Tensor:
        """Readout states [..., R] (or [..., M, R] with log_prior [..., M]) -> logits (log-probabilities)."""
        return mix(self.projection(states), log_prior)
