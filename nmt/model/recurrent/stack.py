"""A stack of GRU or LSTM layers that runs a whole sequence in one call or one step at a time, on the same weights.

Torch's cells are followed in both: its GRU applies the reset gate after the product, n = tanh(W x + r * (U h)), where
Cho (2014) and Bahdanau (2015, appendix A.1.1) have tanh(W x + U (r * h)).

Shape letters: N rows, T positions, I input size, H hidden size, L layers, G gates (3 of a GRU, 4 of an LSTM).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmt.model.dropout import Dropout
from nmt.model.recurrent.variational import run_layers

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}
COMPONENTS = {"gru": 1, "lstm": 2}  # hidden state; and an LSTM's cell


def check_sizes(*, hidden_size: int, layers: int, cell: str) -> None:
    """What nn.GRU and nn.LSTM would take or refuse without naming it."""
    if cell not in CELLS:
        raise ValueError(f"cell is {cell!r}: allowed are {', '.join(CELLS)}")
    if layers < 1 or hidden_size < 1:
        raise ValueError(f"layers ({layers}) and hidden_size ({hidden_size}) must be at least 1")


class RecurrentStack(nn.Module):
    """`layers` layers in one direction, dropout between them.

    A state is a tuple of its components, each [N, L, H]: (hidden,) of a GRU, (hidden, cell) of an LSTM.
    """

    def __init__(self, *, input_size: int, hidden_size: int, layers: int, cell: str, dropout: float) -> None:
        super().__init__()
        check_sizes(hidden_size=hidden_size, layers=layers, cell=cell)
        between = dropout if layers > 1 else 0.0
        self.rnn = CELLS[cell](input_size, hidden_size, layers, batch_first=True, dropout=between)
        self.advance = lstm_step if cell == "lstm" else gru_step
        self.layers = layers
        self.between = Dropout(between)

    def split_input(self, first: int) -> tuple[Tensor, Tensor]:
        """Layer 0's input weights for the first `first` inputs [G H, first] and for the others [G H, I - first].

        Taken once before a loop over steps: a slice inside it would build a full gradient of the matrix at every step.
        """
        weight: Tensor = self.rnn.weight_ih_l0
        return weight[:, :first], weight[:, first:]

    def run(
        self, inputs: Tensor, state: tuple[Tensor, ...], between: tuple[Tensor, ...] = ()
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Inputs [N, T, I] and state -> (top layer's hidden states [N, T, H], last state).

        between: masks [N, H] for what each layer but the last gives the next, at all positions; () for fresh ones.
        """
        parts = tuple(part.transpose(0, 1).contiguous() for part in state)
        if between:
            rows, steps = inputs.shape[:2]
            packed = pack_padded_sequence(inputs, torch.full((rows,), steps), batch_first=True)
            packed, last = run_layers(self.rnn, packed, parts, between)
            outputs, _ = pad_packed_sequence(packed, batch_first=True)
        else:
            outputs, last = self.rnn(inputs, parts if len(parts) == 2 else parts[0])
            last = last if isinstance(last, tuple) else (last,)
        return outputs, tuple(part.transpose(0, 1) for part in last)

    def step(self, gates: Tensor, state: tuple[Tensor, ...], between: tuple[Tensor, ...] = ()) -> tuple[Tensor, ...]:
        """Layer 0's input gates W x + b [N, G H] and state -> the next state; between as in `run`."""
        nexts: list[tuple[Tensor, ...]] = []
        for layer in range(self.layers):
            if layer > 0:
                below = self.between(nexts[-1][0], between[layer - 1 : layer])
                gates = F.linear(
                    below, getattr(self.rnn, f"weight_ih_l{layer}"), getattr(self.rnn, f"bias_ih_l{layer}")
                )
            here = tuple(part[:, layer] for part in state)
            recurrent = F.linear(
                here[0], getattr(self.rnn, f"weight_hh_l{layer}"), getattr(self.rnn, f"bias_hh_l{layer}")
            )
            nexts.append(self.advance(gates, recurrent, here))
        return tuple(torch.stack([layer[i] for layer in nexts], dim=1) for i in range(len(state)))


def gru_step(gates: Tensor, recurrent: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Input gates and U h + b, both [N, 3 H] in torch's order reset, update, new; h [N, H] -> the next (h,)."""
    (hidden,) = state
    size = hidden.shape[1]
    reset, update = (gates[:, : 2 * size] + recurrent[:, : 2 * size]).sigmoid().chunk(2, dim=1)
    new = (gates[:, 2 * size :] + reset * recurrent[:, 2 * size :]).tanh()
    return (new + update * (hidden - new),)


def lstm_step(gates: Tensor, recurrent: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Input gates and U h + b, both [N, 4 H] in torch's order in, forget, cell, out; (h, c) -> the next (h, c)."""
    _, cell = state
    enter, forget, candidate, out = (gates + recurrent).chunk(4, dim=1)
    cell = forget.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
    return out.sigmoid() * cell.tanh(), cell
