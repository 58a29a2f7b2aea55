"""The gradient methods against differences of log-probabilities.

Shape letters: B sentences, S source positions, T target positions, E embedding size.
"""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import Tensor

from nmt.align.methods.gradient import gradient
from nmt.align.methods.input_x_gradient import input_x_gradient
from nmt.align.methods.integrated_gradients import integrated_gradients
from nmt.data.batch import Batch, make_batch
from nmt.model import masks
from nmt.model.encoder_decoder import EncoderDecoder
from tests.align.methods.laws import CASES, cut, log_probs, model_of
from tests.laws.models import build_model, toy_batch

STEP = 1e-5


@torch.no_grad()
def differences(model: EncoderDecoder, batch: Batch) -> Tensor:
    """(ln p(vector + STEP) - ln p(vector - STEP)) / (2 STEP) by each number of each source vector: [B, T, S, E]."""
    vectors = model.encoder.embedding(batch.source)
    found = vectors.new_zeros(*batch.target_out.shape, *vectors.shape[1:])
    for place in range(vectors.shape[1]):
        for number in range(vectors.shape[2]):
            aside = torch.zeros_like(vectors)
            aside[:, place, number] = STEP
            change = log_probs(model, batch, vectors + aside) - log_probs(model, batch, vectors - aside)
            found[:, :, place, number] = change / (2 * STEP)
    return found


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_finite_differences(case: str) -> None:
    model, batch = model_of(case), toy_batch(3)
    by_hand = differences(model, batch)
    vectors = model.encoder.embedding(batch.source).detach()
    lengths = by_hand.norm(dim=-1)[:, None, None]
    products = (by_hand * vectors.unsqueeze(1)).sum(-1)[:, None, None]
    for method, wanted in ((gradient, lengths), (input_x_gradient, products)):
        for found, own in zip(cut(method(model, batch, ()), batch), cut(wanted, batch), strict=True):
            torch.testing.assert_close(found, own, atol=1e-7, rtol=1e-5)


def test_logits_are_made_a_chunk_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mixture of seven choices, twelve rows of logits are those of one token."""
    model, batch = model_of("recurrent-hard_marginal-gru"), toy_batch()
    wanted = gradient(model, batch, ())
    monkeypatch.setattr("nmt.align.methods.saliency.CHUNK", 12)
    seen: list[int] = []
    model.decoder.projection.register_forward_hook(lambda _, given, __: seen.append(given[0].flatten(0, -2).shape[0]))
    torch.testing.assert_close(gradient(model, batch, ()), wanted, atol=1e-12, rtol=0)
    assert max(seen) <= 12


@pytest.mark.parametrize("case", ["recurrent-luong_general-gru", "transformer-pre-sinusoidal"])
def test_of_a_table_that_both_sides_share_the_source_side_counts(case: str) -> None:
    """Against the gradient to the table of the source's own copy, all of whose ids differ."""
    model = build_model(case, "model.tied=all", "tokenizer.joint=true", source=29, target=29)
    apart = deepcopy(model)
    apart.encoder.embedding = deepcopy(model.encoder.embedding)
    batch = make_batch([[5, 9, 7]], [[7, 9, 5, 5]])
    chosen = log_probs(apart, batch, apart.encoder.embedding(batch.source))
    table = apart.encoder.embedding.table.weight
    for step, found in enumerate(gradient(model, batch, ())[0, 0, 0]):
        (by_table,) = torch.autograd.grad(chosen[0, step], table, retain_graph=True)
        wanted = by_table[batch.source[0]].norm(dim=-1) / apart.encoder.embedding.scale
        torch.testing.assert_close(found, wanted, atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    ("case", "missed"),
    [
        ("recurrent-luong_general-gru", 1e-3),
        ("recurrent-hard_marginal-gru", 1e-3),
        ("recurrent-transformer-gru", 1e-3),
        ("transformer-pre-sinusoidal", 0.05),  # layer norms of six numbers and ReLUs bend the way
    ],
)
def test_integrated_gradients_are_complete(case: str, missed: float) -> None:
    """Over a sentence they sum to ln p less that with zero vectors."""
    model, batch = model_of(case), toy_batch()
    vectors = model.encoder.embedding(batch.source).detach()
    with torch.no_grad():
        wanted = log_probs(model, batch, vectors) - log_probs(model, batch, 0 * vectors)
    found = integrated_gradients(model, batch, ())[:, 0, 0].sum(-1)
    valid = masks.valid_mask(batch.target_lengths, wanted.shape[1])
    assert (found - wanted)[valid].abs().max() < missed * wanted[valid].abs().max()
