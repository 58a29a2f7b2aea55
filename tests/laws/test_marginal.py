"""Marginal hard attention is a mixture in the readout: exact where nothing feeds back, step by step elsewhere.

p(y_t) = sum_s p(s) p(y_t | h_s), enumerated here over the positions s of one sentence, one step after another.

Shape letters: S source positions, T target positions, H hidden size, V vocabulary.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.model import masks
from nmt.model.attention.attention import Attention
from nmt.model.attention.normalizers.marginal import Marginal
from nmt.model.attention.scores.general import General
from nmt.model.attention.windows.global_ import Global
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.train.loss import batch_loss
from tests.laws.models import alone, toy_batch
from tests.laws.parts import WIRINGS, check_search, check_steps, randomise, recurrent

attention = partial(Attention, score=General, window=Global, normalizer=Marginal)


@pytest.fixture(params=WIRINGS)
def wiring(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@torch.no_grad()
def test_enumeration_over_positions(wiring: str) -> None:
    model, batch = recurrent(attention, WIRINGS[wiring]), toy_batch()
    randomise(model)
    output = model(batch)
    log_probs = model.decoder.readout(output.states, output.log_prior)
    enumerate_ = before if wiring == "before" else partial(after, fed=wiring == "fed")
    for row in range(len(batch)):
        one = alone(batch, row)
        expected = enumerate_(model, one)
        torch.testing.assert_close(log_probs[row, : len(expected)], expected, atol=1e-10, rtol=0)
        torch.testing.assert_close(expected.exp().sum(-1), torch.ones(len(expected)).double())


def first(model: EncoderDecoder, batch: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Of one sentence: annotations [S, D], their keys' product with a query by hand, and s_0 [H]."""
    memory = model.encode(batch)
    decoder: Any = model.decoder
    return memory.states[0], decoder.wiring.attention.score.matrix.weight, decoder.bridge(memory)[0][0][0]


def cell(model: EncoderDecoder, inputs: Tensor, hidden: Tensor) -> Tensor:
    """torch's own GRU, one step."""
    decoder: Any = model.decoder
    return decoder.stack.rnn(inputs[None, None], hidden[None, None])[0][0, 0]


def before(model: EncoderDecoder, batch: Any) -> Tensor:
    """The prior by s_{t-1}; its expected annotation enters the cell; the deep output reads one annotation at a time."""
    decoder: Any = model.decoder
    annotations, matrix, hidden = first(model, batch)
    rows = []
    for token in batch.target_in[0]:
        word = decoder.embedding(token)
        prior = (annotations @ matrix.T @ hidden).softmax(0)
        total = torch.zeros(decoder.projection.out_features).double()
        for share, annotation in zip(prior, annotations, strict=True):
            units = decoder.wiring.deep(torch.cat([annotation, hidden])) + decoder.wiring.deep_embedding(word)
            total += share * decoder.projection(units.view(-1, 2).max(1).values).softmax(0)
        rows.append(total.log())
        hidden = cell(model, torch.cat([word, prior @ annotations]), hidden)
    return torch.stack(rows)


def after(model: EncoderDecoder, batch: Any, *, fed: bool) -> Tensor:
    """The prior by s_t; the attentional state of one annotation at a time; that of their mean is what is fed."""
    decoder: Any = model.decoder
    annotations, matrix, hidden = first(model, batch)
    feed = torch.zeros(11 if fed else 0).double()
    rows = []
    for token in batch.target_in[0]:
        hidden = cell(model, torch.cat([decoder.embedding(token), feed]), hidden)
        prior = (annotations @ matrix.T @ hidden).softmax(0)
        total = torch.zeros(decoder.projection.out_features).double()
        for share, annotation in zip(prior, annotations, strict=True):
            attentional = torch.tanh(decoder.wiring.combine(torch.cat([annotation, hidden])))
            total += share * decoder.projection(attentional).softmax(0)
        rows.append(total.log())
        if fed:
            feed = torch.tanh(decoder.wiring.combine(torch.cat([prior @ annotations, hidden])))
    return torch.stack(rows)


def test_steps(wiring: str) -> None:
    check_steps(recurrent(attention, WIRINGS[wiring]), toy_batch())


def test_loss_and_gradients(wiring: str) -> None:
    """The chunked loss of a mixture against autograd through all its log-probabilities at once."""
    batch = toy_batch()
    model = recurrent(attention, WIRINGS[wiring])
    loss = batch_loss(model, batch, chunk=3).loss
    loss.backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    plain = recurrent(attention, WIRINGS[wiring])
    output = plain(batch)
    log_probs = plain.decoder.readout(output.states, output.log_prior)
    chosen = log_probs.gather(2, batch.target_out.unsqueeze(2)).squeeze(2)
    wanted = -chosen[masks.valid_mask(batch.target_lengths, chosen.shape[1])].sum()
    wanted.backward()
    torch.testing.assert_close(loss, wanted, atol=1e-10, rtol=0)
    for gradient, parameter in zip(gradients, plain.parameters(), strict=True):
        torch.testing.assert_close(gradient, parameter.grad, atol=1e-10, rtol=0)


def test_beam_search(wiring: str) -> None:
    """Its log-probability is that of the mixture, forced."""
    check_search(recurrent(attention, WIRINGS[wiring]), toy_batch())
