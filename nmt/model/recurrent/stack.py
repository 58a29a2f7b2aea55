"""A stack of GRU or LSTM layers that runs a whole sequence in one call or one step at a time, on the same weights.

Shape letters: N rows, T positions, I input size, H hidden size, L layers, G gates (3 of a GRU, 4 of an LSTM).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmt.model.dropout import Dropout
from nmt.model.recurrent.cell import CELLS, StackState, check_sizes, step_of
from nmt.model.recurrent.layers import run_layers


class RecurrentStack(nn.Module):
    """`layers` layers in one direction, dropout between them.

    A state is a tuple of layers, each a tuple of its components [N, H]: (hidden,) of a GRU, (hidden, cell) of an LSTM.
    """

    def __init__(self, *, input_size: int, hidden_size: int, layers: int, cell: str, dropout: float) -> None:
        super().__init__()
        check_sizes(hidden_size=hidden_size, layers=layers, cell=cell)
        between = dropout if layers > 1 else 0.0
        self.rnn = CELLS[cell](input_size, hidden_size, layers, batch_first=True, dropout=between)
        self.advance = step_of(self.rnn)
        self.layers = layers
        self.between = Dropout(between)

    def split_input(self, first: int) -> tuple[Tensor, Tensor]:
        """Layer 0's input weights for the first `first` inputs [G H, first] and for the others [G H, I - first].

        Taken once before a loop over steps: a slice inside it would build a full gradient of the matrix at every step.
        """
        weight: Tensor = self.rnn.weight_ih_l0
        return weight[:, :first], weight[:, first:]

    def run(self, inputs: Tensor, state: StackState, between: tuple[Tensor, ...] = ()) -> Tensor:
        """Inputs [N, T, I] and state -> the top layer's hidden states [N, T, H].

        between: masks [N, H] for what each layer but the last gives the next, at all positions; () for fresh ones.
        """
        parts = tuple(torch.stack(component) for component in zip(*state, strict=True))
        if between:
            rows, steps = inputs.shape[:2]
            packed = pack_padded_sequence(inputs, torch.full((rows,), steps), batch_first=True)
            packed, _ = run_layers(self.rnn, packed, parts, self.between, between)
            outputs, _ = pad_packed_sequence(packed, batch_first=True)
        else:
            outputs, _ = self.rnn(inputs, parts if len(parts) == 2 else parts[0])
        return outputs

    def step(self, gates: Tensor, state: StackState, between: tuple[Tensor, ...] = ()) -> StackState:
        """Layer 0's input gates W x + b [N, G H] and state -> the next state; between as in `run`."""
        nexts: list[tuple[Tensor, ...]] = []
        for layer, here in enumerate(state):
            if layer > 0:
                below = self.between(nexts[-1][0], between[layer - 1 : layer])
                gates = F.linear(
                    below, getattr(self.rnn, f"weight_ih_l{layer}"), getattr(self.rnn, f"bias_ih_l{layer}")
                )
            recurrent = F.linear(
                here[0], getattr(self.rnn, f"weight_hh_l{layer}"), getattr(self.rnn, f"bias_hh_l{layer}")
            )
            nexts.append(self.advance(gates, recurrent, here))
        return tuple(nexts)
