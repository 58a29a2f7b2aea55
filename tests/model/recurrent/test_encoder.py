"""The recurrent encoder against torch's layers run over one sentence, without any packing."""

from __future__ import annotations

import pytest
import torch

from nmt.model.embedding import Embedding
from nmt.model.recurrent.encoder import RecurrentEncoder

LENGTHS = torch.tensor([3, 6, 1])
H = 5


def _encoder(cell: str, layers: int, bidirectional: bool, dropout: float = 0.0) -> RecurrentEncoder:
    embedding = Embedding(vocabulary_size=13, size=7)
    encoder = RecurrentEncoder(
        embedding=embedding, hidden_size=H, layers=layers, cell=cell, bidirectional=bidirectional, dropout=dropout
    )
    return encoder.double().eval()


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@torch.no_grad()
def test_a_sentence_is_read_to_its_own_end(cell: str, layers: int, bidirectional: bool) -> None:
    """States, and every layer's last state of each direction and component, as torch gives them for one sentence."""
    encoder, source = _encoder(cell, layers, bidirectional), torch.randint(4, 13, (3, 6))
    memory = encoder(source, LENGTHS)
    directions = 2 if bidirectional else 1
    assert encoder.output_size == directions * H
    assert memory.final.shape[1:] == encoder.final_shape == (layers, directions, {"gru": 1, "lstm": 2}[cell], H)
    for row, length in enumerate(LENGTHS.tolist()):
        outputs, last = encoder.rnn(encoder.embedding(source[row : row + 1, :length]))
        torch.testing.assert_close(memory.states[row, :length], outputs[0], atol=1e-12, rtol=0)
        for component, part in enumerate(last if cell == "lstm" else (last,)):
            for layer in range(layers):
                for direction in range(directions):
                    own = part[layer * directions + direction, 0]
                    torch.testing.assert_close(memory.final[row, layer, direction, component], own, atol=1e-12, rtol=0)


@torch.no_grad()
def test_summary_and_the_backward_state_at_the_first_word() -> None:
    """The forward direction ends at the last word, the backward one at the first: h_1 of appendix A.2.2."""
    encoder, source = _encoder("gru", 2, True), torch.randint(4, 13, (3, 6))
    memory = encoder(source, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(memory.summary[row, :H], memory.states[row, length - 1, :H])
        torch.testing.assert_close(memory.summary[row, H:], memory.states[row, 0, H:])
        torch.testing.assert_close(memory.final[row, -1, 1, 0], memory.states[row, 0, H:])


def test_dropout_in_training_alone() -> None:
    encoder, source = _encoder("gru", 1, True, dropout=0.5), torch.randint(4, 13, (3, 6))
    assert torch.equal(encoder(source, LENGTHS).states, encoder(source, LENGTHS).states)
    encoder.train()
    assert not torch.equal(encoder(source, LENGTHS).states, encoder(source, LENGTHS).states)
