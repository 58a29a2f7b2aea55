"""One mask for all positions of a sentence, in every recurrent path, against networks that know of no mask.

Shape letters: N sentences, T positions, D a layer's output size, H hidden size.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from nmt.model.dropout import Dropout
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.recurrent.cell import CELLS
from nmt.model.recurrent.layers import run_layers
from nmt.model.recurrent.variational import SentenceMasks
from tests.laws.models import build_model, toy_batch

LENGTHS, INPUT, H = torch.tensor([3, 7, 1, 5]), 5, 11
EXACT = {"atol": 1e-12, "rtol": 0.0}
SHARED = tuple(
    f"model.{side}.{setting}" for side in ("encoder", "decoder") for setting in ("dropout=0.5", "dropout_shared=true")
)
CASES = (
    "recurrent-bahdanau-gru",
    "recurrent-bahdanau-lstm2",
    "recurrent-luong_general-gru",
    "recurrent-luong_general-lstm2",
    "recurrent-luong_general-unfed",
    "recurrent-hard_marginal-lstm2",
    "recurrent-hard_marginal-fed",
    "recurrent-coverage-lstm2",
)


def _network(cell: str, layers: int, bidirectional: bool) -> tuple[nn.GRU | nn.LSTM, tuple[Tensor, ...]]:
    """Random layers, and a first state for them."""
    rnn = CELLS[cell](INPUT, H, layers, batch_first=True, bidirectional=bidirectional).double()
    rows = layers * (2 if bidirectional else 1)
    return rnn, tuple(torch.randn(rows, len(LENGTHS), H).double() for _ in range(2 if cell == "lstm" else 1))


def _packed(inputs: Tensor) -> PackedSequence:
    return pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_masks_scale_the_next_layers_input_weights(cell: str, layers: int, bidirectional: bool) -> None:
    """W (z * x) = (W diag(z)) x: each sentence alone through torch's own layers with its mask in their weights."""
    rnn, first = _network(cell, layers, bidirectional)
    inputs, size = torch.randn(len(LENGTHS), 7, INPUT).double(), H * (2 if bidirectional else 1)
    masks = [torch.rand(len(LENGTHS), size).double() for _ in range(layers - 1)]
    packed, last = run_layers(rnn, _packed(inputs), first, Dropout(0.5), masks)
    outputs, lengths = pad_packed_sequence(packed, batch_first=True)
    assert torch.equal(lengths, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        alone, _ = _network(cell, layers, bidirectional)
        alone.load_state_dict(rnn.state_dict())
        with torch.no_grad():
            for name, weight in alone.named_parameters():
                layer = int(name.split("_l")[1].removesuffix("_reverse"))
                if name.startswith("weight_ih") and layer > 0:
                    weight *= masks[layer - 1][row]
        start = tuple(part[:, row : row + 1] for part in first)
        wanted, ends = alone(inputs[row : row + 1, :length], start if cell == "lstm" else start[0])
        torch.testing.assert_close(outputs[row, :length], wanted[0], **EXACT)
        for part, end in zip(last, ends if cell == "lstm" else (ends,), strict=True):
            torch.testing.assert_close(part[:, row], end[:, 0], **EXACT)


def _same_everywhere(values: Tensor, lengths: Tensor) -> list[list[bool]]:
    """Which numbers of values [N, T, D] are zero, a row a sentence; the same at all its positions."""
    patterns = []
    for row, length in enumerate(lengths.tolist()):
        zeros = values[row, :length] == 0
        assert torch.equal(zeros, zeros[:1].expand_as(zeros))
        patterns.append(zeros[0].tolist())
    return patterns


def _differ(patterns: list[list[bool]]) -> bool:
    return len({tuple(pattern) for pattern in patterns}) == len(patterns)


@pytest.mark.parametrize("case", ["recurrent-luong_general-gru", "recurrent-luong_general-lstm2"])
def test_an_encoders_masks(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of embeddings, of what goes between layers, of the memory: alike at all positions, unlike in two sentences."""
    model, batch = build_model(case, *SHARED, "model.embedding_size=17", "model.encoder.hidden_size=19"), toy_batch()
    encoder: Any = model.train().encoder
    drawn: list[tuple[Tensor, ...]] = []
    drops: list[Tensor] = []
    monkeypatch.setattr(
        "nmt.model.recurrent.encoder.run_layers",
        lambda *given: (drawn.append(given[-1]), run_layers(*given))[1],
    )
    encoder.dropout.register_forward_hook(lambda _, given, dropped: drops.append(dropped))
    states = encoder(batch.source, batch.source_lengths).states
    embedded, *_, top = drops
    assert torch.equal(top, states)
    for values in (embedded, top):
        assert _differ(_same_everywhere(values, batch.source_lengths))
    layers = encoder.rnn.num_layers
    (masks,) = drawn
    assert [mask.shape for mask in masks] == [(len(batch), encoder.output_size)] * (layers - 1)
    assert all(_differ((mask == 0).tolist()) for mask in masks)
    assert embedded.shape[-1] == 17


@pytest.mark.parametrize("case", CASES)
def test_a_decoders_steps_are_its_whole_target(case: str) -> None:
    """In training, with half of everything dropped: the stepwise path has the masks that the whole target has."""
    model, batch = build_model(case, *SHARED).train(), toy_batch()
    prepared = model.decoder.prepare(model.encode(batch))
    whole = model.decoder.forward(batch.target_in, prepared)
    state, steps = model.decoder.start(prepared), []
    for token in batch.target_in.unbind(1):
        output, state = model.decoder.step(token, state, prepared)
        steps.append(output.states)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole.states, **EXACT)


@pytest.mark.parametrize("case", CASES)
def test_a_decoders_masks(case: str) -> None:
    """Shapes as the cells want them; what is read out has the mask's zeros at all positions, and no others."""
    model, batch = (
        build_model(case, *SHARED, "model.decoder.hidden_size=34", "model.encoder.hidden_size=17"),
        toy_batch(),
    )
    model.train()
    decoder: Any = model.decoder
    prepared = decoder.prepare(model.encode(batch))
    embedded, between, output = prepared.masks
    assert [mask.shape for mask in (*embedded, *output)] == [(4, 1, 7), (4, 1, 34)]
    assert [mask.shape for mask in between] == [(4, 34)] * (decoder.stack.layers - 1)
    for mask in (embedded[0][:, 0], *between, output[0][:, 0]):
        assert set(mask.unique().tolist()) == {0.0, 2.0}
        assert _differ((mask == 0).tolist())
    states = decoder.forward(batch.target_in, prepared).states
    if states.dim() == 4:
        states = states.flatten(1, 2)  # a mixture's components are masked alike
    assert _same_everywhere(states, torch.full((4,), states.shape[1])) == (output[0][:, 0] == 0).tolist()


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_evaluation_and_names_are_untouched(case: str) -> None:
    """The same parameters by name, and without training the same numbers to the last bit."""
    plain, shared = build_model(case), build_model(case, *SHARED)
    assert [name for name, _ in plain.named_parameters()] == [name for name, _ in shared.named_parameters()]
    batch = toy_batch()
    assert torch.equal(plain(batch).states, shared(batch).states)
    assert _masks(shared) == SentenceMasks()


def test_off_by_default_and_without_dropout() -> None:
    given = ("recurrent-luong_general-lstm2", "model.encoder.dropout=0.5", "model.decoder.dropout=0.5")
    assert _masks(build_model(*given).train()) == SentenceMasks()
    dry = build_model(given[0], *SHARED, "model.encoder.dropout=0", "model.decoder.dropout=0").train()
    assert _masks(dry) == SentenceMasks()
    assert _masks(build_model(given[0], *SHARED).train()) != SentenceMasks()


def _masks(model: EncoderDecoder) -> SentenceMasks:
    masks = model.decoder.prepare(model.encode(toy_batch())).masks
    assert isinstance(masks, SentenceMasks)
    return masks
