"""A window's gain (Luong 2015, local-p) in every decoder, and links in a batch that supervise attention.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor

from nmt.data.batch import pack_links
from nmt.model.attention import kernel
from nmt.model.attention.attention import Attention
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.scaled_dot import ScaledDot
from nmt.model.attention.windows.local_p import LocalP
from nmt.model.encoder_decoder import EncoderDecoder
from tests.laws.models import alone, toy_batch
from tests.laws.parts import EXACT, WIRINGS, check_steps, recurrent, single_head, transformer

REACH = 2


local = partial(Attention, score=ScaledDot, window=partial(LocalP, reach=REACH), normalizer=Softmax)


@torch.no_grad()
def test_gain_multiplies_after_the_softmax() -> None:
    """By hand: softmax over the window, then the Gaussian, and nothing is renormalised."""
    attention = local(query_size=5, memory_size=5).double()
    query, states = torch.randn(2, 3, 5).double(), torch.randn(2, 7, 5).double()
    valid = torch.arange(7) < torch.tensor([[7], [4]])
    attended, _ = attention(query, attention.prepare(states, valid, states[:, 0]), (), torch.arange(3)[None])
    for row in range(2):
        for step in range(3):
            windowed = attention.window(query, valid, torch.arange(3)[None])
            allowed, gain = windowed.allowed[row, step], windowed.log_gain[row, step].exp()
            places = allowed.nonzero()[:, 0]
            weights = torch.zeros(7).double()
            weights[places] = attended.energies[row, 0, step, places].softmax(0) * gain[places]
            torch.testing.assert_close(attended.weights[row, 0, step], weights, **EXACT)
            torch.testing.assert_close(attended.context[row, step], weights @ states[row], **EXACT)
    assert (attended.weights.sum(-1) < 1).all()


@pytest.mark.parametrize("wiring", WIRINGS)
@torch.no_grad()
def test_windows_know_the_true_lengths(wiring: str) -> None:
    model, batch = recurrent(partial(local, score=single_head.keywords["score"]), WIRINGS[wiring]), toy_batch()
    check_steps(model, batch)
    states = model(batch).states
    for row in range(len(batch)):
        own = model(alone(batch, row)).states[0]
        torch.testing.assert_close(states[row, : len(own)], own, **EXACT)


@torch.no_grad()
def test_a_gain_is_never_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = transformer(local), toy_batch()
    before = model(batch).states
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: True)
    torch.testing.assert_close(model(batch).states, before, atol=1e-10, rtol=0)


LINKS = pack_links([[0, 0, 2, 1], [1, 0], [], [0, 0, 0, 1]])


def guided_loss(weights: Tensor, links: Tensor | None) -> Tensor:
    """-ln of the weight at each link, summed (Liu 2016): weights [B, L, H, T, S]."""
    assert links is not None
    rows, sources, targets = links.T
    return -weights[rows, :, :, targets, sources].log().sum()


@pytest.mark.parametrize(
    "model",
    [*(recurrent(single_head, wiring) for wiring in WIRINGS.values()), transformer()],
    ids=[*WIRINGS, "transformer"],
)
def test_links_supervise_attention(model: EncoderDecoder) -> None:
    """`Batch.links` and `DecoderOutput.weights` are enough to train attention: ten steps pull weight onto the links."""
    batch = replace(toy_batch(), links=LINKS)
    moved = batch.to(torch.device("cpu")).links
    assert moved is not None
    assert torch.equal(moved, LINKS)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(10):
        prepared = model.decoder.prepare(model.encode(batch))
        loss = guided_loss(model.decoder.forward(batch.target_in, prepared, [0]).weights, batch.links)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.9 * losses[0]
