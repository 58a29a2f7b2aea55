"""GRU and LSTM: sizes, and one step on the weights of torch's modules.

Torch's cells are followed: its GRU applies the reset gate after the product, n = tanh(W x + r * (U h)), where Cho
(2014) and Bahdanau (2015, appendix A.1.1) have tanh(W x + U (r * h)).

Shape letters: N rows, H hidden size.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}
COMPONENTS = {"gru": 1, "lstm": 2}  # hidden state; and an LSTM's cell

StackState = tuple[tuple[Tensor, ...], ...]  # of each layer its components, each [N, H]


def check_sizes(*, hidden_size: int, layers: int, cell: str) -> None:
    """What nn.GRU and nn.LSTM would take or refuse without naming it."""
    if cell not in CELLS:
        raise ValueError(f"cell is {cell!r}: allowed are {', '.join(CELLS)}")
    if layers < 1 or hidden_size < 1:
        raise ValueError(f"layers ({layers}) and hidden_size ({hidden_size}) must be at least 1")


def step_of(rnn: nn.GRU | nn.LSTM) -> Callable[[Tensor, Tensor, tuple[Tensor, ...]], tuple[Tensor, ...]]:
    """The step of a module's cell."""
    return lstm_step if isinstance(rnn, nn.LSTM) else gru_step


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
