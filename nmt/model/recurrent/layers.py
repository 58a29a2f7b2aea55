"""The layers of a torch GRU or LSTM over packed sequences, one after another, with our own dropout between them.

On a CPU a layer runs step by step here. Torch's own packed layer slices the input gates of all positions anew at each
step, and going back through a slice makes a gradient of all of them: its cost grows with the square of the length.

Shape letters: N rows, D a layer's output size, H hidden size, G gates, L layers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from nmt.model.dropout import Dropout
from nmt.model.recurrent.cell import step_of


def run_layers(
    rnn: nn.GRU | nn.LSTM, packed: PackedSequence, first: tuple[Tensor, ...], dropout: Dropout, masks: Sequence[Tensor]
) -> tuple[PackedSequence, tuple[Tensor, ...]]:
    """What rnn(packed, first) gives, with `dropout` between layers: by masks[i] [N, D], one for all positions of a
    sentence, on what layer i gives layer i + 1, or where there are none drawn afresh.

    first, and the last state that is returned: components, each [L x directions, N, H], rows in the batch's order.
    """
    order, back = packed.sorted_indices, packed.unsorted_indices
    if order is not None:
        first = tuple(part.index_select(1, order) for part in first)
    spread = spread_over(packed, masks)
    data, lasts = packed.data, []
    for layer in range(rnn.num_layers):
        if layer > 0:
            data = dropout(data, spread[layer - 1 : layer])
        data, last = run_layer(rnn, layer, data, packed.batch_sizes, first)
        lasts.append(last)
    joined = tuple(torch.cat(parts) for parts in zip(*lasts, strict=True))
    if back is not None:
        joined = tuple(part.index_select(1, back) for part in joined)
    return PackedSequence(data, packed.batch_sizes, order, back), joined


def spread_over(packed: PackedSequence, masks: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Masks of sentences [N, D], in the batch's order -> of the rows of the packed data."""
    if not masks:
        return ()
    count = int(packed.batch_sizes[0])
    order = (
        packed.sorted_indices if packed.sorted_indices is not None else torch.arange(count, device=packed.data.device)
    )
    sentence = torch.cat([order[:size] for size in packed.batch_sizes.tolist()])
    return tuple(mask.index_select(0, sentence) for mask in masks)


def run_layer(
    rnn: nn.GRU | nn.LSTM, layer: int, data: Tensor, batch_sizes: Tensor, first: tuple[Tensor, ...]
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One layer, in all its directions, over packed rows, on the weights that it has in the whole."""
    directions = 2 if rnn.bidirectional else 1
    own = slice(layer * directions, (layer + 1) * directions)
    state = [part[own].contiguous() for part in first]
    if data.device.type == "cpu":
        suffixes = ["", "_reverse"][:directions]
        parts = zip(*(part.unbind(0) for part in state), strict=True)
        ways = [
            run_direction(rnn, f"_l{layer}{suffix}", data, batch_sizes.tolist(), part)
            for suffix, part in zip(suffixes, parts, strict=True)
        ]
        last = tuple(torch.stack(component) for component in zip(*(way[1] for way in ways), strict=True))
        return torch.cat([way[0] for way in ways], dim=1), last
    # cuDNN wants a call's weights in one block, and this is a part of one: it copies them each time, and warns once.
    weights: list[Tensor] = [weight for direction in rnn.all_weights[own] for weight in direction]
    if isinstance(rnn, nn.LSTM):
        data, *ends = torch.lstm(data, batch_sizes, state, weights, True, 1, 0.0, rnn.training, rnn.bidirectional)
    else:
        data, *ends = torch.gru(data, batch_sizes, state[0], weights, True, 1, 0.0, rnn.training, rnn.bidirectional)
    return data, tuple(ends)


def run_direction(
    rnn: nn.GRU | nn.LSTM, suffix: str, data: Tensor, sizes: list[int], first: tuple[Tensor, ...]
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One direction of a layer over packed rows, of which sizes[t] stand at position t; first: components [N, H].

    The forward direction leaves a sentence where it ends; the backward one takes it up there.
    """
    weight_ih, weight_hh, bias_ih, bias_hh = (
        getattr(rnn, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    step, backward = step_of(rnn), suffix.endswith("_reverse")
    gates = torch.split(F.linear(data, weight_ih, bias_ih), sizes)
    state, outputs = first, []
    waiting, ended = first, []
    if backward:
        state = tuple(part[:0] for part in first)
    for place in reversed(range(len(sizes))) if backward else range(len(sizes)):
        rows, now = sizes[place], len(state[0])
        if rows < now:
            kept = [torch.split(part, [rows, now - rows]) for part in state]
            state = tuple(part[0] for part in kept)
            ended.append(tuple(part[1] for part in kept))
        elif rows > now:
            state = tuple(torch.cat([part, new[now:rows]]) for part, new in zip(state, waiting, strict=True))
        state = step(gates[place], F.linear(state[0], weight_hh, bias_hh), state)
        outputs.append(state[0])
    last = tuple(torch.cat(parts) for parts in zip(state, *reversed(ended), strict=True))
    return torch.cat(outputs[::-1] if backward else outputs), last
