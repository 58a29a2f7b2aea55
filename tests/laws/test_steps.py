"""One position after another is all positions at once, whichever hypotheses the rows of a state hold."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.data.batch import Batch
from nmt.data.special import BOS, PAD
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import Step, select
from tests.laws.models import CASES, TARGET_VOCABULARY, build_model, toy_batch

EXACT = {"atol": 1e-12, "rtol": 0.0}
BEAM, STEPS = 3, 5


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_unrolled_is_forward(case: str) -> None:
    model, batch = build_model(case), toy_batch()
    prepared = model.decoder.prepare(model.encode(batch))
    whole = model.decoder.forward(batch.target_in, prepared)
    state, steps = model.decoder.start(prepared), []
    for token in batch.target_in.unbind(1):
        output, state = model.decoder.step(token, state, prepared)
        steps.append(output)
    torch.testing.assert_close(torch.cat([step.states for step in steps], dim=1), whole.states, **EXACT)
    torch.testing.assert_close(torch.cat([step.weights for step in steps], dim=3), whole.weights, **EXACT)


UNFED = [case for case in CASES if case.startswith("recurrent-") and not build_model(case).decoder.carries]


@pytest.mark.parametrize("case", UNFED)
def test_one_call_where_nothing_feeds_back(case: str) -> None:
    """The whole target in one recurrent call and one attention call, with the stepwise path's output and gradients."""
    model, batch = build_model(case), toy_batch()
    decoder: Any = model.decoder
    calls: list[str] = []
    for name, part in (("rnn", decoder.stack.rnn), ("attention", decoder.wiring.attention)):
        part.register_forward_hook(lambda *_, name=name: calls.append(name))
    whole = model(batch)
    assert calls == ["rnn", "attention"]
    prepared = decoder.prepare(model.encode(batch))
    steps = decoder.one_by_one(decoder.embedding(batch.target_in), prepared)
    torch.testing.assert_close(whole.states, steps.states, **EXACT)
    parameters = list(model.parameters())
    for one, other in zip(
        *(torch.autograd.grad(x.states.sum(), parameters, allow_unused=True) for x in (whole, steps)), strict=True
    ):
        torch.testing.assert_close(one, other, **EXACT)


def test_there_are_such_cases() -> None:
    assert {"recurrent-luong_general-unfed", "recurrent-hard_marginal-gru"} <= {*UNFED}


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_rows_of_a_beam(case: str) -> None:
    """B x beam rows over B prepared ones, which change parents on the way, as in beam search."""
    model, batch = build_model(case), toy_batch()
    prepared = model.decoder.prepare(model.encode(batch))
    random = torch.Generator().manual_seed(7)
    rows = torch.arange(len(batch)).repeat_interleave(BEAM)
    state = select(model.decoder.start(prepared), rows)
    history = torch.full((len(rows), 1), BOS)
    for _ in range(STEPS):
        step: Step = model.decoder.step(history[:, -1], state, prepared)
        expected = _last_logits(model, batch, rows, history)
        logits = model.decoder.readout(step.output.states, step.output.log_prior)[:, 0]
        torch.testing.assert_close(logits, expected, **EXACT)
        parents = torch.randint(BEAM, (len(rows),), generator=random) + rows * BEAM
        state = select(step.state, parents)
        token = torch.randint(PAD + 1, TARGET_VOCABULARY, (len(rows), 1), generator=random)
        history = torch.cat([history[parents], token], dim=1)


def _last_logits(model: EncoderDecoder, batch: Batch, rows: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
    """Of each row's whole history, given at once to a sentence of its own."""
    memory = select(model.encode(batch), rows)
    output = model.decoder.forward(history, model.decoder.prepare(memory))
    return model.decoder.readout(output.states, output.log_prior)[:, -1]


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_the_future_does_not_matter(case: str) -> None:
    """The output at a position is the same whatever tokens come later."""
    model, batch = build_model(case), toy_batch()
    prepared = model.decoder.prepare(model.encode(batch))
    other = batch.target_in.clone()
    other[:, 3:] = PAD + 1
    before, after = (model.decoder.forward(ids, prepared).states[:, :3] for ids in (batch.target_in, other))
    torch.testing.assert_close(before, after, **EXACT)
    assert not torch.equal(other, batch.target_in)
