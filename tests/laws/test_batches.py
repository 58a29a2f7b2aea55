"""A sentence alone is what it is in any batch, and what stands at padding never matters."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nmt.data.special import UNK
from nmt.train.loss import batch_loss
from tests.laws.models import CASES, MARKOV, alone, build_model, overwrite_padding, toy_batch

EXACT = {"atol": 1e-12, "rtol": 0.0}


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_alone_as_in_a_batch(case: str) -> None:
    """Encoder states, summary, decoder states, logits and every weight, in double precision."""
    model, batch = build_model(case), toy_batch()
    memory, output, maps = model.encode(batch), model(batch), model.attention_maps(batch)
    logits = model.decoder.readout(output.states, output.log_prior)
    for row in range(len(batch)):
        one = alone(batch, row)
        size, steps = one.source.shape[1], one.target_in.shape[1]
        own, own_output, own_maps = model.encode(one), model(one), model.attention_maps(one)
        torch.testing.assert_close(memory.states[row, :size], own.states[0], **EXACT)
        torch.testing.assert_close(memory.summary[row], own.summary[0], **EXACT)
        torch.testing.assert_close(memory.final[row], own.final[0], **EXACT)
        if own_output.log_prior is None:  # a mixture has a state for each position of the longest source
            torch.testing.assert_close(output.states[row, :steps], own_output.states[0], **EXACT)
        own_logits = model.decoder.readout(own_output.states, own_output.log_prior)
        torch.testing.assert_close(logits[row, :steps], own_logits[0], **EXACT)
        for name, weights in own_maps.items():
            rows, columns = weights.shape[-2:]
            torch.testing.assert_close(maps[name][row, :, :, :rows, :columns], weights[0], **EXACT)


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_alone_as_in_a_batch_in_single_precision(case: str) -> None:
    """Log-probabilities to 1e-4, weights to 1e-5."""
    model, batch = build_model(case).float(), toy_batch()
    output, maps = model(batch), model.attention_maps(batch)
    scores = model.decoder.readout(output.states, output.log_prior).log_softmax(-1)
    for row in range(len(batch)):
        one = alone(batch, row)
        own_output, own_maps = model(one), model.attention_maps(one)
        own_scores = model.decoder.readout(own_output.states, own_output.log_prior).log_softmax(-1)
        torch.testing.assert_close(scores[row, : one.target_in.shape[1]], own_scores[0], atol=1e-4, rtol=0)
        for name, weights in own_maps.items():
            rows, columns = weights.shape[-2:]
            torch.testing.assert_close(maps[name][row, :, :, :rows, :columns], weights[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("case", CASES)
def test_padding_changes_nothing(case: str) -> None:
    """Other ids where padding stood: the same loss and gradients, and none for the embeddings of those ids.

    `unk` stands at the padding of either side and nowhere else, so its rows are touched by padding alone.
    """
    model, batch = build_model(case), toy_batch()
    padded_loss, padded = _loss_and_gradients(model, batch)
    loss, gradients = _loss_and_gradients(model, overwrite_padding(batch, UNK, UNK))
    torch.testing.assert_close(loss, padded_loss, **EXACT)
    assert gradients.keys() == padded.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, padded[name], **EXACT, msg=lambda text, name=name: f"{name}: {text}")
    tables = [table for name, table in gradients.items() if name.endswith("embedding.table.weight")]
    assert len(tables) == (1 if case in MARKOV else 2)  # a hidden Markov decoder embeds nothing
    for table in tables:
        assert not table[UNK].any()
        assert table.any()


def _loss_and_gradients(model: torch.nn.Module, batch: object) -> tuple[Tensor, dict[str, Tensor]]:
    model.zero_grad(set_to_none=True)
    loss = batch_loss(model, batch, smoothing=0.1).loss  # type: ignore[arg-type]
    loss.backward()
    named = model.named_parameters()
    return loss.detach(), {name: part.grad.clone() for name, part in named if part.grad is not None}


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_every_parameter_is_used(case: str) -> None:
    """A parameter that no loss reaches is a part that the model says it has and does not."""
    model = build_model(case).train()  # what reads the most probable position has no gradient in evaluation mode
    with torch.enable_grad():
        _, gradients = _loss_and_gradients(model, toy_batch())
    used = {name for name, gradient in gradients.items() if gradient.any()}
    # Before a fixed vector a Transformer norms a query that nobody asks.
    unasked = "cross_block.norm" if case == "transformer-none" else "nothing"
    assert used == {name for name, _ in model.named_parameters() if unasked not in name}
