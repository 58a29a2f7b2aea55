"""Variational dropout: one mask a sentence and place, the same at every position (Gal & Ghahramani 2016, section 4).

What is embedded, what goes from layer to layer and what is read out are masked so, each by a mask of its own. The
recurrent state, which the paper masks as well, is not: its mask would stand between a state and its matrix, U (z * h),
another z in each row, and a fused recurrent call (torch's own, cuDNN's) takes one U for all rows and lets nobody in
between two positions.

Shape letters: N rows, T positions, E embedding size, D a layer's output size, H hidden size, L layers, R readout size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


class SentenceMasks(NamedTuple):
    """A decoder's masks for all positions of its sentences; empty where each position draws its own, or nothing drops.

    embedded: one [N, 1, E]; between: one [N, H] for each layer but the last; output: one [N, 1, R].
    """

    embedded: tuple[Tensor, ...] = ()
    between: tuple[Tensor, ...] = ()
    output: tuple[Tensor, ...] = ()


def run_layers(
    rnn: nn.GRU | nn.LSTM, packed: PackedSequence, first: tuple[Tensor, ...], masks: Sequence[Tensor]
) -> tuple[PackedSequence, tuple[Tensor, ...]]:
    """What rnn(packed, first) gives, layer after layer, with layer i's output times masks[i] [N, D] before layer i + 1.

    first, and the last state that is returned: components, each [L x directions, N, H], rows in the batch's order.
    """
    order, back = packed.sorted_indices, packed.unsorted_indices
    if order is not None:
        first = tuple(part.index_select(1, order) for part in first)
    sentence = rows_of(packed)
    data, lasts = packed.data, []
    for layer in range(rnn.num_layers):
        if layer > 0:
            data = data * masks[layer - 1].index_select(0, sentence)
        data, last = run_layer(rnn, layer, data, packed.batch_sizes, first)
        lasts.append(last)
    joined = tuple(torch.cat(parts) for parts in zip(*lasts, strict=True))
    if back is not None:
        joined = tuple(part.index_select(1, back) for part in joined)
    return PackedSequence(data, packed.batch_sizes, order, back), joined


def rows_of(packed: PackedSequence) -> Tensor:
    """The sentence, in the batch's order, that each row of the packed data belongs to."""
    count = int(packed.batch_sizes[0])
    order = (
        packed.sorted_indices if packed.sorted_indices is not None else torch.arange(count, device=packed.data.device)
    )
    return torch.cat([order[:size] for size in packed.batch_sizes.tolist()])


def run_layer(
    rnn: nn.GRU | nn.LSTM, layer: int, data: Tensor, batch_sizes: Tensor, first: tuple[Tensor, ...]
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One layer, in all its directions, over packed rows, on the weights that it has in the whole."""
    directions = 2 if rnn.bidirectional else 1
    own = slice(layer * directions, (layer + 1) * directions)
    # cuDNN wants a call's weights in one block, and this is a part of one: it copies them each time, and warns once.
    weights: list[Tensor] = [weight for direction in rnn.all_weights[own] for weight in direction]
    state = [part[own].contiguous() for part in first]
    if isinstance(rnn, nn.LSTM):
        data, *last = torch.lstm(data, batch_sizes, state, weights, True, 1, 0.0, rnn.training, rnn.bidirectional)
    else:
        data, *last = torch.gru(data, batch_sizes, state[0], weights, True, 1, 0.0, rnn.training, rnn.bidirectional)
    return data, tuple(last)
