"""The chunked loss against torch's cross-entropy over all logits at once: value and every gradient.

Shape letters: n tokens, R readout size, M mixture components, V vocabulary.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.model import masks
from nmt.model.interface import mix
from nmt.train.loss import batch_loss, chunked_cross_entropy
from tests.laws.models import build_model, toy_batch

TOKENS, R, M, V = 7, 5, 3, 11


def _inputs(mixture: bool) -> tuple[list[Tensor], Tensor]:
    """States, prior (or none), weight and bias, all with gradients; and ids."""
    states = torch.randn(TOKENS, M, R) if mixture else torch.randn(TOKENS, R)
    prior = torch.randn(TOKENS, M).log_softmax(-1)
    parts = [states, *([prior] if mixture else []), torch.randn(V, R), torch.randn(V)]
    return [part.double().requires_grad_() for part in parts], torch.randint(V, (TOKENS,))


def _chunked(parts: list[Tensor], ids: Tensor, smoothing: float, chunk: int) -> tuple[Tensor, Tensor, Tensor]:
    states, *prior, weight, bias = parts
    return chunked_cross_entropy(
        states, prior[0] if prior else None, ids, weight, bias, smoothing=smoothing, chunk=chunk
    )


def _plain(parts: list[Tensor], ids: Tensor, smoothing: float, reduction: str = "sum") -> Tensor:
    states, *prior, weight, bias = parts
    logits = mix(F.linear(states, weight, bias), prior[0] if prior else None)
    return F.cross_entropy(logits, ids, label_smoothing=smoothing, reduction=reduction)


@pytest.mark.parametrize("mixture", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("chunk", [1, 3, TOKENS, 100])
def test_value_and_gradients(chunk: int, smoothing: float, mixture: bool) -> None:
    """Also under a factor in front, as the division by tokens is one."""
    parts, ids = _inputs(mixture)
    loss, nll, costs = _chunked(parts, ids, smoothing, chunk)
    wanted = _plain(parts, ids, smoothing)
    torch.testing.assert_close(loss, wanted, atol=1e-10, rtol=0)
    torch.testing.assert_close(nll, _plain(parts, ids, 0.0), atol=1e-10, rtol=0)
    each = _plain(parts, ids, smoothing, "none")
    torch.testing.assert_close(costs, each, atol=1e-10, rtol=0)
    for one, other in zip(
        torch.autograd.grad(0.3 * loss, parts), torch.autograd.grad(0.3 * wanted, parts), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=0)


@pytest.mark.parametrize("mixture", [False, True])
def test_gradcheck(mixture: bool) -> None:
    """Against finite differences, which know nothing of any formula."""
    parts, ids = _inputs(mixture)
    assert torch.autograd.gradcheck(lambda *given: _chunked(list(given), ids, 0.2, 3)[0], parts)


def test_by_hand() -> None:
    """Two pieces of 3/4 and 1/4, the second is right: -ln 1/4; smoothed by e = 0.2, 0.8 of that and 0.1 of each."""
    states, weight = torch.zeros(1, 2).double(), torch.zeros(2, 2).double()
    bias = torch.tensor([3.0, 1.0]).double().log()
    right, wrong = -math.log(0.25), -math.log(0.75)
    for smoothing, wanted in ((0.0, right), (0.2, 0.8 * right + 0.1 * (right + wrong))):
        loss, nll, _ = chunked_cross_entropy(
            states, None, torch.tensor([1]), weight, bias, smoothing=smoothing, chunk=5
        )
        assert float(loss) == pytest.approx(wanted, abs=1e-12)
        assert float(nll) == pytest.approx(right, abs=1e-12)


def test_without_gradients() -> None:
    """In validation nothing is kept and the value is the same."""
    parts, ids = _inputs(False)
    with torch.inference_mode():
        loss, *_ = _chunked(parts, ids, 0.1, 3)
    assert not loss.requires_grad
    torch.testing.assert_close(loss.clone(), _plain(parts, ids, 0.1).detach())


@pytest.mark.parametrize("r_drop", [0.0, 2.0])
def test_half_precision_ends_at_the_logits(r_drop: float) -> None:
    """Under autocast the product is in bfloat16, everything after it in float32: the loss of rounded logits."""
    states, weight, bias = torch.randn(TOKENS, 2, R), torch.randn(V, R).requires_grad_(), torch.randn(V)
    states, ids = (states if r_drop else states[:, 0]).requires_grad_(), torch.randint(V, (TOKENS,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss, nll, costs = chunked_cross_entropy(states, None, ids, weight, bias, smoothing=0.1, r_drop=r_drop, chunk=6)
        logits = F.linear(states, weight, bias)
    assert logits.dtype == torch.bfloat16
    assert loss.dtype == nll.dtype == costs.dtype == torch.float32
    rows = logits.float().reshape(-1, V)
    wanted = F.cross_entropy(rows, ids.repeat_interleave(len(rows) // TOKENS), label_smoothing=0.1, reduction="none")
    torch.testing.assert_close(costs.flatten(), wanted)
    loss.backward()
    assert weight.grad is not None
    assert weight.grad.any()


@pytest.fixture
def rows_of_logits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many each product with the projection made."""
    seen: list[int] = []
    addmm = torch.addmm
    monkeypatch.setattr(
        torch, "addmm", lambda bias, x, *rest, out: (seen.append(len(x)), addmm(bias, x, *rest, out=out))[1]
    )
    return seen


def test_never_all_logits_at_once(rows_of_logits: list[int]) -> None:
    parts, ids = _inputs(False)
    _chunked(parts, ids, 0.1, 3)
    assert rows_of_logits == [3, 3, 1]


def test_choices_of_a_mixture_count(rows_of_logits: list[int]) -> None:
    """Three choices a token: of seven rows of logits the six of two tokens are made."""
    parts, ids = _inputs(True)
    _chunked(parts, ids, 0.1, 7)
    assert rows_of_logits == [6, 6, 6, 3]


@pytest.mark.parametrize("case", ["recurrent-bahdanau-gru", "transformer-pre-sinusoidal"])
def test_batch_loss_counts_valid_tokens_alone(case: str) -> None:
    """Against plain cross-entropy over the valid positions of a padded batch; EOS counted."""
    model, batch = build_model(case), toy_batch()
    sums = batch_loss(model, batch, smoothing=0.1, chunk=3)
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    output = model(batch)
    logits = model.decoder.readout(output.states, None)[valid]
    wanted = F.cross_entropy(logits, batch.target_out[valid], label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(sums.loss, wanted, atol=1e-10, rtol=0)
    assert sums.tokens == int(batch.target_lengths.sum()) == len(logits)
    parameters = list(model.parameters())
    for one, other in zip(
        torch.autograd.grad(sums.loss, parameters), torch.autograd.grad(wanted, parameters), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=0)


def test_tied_table_gets_both_gradients() -> None:
    """From the embedding and from the projection, through the chunked loss as through autograd."""
    model, batch = build_model("transformer-pre-sinusoidal", "model.tied=all", source=29), toy_batch()
    table = model.decoder.projection.weight
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    logits = model.decoder.readout(model(batch).states, None)[valid]
    wanted = F.cross_entropy(logits, batch.target_out[valid], reduction="sum")
    loss = batch_loss(model, batch).loss
    torch.testing.assert_close(*(torch.autograd.grad(x, table)[0] for x in (loss, wanted)), atol=1e-10, rtol=0)
