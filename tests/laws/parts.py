"""Encoders and decoders put together by hand, for attention that no configuration names yet.

Shape letters: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from nmt.data.batch import Batch
from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.model.attention.attention import Attention
from nmt.model.attention.multihead import MultiHead
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.additive import Additive
from nmt.model.attention.scores.scaled_dot import ScaledDot
from nmt.model.attention.windows.global_ import Global
from nmt.model.embedding import Embedding
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import EncoderSizes, select
from nmt.model.positions.position import Position
from nmt.model.recurrent.decoder import RecurrentDecoder
from nmt.model.recurrent.encoder import RecurrentEncoder
from nmt.model.recurrent.wiring import AfterStep, BeforeStep
from nmt.model.transformer.decoder import TransformerDecoder
from nmt.model.transformer.encoder import TransformerEncoder
from nmt.search.beam import beam_search
from nmt.search.penalty import NoPenalty
from tests.laws.models import SOURCE_VOCABULARY, TARGET_VOCABULARY, alone

WIRINGS = {"before": BeforeStep, "unfed": partial(AfterStep, input_feeding=False), "fed": AfterStep}
EXACT = {"atol": 1e-12, "rtol": 0.0}
single_head = partial(Attention, score=Additive, window=Global, normalizer=Softmax)
scaled_head = partial(Attention, score=ScaledDot, window=Global, normalizer=Softmax)


def recurrent(attention: Callable[..., Any], wiring: Callable[..., Any], *, cell: str = "gru") -> EncoderDecoder:
    """A bidirectional encoder of 2 x 5 and a decoder of 11, in double precision, in evaluation mode."""
    torch.manual_seed(3)
    source, target = (
        Embedding(vocabulary_size=SOURCE_VOCABULARY, size=7),
        Embedding(vocabulary_size=TARGET_VOCABULARY, size=3),
    )
    encoder = RecurrentEncoder(embedding=source, hidden_size=5, cell=cell)
    decoder = RecurrentDecoder(
        embedding=target,
        encoder=EncoderSizes(encoder.output_size, encoder.final_shape),
        attention=attention,
        wiring=wiring,
        hidden_size=11,
        cell=cell,
    )
    return EncoderDecoder(encoder=encoder, decoder=decoder).double().eval()


def transformer(
    attention: Callable[..., Any] | None = None, *, relative: Callable[..., Position] = Position
) -> EncoderDecoder:
    """Two layers of size 6 on either side, two heads in self-attention, in double precision, in evaluation mode."""
    torch.manual_seed(3)
    many = partial(MultiHead, heads=2, head=scaled_head)
    source, target = (Embedding(vocabulary_size=size, size=6) for size in (SOURCE_VOCABULARY, TARGET_VOCABULARY))
    shared: dict[str, Any] = {
        "layers": 2,
        "feedforward_size": 11,
        "self_attention": many,
        "position": Position,
        "relative": relative,
    }
    encoder = TransformerEncoder(embedding=source, **shared)
    sizes = EncoderSizes(encoder.output_size, encoder.final_shape)
    decoder = TransformerDecoder(embedding=target, encoder=sizes, attention=attention or many, **shared)
    return EncoderDecoder(encoder=encoder, decoder=decoder).double().eval()


@torch.no_grad()
def check_steps(model: EncoderDecoder, batch: Batch, beam: int = 3) -> None:
    """One position after another, in B x beam rows, is all positions at once."""
    memory = model.encode(batch)
    rows = torch.arange(len(batch)).repeat_interleave(beam)
    targets = batch.target_in.repeat_interleave(beam, 0).roll(1, 0)
    whole = model.decoder.forward(targets, model.decoder.prepare(select(memory, rows)))
    prepared = model.decoder.prepare(memory)
    state, steps = select(model.decoder.start(prepared), rows), []
    for token in targets.unbind(1):
        output, state = model.decoder.step(token, state, prepared)
        steps.append(output)
    torch.testing.assert_close(torch.cat([step.states for step in steps], dim=1), whole.states, **EXACT)
    assert {name for step in steps for name in step.losses} == set(whole.losses)
    for name, loss in whole.losses.items():
        torch.testing.assert_close(torch.cat([step.losses[name] for step in steps], dim=1), loss, **EXACT)
    if whole.log_prior is not None:
        priors = [step.log_prior for step in steps if step.log_prior is not None]
        torch.testing.assert_close(torch.cat(priors, dim=1), whole.log_prior, **EXACT)


@torch.no_grad()
def check_search(model: EncoderDecoder, batch: Batch) -> None:
    """The log-probability of each hypothesis of a beam of three is that of its tokens, forced, for a sentence alone."""
    found = beam_search(
        model.decoder,
        model.encode(batch),
        beam_size=3,
        max_lengths=torch.full((len(batch),), 6),
        banned=(UNK, BOS, PAD),
        penalty=NoPenalty(),
        nbest=3,
    )
    for row, hypotheses in enumerate(found):
        prepared = model.decoder.prepare(model.encode(alone(batch, row)))
        assert hypotheses
        for one in hypotheses:
            out = torch.tensor([*one.tokens, *([EOS] if one.finished else [])])
            output = model.decoder.forward(torch.tensor([[BOS, *out[:-1]]]), prepared)
            log_probs = model.decoder.readout(output.states, output.log_prior).log_softmax(-1)[0]
            assert one.log_prob == pytest.approx(float(log_probs[torch.arange(len(out)), out].sum()), abs=1e-10)


def randomise(module: nn.Module, seed: int = 5) -> None:
    """All parameters drawn anew, biases as well."""
    torch.manual_seed(seed)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
