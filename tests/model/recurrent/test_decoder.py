"""Whole recurrent decoders against the papers' formulas, rewritten in NumPy for one sentence.

Shape letters: S source positions, T target positions, E embedding size, H hidden size, D memory size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nmt.model.encoder_decoder import EncoderDecoder
from tests.laws.models import alone, build_model, toy_batch
from tests.laws.parts import randomise

Array = NDArray[np.float64]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max())
    return powers / powers.sum()


class Numbers:
    """A decoder's parameters as arrays, and its memory of one sentence."""

    def __init__(self, model: EncoderDecoder, row: int) -> None:
        self.batch = alone(toy_batch(), row)
        self.parts = {name: part.detach().numpy() for name, part in model.decoder.named_parameters()}  # type: ignore[attr-defined]
        memory = model.encode(self.batch)
        self.annotations: Array = memory.states[0].detach().numpy()
        self.final: Array = memory.final[0].detach().numpy()  # [L, directions, components, H]
        self.words = self.parts["embedding.table.weight"] * np.sqrt(7)

    def gru(self, x: Array, h: Array) -> Array:
        """As torch has it: the reset gate after the product."""
        gates = self.parts["stack.rnn.weight_ih_l0"] @ x + self.parts["stack.rnn.bias_ih_l0"]
        recurrent = self.parts["stack.rnn.weight_hh_l0"] @ h + self.parts["stack.rnn.bias_hh_l0"]
        (r, z, n), (rr, rz, rn) = np.split(gates, 3), np.split(recurrent, 3)
        update = sigmoid(z + rz)
        return (1 - update) * np.tanh(n + sigmoid(r + rr) * rn) + update * h

    def logits(self, readout: Array) -> Array:
        return self.parts["projection.weight"] @ readout + self.parts["projection.bias"]


def bahdanau(numbers: Numbers) -> tuple[Array, Array]:
    """Bahdanau 2015, appendix A: logits [T, V], weights [T, S]."""
    p = numbers.parts
    h = np.tanh(
        p["bridge.maps.0.weight"] @ numbers.final[0, 1, 0] + p["bridge.maps.0.bias"]
    )  # A.2.2: from h_1 backward
    logits, weights = [], []
    for token in numbers.batch.target_in[0].tolist():
        word = numbers.words[token]
        energies = [  # A.1.2
            p["wiring.attention.score.energy.weight"][0]
            @ np.tanh(p["wiring.attention.score.query.weight"] @ h + p["wiring.attention.score.memory.weight"] @ note)
            for note in numbers.annotations
        ]
        weights.append(softmax(np.array(energies)))
        context = weights[-1] @ numbers.annotations
        deep = p["wiring.deep.weight"]  # [C_o, U_o], acting on [c_t; s_{t-1}]
        size = numbers.annotations.shape[1]
        t = (
            deep[:, :size] @ context
            + deep[:, size:] @ h
            + p["wiring.deep.bias"]
            + p["wiring.deep_embedding.weight"] @ word
        )
        maxout = np.array([max(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])
        logits.append(numbers.logits(maxout))
        h = numbers.gru(np.concatenate([word, context]), h)
    return np.array(logits), np.array(weights)


def luong(numbers: Numbers, *, feeding: bool) -> tuple[Array, Array]:
    """Luong 2015, equations 5 to 8 (general), section 3.3: logits [T, V], weights [T, S]."""
    p = numbers.parts
    both = np.concatenate([numbers.final[0, 0, 0], numbers.final[0, 1, 0]])
    h = np.tanh(p["bridge.maps.0.weight"] @ both + p["bridge.maps.0.bias"])
    attentional = np.zeros(p["wiring.combine.weight"].shape[0])
    logits, weights = [], []
    for token in numbers.batch.target_in[0].tolist():
        word = numbers.words[token]
        h = numbers.gru(np.concatenate([word, attentional]) if feeding else word, h)
        energies = np.array([h @ p["wiring.attention.score.matrix.weight"] @ note for note in numbers.annotations])
        weights.append(softmax(energies))
        attentional = np.tanh(p["wiring.combine.weight"] @ np.concatenate([weights[-1] @ numbers.annotations, h]))
        logits.append(numbers.logits(attentional))
    return np.array(logits), np.array(weights)


def _check(model: EncoderDecoder, row: int, wanted: tuple[Array, Array], numbers: Numbers) -> None:
    output = model(numbers.batch)
    logits = model.decoder.readout(output.states, output.log_prior)[0].numpy()
    np.testing.assert_allclose(logits, wanted[0], atol=1e-10)
    np.testing.assert_allclose(output.weights[0, 0, 0].numpy(), wanted[1], atol=1e-10)


@pytest.mark.parametrize("row", range(4))
@torch.no_grad()
def test_before_step_is_bahdanau(row: int) -> None:
    model = build_model("recurrent-bahdanau-gru")
    randomise(model)
    numbers = Numbers(model, row)
    _check(model, row, bahdanau(numbers), numbers)


@pytest.mark.parametrize("feeding", [True, False])
@pytest.mark.parametrize("row", range(4))
@torch.no_grad()
def test_after_step_is_luong(row: int, feeding: bool) -> None:
    model = build_model("recurrent-luong_general-gru", f"wiring.input_feeding={str(feeding).lower()}")
    randomise(model)
    numbers = Numbers(model, row)
    _check(model, row, luong(numbers, feeding=feeding), numbers)


@torch.no_grad()
def test_without_attention_only_the_first_state_knows_the_source() -> None:
    """The same last state, other annotations: the same output, unless the summary is fed at every step."""
    batch = toy_batch()
    for extra, blind in ((("attention.feed_summary=false",), True), ((), False)):
        model: Any = build_model("recurrent-none-gru", *extra)
        memory = model.encode(batch)
        others = memory._replace(states=torch.randn_like(memory.states), summary=torch.randn_like(memory.summary))
        outputs = [
            model.decoder.forward(batch.target_in, model.decoder.prepare(one)).states for one in (memory, others)
        ]
        assert torch.equal(*outputs) == blind
