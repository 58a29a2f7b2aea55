"""Coverage is a state of the attention that every position reads and changes, in every decoder.

Shape letters: B sentences, N rows, S source positions, T target positions.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch

from nmt.model.attention.attention import Attention
from nmt.model.attention.coverage import Coverage
from nmt.model.attention.multihead import MultiHead
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.additive import Additive
from nmt.model.attention.windows.global_ import Global
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.train.loss import batch_loss
from tests.laws.models import alone, toy_batch
from tests.laws.parts import EXACT, WIRINGS, check_search, check_steps, recurrent, transformer

covered = partial(Coverage, fertility=2.0, loss=1.5)
one_head = partial(Attention, score=Additive, window=Global, normalizer=Softmax, coverage=covered)
heads = partial(MultiHead, heads=2, head=one_head, size=6)
MODELS = {
    **{name: partial(recurrent, one_head, wiring) for name, wiring in WIRINGS.items()},
    "many-heads": partial(recurrent, heads, WIRINGS["unfed"]),
    "transformer": partial(transformer, one_head),
    "transformer-many-heads": partial(transformer, heads),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> EncoderDecoder:
    return MODELS[request.param]()


def test_steps(model: EncoderDecoder) -> None:
    check_steps(model, toy_batch())


@torch.no_grad()
def test_alone_as_in_a_batch(model: EncoderDecoder) -> None:
    batch = toy_batch()
    output = model(batch)
    for row in range(len(batch)):
        own = model(alone(batch, row))
        steps = own.states.shape[1]
        torch.testing.assert_close(output.states[row, :steps], own.states[0], **EXACT)
        torch.testing.assert_close(output.losses["coverage"][row, :steps], own.losses["coverage"][0], **EXACT)


@torch.no_grad()
def test_weights_depend_on_those_before(model: EncoderDecoder) -> None:
    """The exported weights, added up, are the coverage that the loss was made of."""
    batch = toy_batch()
    maps = model.attention_maps(batch)
    weights = maps["cross"]  # [B, L, H, T, S]
    before = weights.cumsum(3) - weights
    again = 1.5 * torch.minimum(weights, before).sum(-1).sum((1, 2))
    torch.testing.assert_close(again, model(batch).losses["coverage"], **EXACT)
    if "decoder" in maps:
        own = maps["decoder"]
        torch.testing.assert_close(own.sum(-1), torch.ones(own.shape[:-1]).double())
        assert not own.triu(1).any()


def test_its_loss_is_added_by_name(model: EncoderDecoder) -> None:
    """batch_loss adds the named terms of valid positions, and their gradient reaches what lets coverage in."""
    batch = toy_batch()
    sums = batch_loss(model, batch)
    valid = torch.arange(batch.target_in.shape[1]) < batch.target_lengths.unsqueeze(1)
    extra = model(batch).losses["coverage"][valid].sum()
    assert extra > 0
    torch.testing.assert_close(sums.loss.detach(), sums.nll + extra.detach(), **EXACT)
    sums.loss.backward()
    assert all(
        part.grad is not None and part.grad.any() for name, part in model.named_parameters() if "coverage" in name
    )


def test_beam_search_carries_it(model: EncoderDecoder) -> None:
    check_search(model, toy_batch())
