"""R-Drop against two explicit passes, all logits at once, torch's own divergence, and autograd through everything.

Shape letters: n tokens, R readout size, M mixture components, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.compose import compose
from nmt.data.batch import Batch, pack_links
from nmt.errors import UserError
from nmt.model import masks
from nmt.model.dropout import Dropout
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import mix
from nmt.train.loss import batch_loss, chunked_cross_entropy
from nmt.train.r_drop import paired, twice
from tests.laws.models import CORPUS, FEW, build_model, toy_batch

TOKENS, R, M, V = 7, 5, 3, 11
EXACT = {"atol": 1e-10, "rtol": 0.0}
WET = ("model.encoder.dropout=0.4", "model.decoder.dropout=0.4", "model.word_dropout=0.2")
SHARED = ("model.encoder.dropout_shared=true", "model.decoder.dropout_shared=true")
COVERED = ("attention.coverage.loss=1.5",)
SMOOTHING, R_DROP = 0.1, 2.5


def pair_loss(logits: tuple[Tensor, Tensor], ids: Tensor, smoothing: float, r_drop: float) -> Tensor:
    """The formula of the docstring, of two passes' logits [n, V], summed."""
    entropies = [F.cross_entropy(one, ids, label_smoothing=smoothing, reduction="sum") for one in logits]
    first, second = (one.log_softmax(-1) for one in logits)
    divergences = [
        F.kl_div(second, first, log_target=True, reduction="sum"),  # KL(p_1 || p_2): torch's arguments are turned round
        F.kl_div(first, second, log_target=True, reduction="sum"),
    ]
    return (entropies[0] + entropies[1]) / 2 + r_drop * (divergences[0] + divergences[1]) / 2


def _inputs(mixture: bool) -> tuple[list[Tensor], Tensor]:
    """Both passes' states, prior (or none), weight and bias, all with gradients; and ids."""
    states = torch.randn(TOKENS, 2, M, R) if mixture else torch.randn(TOKENS, 2, R)
    prior = torch.randn(TOKENS, 2, M).log_softmax(-1)
    parts = [states, *([prior] if mixture else []), torch.randn(V, R), torch.randn(V)]
    return [part.double().requires_grad_() for part in parts], torch.randint(V, (TOKENS,))


def _chunked(parts: list[Tensor], ids: Tensor, smoothing: float, chunk: int) -> tuple[Tensor, Tensor, Tensor]:
    states, *prior, weight, bias = parts
    return chunked_cross_entropy(
        states, prior[0] if prior else None, ids, weight, bias, smoothing=smoothing, r_drop=R_DROP, chunk=chunk
    )


@pytest.mark.parametrize("mixture", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("chunk", [1, 6, 100])
def test_value_and_gradients(chunk: int, smoothing: float, mixture: bool) -> None:
    """Also under a factor in front, as the division by tokens is one."""
    parts, ids = _inputs(mixture)
    states, *prior, weight, bias = parts
    logits = mix(F.linear(states, weight, bias), prior[0] if prior else None)  # [n, 2, V]
    wanted = pair_loss((logits[:, 0], logits[:, 1]), ids, smoothing, R_DROP)
    loss, nll, costs = _chunked(parts, ids, smoothing, chunk)
    torch.testing.assert_close(loss, wanted, **EXACT)
    torch.testing.assert_close(nll, pair_loss((logits[:, 0], logits[:, 1]), ids, 0.0, 0.0), **EXACT)
    for number in (0, 1):
        own = F.cross_entropy(logits[:, number], ids, label_smoothing=smoothing, reduction="none")
        torch.testing.assert_close(costs[:, number], own, **EXACT)
    for one, other in zip(
        torch.autograd.grad(0.3 * loss, parts), torch.autograd.grad(0.3 * wanted, parts), strict=True
    ):
        torch.testing.assert_close(one, other, **EXACT)


@pytest.mark.parametrize("mixture", [False, True])
def test_gradcheck(mixture: bool) -> None:
    """Against finite differences, which know nothing of any formula."""
    parts, ids = _inputs(mixture)
    assert torch.autograd.gradcheck(lambda *given: _chunked(list(given), ids, 0.2, 4)[0], parts)


def test_by_hand() -> None:
    """Two pieces of 1/2 and 1/2, then of 1/4 and 3/4; the second is right.

    The divergences add up to (1/2 - 1/4) ln(1/2 : 1/4) + (1/2 - 3/4) ln(1/2 : 3/4) = ln(3) / 4.
    """
    states = torch.tensor([[[0.5, 0.5], [0.25, 0.75]]]).double().log()
    weight, bias = torch.eye(2).double(), torch.zeros(2).double()
    loss, nll, costs = chunked_cross_entropy(
        states, None, torch.tensor([1]), weight, bias, smoothing=0.0, r_drop=3.0, chunk=5
    )
    halves = math.log(2), math.log(4 / 3)
    assert costs[0].tolist() == pytest.approx(halves, abs=1e-12)
    assert float(nll) == pytest.approx(sum(halves) / 2, abs=1e-12)
    assert float(loss) == pytest.approx(sum(halves) / 2 + 3 * math.log(3) / 8, abs=1e-12)


@pytest.mark.parametrize(("mixture", "wanted"), [(False, [6, 6, 2]), (True, [6] * 7)])
def test_never_all_logits_at_once(monkeypatch: pytest.MonkeyPatch, mixture: bool, wanted: list[int]) -> None:
    """Six rows of logits are three tokens in two passes, or one token of a mixture of three."""
    seen: list[int] = []
    addmm = torch.addmm

    def watched(bias: Tensor, x: Tensor, *rest: Tensor, out: Tensor) -> Tensor:
        seen.append(len(x))
        return addmm(bias, x, *rest, out=out)

    monkeypatch.setattr(torch, "addmm", watched)
    parts, ids = _inputs(mixture)
    _chunked(parts, ids, 0.1, 6)
    assert seen == wanted


def test_a_batch_twice() -> None:
    """Everything once more, in order; `paired` brings the two passes of each token together."""
    once = replace(toy_batch(), links=pack_links([[row, 0] for row in range(4)]))
    both = twice(once)
    assert len(both) == 8
    assert once.links is not None
    assert both.links is not None
    assert both.links.tolist() == [[row, row % 4, 0] for row in range(8)]
    for name in ("source", "source_lengths", "target_in", "target_out", "target_lengths", "index"):
        for part in getattr(both, name).chunk(2):
            assert torch.equal(part, getattr(once, name))
    valid = masks.valid_mask(both.target_lengths, both.target_out.shape[1])
    first, second = paired(both.target_out[valid]).unbind(1)
    assert torch.equal(first, second)
    assert len(first) == int(once.target_lengths.sum())


@pytest.mark.parametrize("case", FEW)
def test_without_dropout_it_is_the_plain_loss(case: str) -> None:
    """Both passes are one: no divergence, no gradient of it, and everything else the mean of two equal things."""
    model, batch = build_model(case).train(), toy_batch()
    parameters = list(model.parameters())
    plain, both = (batch_loss(model, batch, smoothing=SMOOTHING, r_drop=x, chunk=6) for x in (0.0, R_DROP))
    assert both.tokens == plain.tokens
    torch.testing.assert_close(both.nll, plain.nll, **EXACT)
    torch.testing.assert_close(both.loss, plain.loss, **EXACT)
    for one, other in zip(
        *(torch.autograd.grad(sums.loss, parameters, allow_unused=True) for sums in (both, plain)), strict=True
    ):
        torch.testing.assert_close(one, other, **EXACT)


class Tape:
    """Every mask that dropout draws in one run of a doubled batch, to be played to each half of its sentences."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tape: list[Tensor] = []
        self.play: Iterator[Tensor] | None = None
        draw: Callable[[Dropout, Tensor], Tensor] = Dropout.mask

        def mask(dropout: Dropout, x: Tensor) -> Tensor:
            if self.play is not None:
                return next(self.play)
            self.tape.append(draw(dropout, x))
            return self.tape[-1]

        monkeypatch.setattr(Dropout, "mask", mask)

    def rewind(self, half: int) -> None:
        self.play = iter([mask.chunk(2)[half] for mask in self.tape])


def one_pass(model: EncoderDecoder, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits [n, V] of a batch's tokens, and the sum of the attention's named terms."""
    output = model(batch)
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    named = sum((extra[valid].sum() for extra in output.losses.values()), torch.zeros(()).double())
    return model.decoder.readout(output.states, output.log_prior)[valid], named


@pytest.mark.parametrize(
    ("case", "extra"),
    [
        ("recurrent-bahdanau-gru", ()),
        ("recurrent-luong_concat-gru", ()),
        ("recurrent-hard_marginal-gru", ()),
        ("recurrent-coverage-gru", COVERED),
        ("recurrent-coverage-gru", (*COVERED, *SHARED)),
        ("transformer-pre-sinusoidal", ()),
        ("transformer-coverage", COVERED),
    ],
)
def test_two_explicit_passes(case: str, extra: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """With each half's own masks: value, -ln p, and the gradient of every parameter."""
    model, batch, tape = build_model(case, *WET, *extra).train(), toy_batch(), Tape(monkeypatch)
    sums = batch_loss(model, batch, smoothing=SMOOTHING, r_drop=R_DROP, chunk=6)
    passes = []
    for half in (0, 1):
        tape.rewind(half)
        passes.append(one_pass(model, batch))
    (first, named), (second, again) = passes
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    ids = batch.target_out[valid]
    assert not torch.allclose(first, second)
    wanted = pair_loss((first, second), ids, SMOOTHING, R_DROP) + (named + again) / 2
    assert sums.tokens == len(ids)
    torch.testing.assert_close(sums.nll, pair_loss((first, second), ids, 0.0, 0.0).detach(), **EXACT)
    torch.testing.assert_close(sums.loss, wanted, **EXACT)
    parameters = list(model.parameters())
    for one, other in zip(
        *(torch.autograd.grad(loss, parameters, allow_unused=True) for loss in (sums.loss, wanted)), strict=True
    ):
        torch.testing.assert_close(one, other, **EXACT)


@pytest.mark.parametrize("case", ["recurrent-hard_reinforce-gru", "recurrent-hard_reinforce-fed"])
def test_each_pass_is_judged_by_its_own_cost(case: str) -> None:
    """Choices by REINFORCE, term by term: the mean over passes of ln p(choice) times the cost beyond the baseline.

    Its value is nothing, its gradient that of the sum below; the baseline moves to the mean cost of both passes.
    """
    model, batch = build_model(case, *WET).train(), toy_batch()
    parameters, before = list(model.parameters()), float(model.baseline)
    torch.manual_seed(5)
    sums = batch_loss(model, batch, smoothing=SMOOTHING, r_drop=R_DROP)
    moved = float(model.baseline)
    torch.manual_seed(5)
    output = model(twice(batch))
    logits = model.decoder.readout(output.states, None)
    choices = output.log_choice
    assert choices is not None
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    halves = logits.chunk(2)
    wanted = pair_loss((halves[0][valid], halves[1][valid]), batch.target_out[valid], SMOOTHING, R_DROP)
    wanted = wanted + output.losses["entropy"][torch.cat([valid, valid])].sum() / 2
    surrogate, costs = torch.zeros(()).double(), []
    for row in range(2 * len(batch)):
        length = int(batch.target_lengths[row % len(batch)])
        ids = batch.target_out[row % len(batch), :length]
        cost = F.cross_entropy(logits[row, :length], ids, label_smoothing=SMOOTHING, reduction="none").detach()
        costs.append(cost)
        for position in range(length):
            answers = cost[position:] if case.endswith("-fed") else cost[position : position + 1]
            surrogate = surrogate + choices[row, position] * (answers - before).sum() / 2
    assert moved == pytest.approx(0.9 * before + 0.1 * float(torch.cat(costs).mean()))
    torch.testing.assert_close(sums.loss, wanted, **EXACT)
    for one, other in zip(
        torch.autograd.grad(sums.loss, parameters), torch.autograd.grad(wanted + surrogate, parameters), strict=True
    ):
        torch.testing.assert_close(one, other, **EXACT)


def test_a_negative_weight_is_refused() -> None:
    with pytest.raises(UserError, match=r"train\.r_drop is -1\.0: allowed is 0 or a positive number"):
        compose([*CORPUS, "train.r_drop=-1.0"])
