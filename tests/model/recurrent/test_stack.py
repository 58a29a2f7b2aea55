"""The stack's single step against torch's own recurrent layers, which run the whole sequence."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from nmt.model.recurrent.cell import COMPONENTS, StackState
from nmt.model.recurrent.stack import RecurrentStack

N, T, INPUT, H = 3, 5, 7, 11


def _stack(cell: str, layers: int, dropout: float = 0.0) -> RecurrentStack:
    return RecurrentStack(input_size=INPUT, hidden_size=H, layers=layers, cell=cell, dropout=dropout).double()


def _state(cell: str, layers: int) -> StackState:
    return tuple(tuple(torch.randn(N, H).double() for _ in range(COMPONENTS[cell])) for _ in range(layers))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@torch.no_grad()
def test_steps_are_torchs_run(cell: str, layers: int) -> None:
    stack, inputs, start = _stack(cell, layers), torch.randn(N, T, INPUT).double(), _state(cell, layers)
    state, tops = start, []
    for x in inputs.unbind(1):
        state = stack.step(F.linear(x, stack.rnn.weight_ih_l0, stack.rnn.bias_ih_l0), state)
        tops.append(state[-1][0])
    first = tuple(torch.stack(component) for component in zip(*start, strict=True))
    outputs, last = stack.rnn(inputs, first if cell == "lstm" else first[0])
    torch.testing.assert_close(torch.stack(tops, dim=1), outputs, atol=1e-12, rtol=0)
    torch.testing.assert_close(stack.run(inputs, start), outputs, atol=1e-12, rtol=0)
    for layer, ours in enumerate(state):
        for part, theirs in zip(ours, last if cell == "lstm" else (last,), strict=True):
            torch.testing.assert_close(part, theirs[layer], atol=1e-12, rtol=0)


@torch.no_grad()
def test_input_weights_are_split_in_order() -> None:
    stack, inputs = _stack("gru", 1), torch.randn(N, INPUT).double()
    word, feed = stack.split_input(3)
    whole = F.linear(inputs, stack.rnn.weight_ih_l0)
    torch.testing.assert_close(F.linear(inputs[:, :3], word) + F.linear(inputs[:, 3:], feed), whole)


def test_dropout_between_layers_in_training_alone() -> None:
    stack, state = _stack("gru", 2, dropout=0.5), _state("gru", 2)
    gates = torch.randn(N, 3 * H).double()
    first, second = stack.train().step(gates, state), stack.train().step(gates, state)
    torch.testing.assert_close(first[0], second[0])
    assert not torch.allclose(first[1][0], second[1][0])
    torch.testing.assert_close(stack.eval().step(gates, state), stack.step(gates, state))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cell": "elman"}, "cell is 'elman': allowed are gru, lstm"),
        ({"layers": 0}, "at least 1"),
        ({"hidden_size": 0}, "at"),
    ],
)
def test_impossible_sizes(changed: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"input_size": INPUT, "hidden_size": H, "layers": 1, "cell": "gru", "dropout": 0.0}
    with pytest.raises(ValueError, match=message):
        RecurrentStack(**{**given, **changed})  # type: ignore[arg-type]
