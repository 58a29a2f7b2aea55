"""Where attention stands in a recurrent step: before it (Bahdanau) or after it (Luong).

A score alone does not make a paper's attention. An additive score after the step is Luong's concat; Bahdanau's
attention is an additive score before the step, with his deep output.

Shape letters: N rows, T positions, E embedding size, H hidden size, D context size, R readout size, G gates, M mixture.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.model.attention.attention import AttentionLike
from nmt.model.dropout import Dropout
from nmt.model.interface import Attended
from nmt.model.recurrent.cell import StackState
from nmt.model.recurrent.stack import RecurrentStack
from nmt.model.recurrent.variational import SentenceMasks


class RecurrentState(NamedTuple):
    """stack: a tuple of layers, each a tuple of its components [N, H]; feed [N, F]: what enters the next step beside
    the embedding (F = 0 for nothing); attention: its own state; position [N], of the next token."""

    stack: StackState
    feed: Tensor
    attention: tuple[Any, ...]
    position: Tensor

    @property
    def top(self) -> Tensor:
        """The top layer's hidden state [N, H]."""
        return self.stack[-1][0]


def expected(attended: Attended) -> Tensor:
    """The context [N, T, D] to feed on: of a mixture its mean under the prior (Shankar 2018)."""
    if attended.log_prior is None:
        return attended.context
    return (attended.log_prior.exp().unsqueeze(-1) * attended.context).sum(-2)


def beside(states: Tensor, context: Tensor) -> Tensor:
    """[context; states]: states [N, T, H] stand beside every component of a mixture's context [N, T, M, D]."""
    if context.dim() == 4:
        states = states.unsqueeze(2).expand(-1, -1, context.shape[2], -1)
    return torch.cat([context, states], dim=-1)


def drop_output(dropout: Dropout, units: Tensor, masks: SentenceMasks) -> Tensor:
    """Readout states [N, T, R] (or [N, T, M, R]), dropped; a sentence's mask serves all components of a mixture."""
    drawn = masks.output
    if units.dim() == 4:
        drawn = tuple(mask.unsqueeze(2) for mask in drawn)
    output: Tensor = dropout(units, drawn)
    return output


class AfterStep(nn.Module):
    """Luong 2015: step, attend with the new state, a_t = tanh(W_c [c_t; h_t]) (equation 5), predict from a_t.

    With `input_feeding` a_t enters the next step beside the embedding (section 3.3). Without it nothing feeds back,
    unless the attention itself does, and the whole target runs in one call.
    """

    backward_bridge = False

    def __init__(
        self,
        *,
        attention: AttentionLike,
        embedding_size: int,
        hidden_size: int,
        readout_size: int,
        dropout: float,
        input_feeding: bool = True,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_size = readout_size if input_feeding else 0
        self.feeds_back = input_feeding or attention.feeds_back
        self.combine = nn.Linear(attention.context_size + hidden_size, readout_size, bias=False)
        self.dropout = Dropout(dropout)

    def attentional(self, states: Tensor, attended: Attended, masks: SentenceMasks) -> Tensor:
        """Hidden states [N, T, H] and what they read -> attentional states [N, T, R] (or [N, T, M, R])."""
        return drop_output(self.dropout, torch.tanh(self.combine(beside(states, attended.context))), masks)

    def advance(
        self,
        gates: Tensor,
        feed_weight: Tensor,
        state: RecurrentState,
        prepared: Any,
        stack: RecurrentStack,
        masks: SentenceMasks,
    ) -> tuple[Tensor, Attended, RecurrentState]:
        """The embedding's share of the input gates [N, G H] -> (a_t [N, 1, R], what was read, next state)."""
        if self.feed_size:
            gates = gates + F.linear(state.feed, feed_weight)
        layers = stack.step(gates, state.stack, masks.between)
        position = state.position.unsqueeze(1)
        query = layers[-1][0].unsqueeze(1)
        attended, attention = self.attention(query, prepared, state.attention, position)
        output = self.attentional(query, attended, masks)
        feed = state.feed
        if self.feed_size and attended.log_prior is None:
            feed = output.squeeze(1)
        elif self.feed_size:
            mean = attended._replace(context=expected(attended), log_prior=None)
            feed = self.attentional(query, mean, masks).squeeze(1)
        return output, attended, RecurrentState(layers, feed, attention, state.position + 1)

    def finish(self, traces: Tensor, embedded: Tensor, masks: SentenceMasks) -> Tensor:
        """`advance` left nothing to do."""
        return traces


class BeforeStep(nn.Module):
    """Bahdanau 2015: attend with the previous state, let the context enter the cell, predict by a deep output.

    Appendix A.2.2: t = U_o s_{t-1} + V_o E y_{t-1} + C_o c_t, halved by maxout over pairs. As published the readout
    uses the previous state s_{t-1}, not the one that the step makes (Nematus and others use s_t), and the first state
    comes from the backward encoder alone.
    """

    backward_bridge = True
    feeds_back = True

    def __init__(
        self,
        *,
        attention: AttentionLike,
        embedding_size: int,
        hidden_size: int,
        readout_size: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_size = attention.context_size
        self.deep = nn.Linear(attention.context_size + hidden_size, 2 * readout_size)
        self.deep_embedding = nn.Linear(embedding_size, 2 * readout_size, bias=False)
        self.dropout = Dropout(dropout)

    def advance(
        self,
        gates: Tensor,
        feed_weight: Tensor,
        state: RecurrentState,
        prepared: Any,
        stack: RecurrentStack,
        masks: SentenceMasks,
    ) -> tuple[Tensor, Attended, RecurrentState]:
        """The embedding's share of the input gates [N, G H] -> ([c_t; s_{t-1}] [N, 1, D + H], what was read, next)."""
        query = state.top.unsqueeze(1)
        attended, attention = self.attention(query, prepared, state.attention, state.position.unsqueeze(1))
        context = expected(attended).squeeze(1)
        layers = stack.step(gates + F.linear(context, feed_weight), state.stack, masks.between)
        return (
            beside(query, attended.context),
            attended,
            RecurrentState(layers, state.feed, attention, state.position + 1),
        )

    def finish(self, traces: Tensor, embedded: Tensor, masks: SentenceMasks) -> Tensor:
        """[c_t; s_{t-1}] [N, T, D + H] and embeddings [N, T, E] -> maxout units [N, T, R]."""
        word = self.deep_embedding(embedded)
        if traces.dim() == 4:
            word = word.unsqueeze(2)
        units = self.deep(traces) + word
        return drop_output(self.dropout, units.unflatten(-1, (-1, 2)).amax(-1), masks)
