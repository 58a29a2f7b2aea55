"""Hard attention: exactly one position, its three estimators against enumeration and the papers' formulas.

Shape letters: B sentences, T target positions, S source positions, V vocabulary.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.data.batch import make_batch
from nmt.data.special import PAD
from nmt.model.attention.attention import Attention
from nmt.model.attention.multihead import MultiHead
from nmt.model.attention.normalizers import reinforce
from nmt.model.attention.normalizers.gumbel import Gumbel
from nmt.model.attention.normalizers.marginal import Marginal
from nmt.model.attention.normalizers.reinforce import Reinforce
from nmt.model.attention.scores.dot import Dot
from nmt.model.attention.scores.general import General
from nmt.model.attention.windows.global_ import Global
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import mix
from nmt.train.loss import batch_loss
from tests.laws.parts import WIRINGS, randomise, recurrent, transformer

ENERGIES = torch.tensor([[[1.0, 2.0, 5.0]]]).double().log()  # probabilities 1/8, 2/8, 5/8
ALLOWED = torch.ones(1, 1, 3, dtype=torch.bool)
KINDS: dict[str, Callable[[], nn.Module]] = {"reinforce": Reinforce, "gumbel": Gumbel}


@pytest.mark.parametrize("kind", KINDS)
def test_one_position_and_the_same_each_time(kind: str) -> None:
    """In evaluation mode the most probable one: exactly one 1."""
    normalizer = KINDS[kind]().eval()
    for _ in range(3):
        found = normalizer(ENERGIES, ALLOWED, None)
        assert found.weights.tolist() == [[[0.0, 0.0, 1.0]]]
        assert (found.mixture, found.log_choice, found.losses) == (None, None, {})


@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_the_softmaxs_frequencies(kind: str) -> None:
    """In training, and with at_inference=sample in evaluation mode: 8,000 draws, each share within five deviations."""
    torch.manual_seed(5)
    many = ENERGIES.expand(8000, 1, 3)
    settings = {"expectation": 0.0} if kind == "reinforce" else {}
    training = {"reinforce": Reinforce, "gumbel": Gumbel}[kind](**settings)
    sampling = {"reinforce": Reinforce, "gumbel": Gumbel}[kind](at_inference="sample", **settings).eval()
    for normalizer in (training, sampling):
        weights = normalizer(many, ALLOWED, None).weights.detach()
        assert ((weights.round() == 1).sum(-1) == 1).all()
        for share, expected in zip(weights.mean((0, 1)).tolist(), (1 / 8, 2 / 8, 5 / 8), strict=True):
            assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / 8000)


def test_a_worked_example() -> None:
    """Two positions, of probability 1/4 and 3/4, from which a word has probability 1/2 and 9/10.

    Marginal: 1/4 x 1/2 + 3/4 x 9/10 = 0.8. The best position alone: 0.9. Its log-probability is ln 3/4.
    """
    energies, allowed = torch.tensor([[[1.0, 3.0]]]).log(), torch.ones(1, 1, 2, dtype=torch.bool)
    logits = torch.tensor([[[[0.5, 0.5], [0.9, 0.1]]]]).log()  # [B, T, M, V]
    mixture = Marginal().eval()(energies, allowed, None).mixture
    assert mixture is not None
    torch.testing.assert_close(mix(logits, mixture.log_prior).exp(), torch.tensor([[[0.8, 0.2]]]))
    best = Marginal(at_inference="argmax").eval()(energies, allowed, None).mixture
    assert best is not None
    assert best.positions is not None
    assert best.positions.tolist() == [[[1]]]
    torch.testing.assert_close(mix(logits[:, :, 1:], best.log_prior).exp(), torch.tensor([[[0.9, 0.1]]]))
    torch.manual_seed(2)  # the draw is the second position
    found = Reinforce(expectation=0.0)(energies, allowed, None)
    assert found.weights.tolist() == [[[0.0, 1.0]]]
    assert found.log_choice.item() == pytest.approx(math.log(0.75))


@pytest.mark.parametrize("kind", [*KINDS, "marginal"])
def test_a_gain_is_part_of_the_odds(kind: str) -> None:
    """Odds 1 : 2 : 5 times 8 : 1 : 1 are 8 : 2 : 5, and one 1 stays one 1."""
    normalizer = {**KINDS, "marginal": Marginal}[kind]().eval()
    weights = normalizer(ENERGIES, ALLOWED, torch.tensor([8.0, 1.0, 1.0]).double().log()).weights[0, 0]
    expected = [8 / 15, 2 / 15, 5 / 15] if kind == "marginal" else [1.0, 0.0, 0.0]
    torch.testing.assert_close(weights, torch.tensor(expected).double())


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, "marginal"])
def test_nothing_hidden_is_ever_read(kind: str, training: bool) -> None:
    """However great its energy; a row with nothing allowed is zeros, with gradients that are numbers."""
    normalizer = {**KINDS, "marginal": Marginal}[kind]().train(training)
    energies = torch.tensor([[[50.0, 0.0, 1.0], [2.0, 3.0, 4.0]]]).double().requires_grad_()
    allowed = torch.tensor([[[False, True, True], [False, False, False]]])
    for seed in range(20):
        torch.manual_seed(seed)
        found = normalizer(energies, allowed, None)
        assert not found.weights[~allowed].any()
        total = found.weights.sum() + (0.0 if found.log_choice is None else found.log_choice.sum())
        assert total.isfinite()
        if total.requires_grad:
            assert torch.autograd.grad(total, energies)[0].isfinite().all()


def test_expectation_reads_the_mean_that_often() -> None:
    """Xu 2015: a half-time sentence reads the distribution and makes no choice to answer for."""
    torch.manual_seed(4)
    found = Reinforce(expectation=0.5)(ENERGIES.expand(400, 2, 3), ALLOWED, None)
    mean = found.weights.isclose(ENERGIES.softmax(-1)).all(-1)  # [B, T]
    assert (mean[:, 0] == mean[:, 1]).all(), "a sentence's coin falls once"
    assert 150 < mean[:, 0].sum() < 250
    assert not found.log_choice[mean].any()
    assert (found.log_choice[~mean] < 0).all()


def test_reward_weighs_the_score_function() -> None:
    """A tenth of the reward is a tenth of what the choice's log-probability counts for, gradient and all."""
    found = []
    for reward in (1.0, 0.1):
        torch.manual_seed(1)
        energies = ENERGIES.clone().requires_grad_()
        log_choice = Reinforce(reward=reward, expectation=0.0)(energies, ALLOWED, None).log_choice
        found.append((log_choice, *torch.autograd.grad(log_choice.sum(), energies)))
    for whole, tenth in zip(*found, strict=True):
        torch.testing.assert_close(0.1 * whole, tenth)


def test_entropy_is_raised() -> None:
    """Its term is weight x sum p ln p: of 1/8, 2/8, 5/8 by hand, hidden positions left out."""
    losses = Reinforce(entropy=0.5)(ENERGIES, ALLOWED, None).losses
    assert losses["entropy"].item() == pytest.approx(0.5 * sum(p * math.log(p) for p in (1 / 8, 2 / 8, 5 / 8)))
    some = torch.tensor([[[True, True, False]]])
    losses = Reinforce(entropy=0.5)(ENERGIES, some, None).losses
    assert losses["entropy"].item() == pytest.approx(0.5 * sum(p * math.log(p) for p in (1 / 3, 2 / 3)))


def test_straight_through() -> None:
    """Gumbel: one 1 forward; backward softmax((e + g) / tau), g the noise of the same seed (Jang 2017, equation 2)."""
    energies = ENERGIES.clone().requires_grad_()
    values = torch.tensor([3.0, -1.0, 2.0]).double()
    torch.manual_seed(6)
    found = Gumbel(temperature=0.7)(energies, ALLOWED, None)
    (gradient,) = torch.autograd.grad((found.weights * values).sum(), energies)
    torch.manual_seed(6)
    noise = -torch.empty(1, 1, 3).double().exponential_().log()
    relaxed = ((energies + noise) / 0.7).softmax(-1)
    torch.testing.assert_close(found.weights.argmax(-1), relaxed.argmax(-1))
    (expected,) = torch.autograd.grad((relaxed * values).sum(), energies)
    torch.testing.assert_close(gradient, expected)


# The estimator of REINFORCE, enumerated


def pair() -> object:
    """A source of two pieces (three positions with EOS) and a target of one piece and EOS."""
    return make_batch([[PAD + 1, PAD + 2]], [[PAD + 3]])


def sampled(name: str) -> EncoderDecoder:
    """A small model that draws, without the half-time trick and entropy; its baseline comes from batches before."""
    one_head = partial(Attention, score=General, window=Global, normalizer=partial(Reinforce, expectation=0.0))
    if name == "transformer":
        model = transformer(one_head)
    elif name == "two heads":
        model = recurrent(partial(MultiHead, heads=2, head=one_head, size=4), WIRINGS["fed"])
    else:
        model = recurrent(one_head, WIRINGS[name])
    randomise(model)
    return model.train()


def every_draw(calls: Sequence[tuple[int, int]]) -> list[list[Tensor]]:
    """All that the calls of `draw`, each of so many heads and steps, can give over three source positions."""
    sizes = [heads * steps for heads, steps in calls]
    choices = itertools.product(range(3), repeat=sum(sizes))
    parts = (torch.tensor(choice).split(sizes) for choice in choices)
    return [[part.view(call) for part, call in zip(drawn, calls, strict=True)] for drawn in parts]


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("before", ((1, 1), (1, 1))),
        ("fed", ((1, 1), (1, 1))),
        ("two heads", ((2, 1), (2, 1))),
        ("unfed", ((1, 2),)),
        ("transformer", ((1, 2), (1, 2))),
    ],
)
def test_reinforce_is_unbiased(name: str, calls: tuple[tuple[int, int], ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate's mean over all draws, each with its probability, is the gradient of the expected loss."""
    model, batch = sampled(name), pair()
    drawn: list[Tensor] = []
    monkeypatch.setattr(reinforce, "draw", lambda log_odds: drawn.pop(0))
    parameters = list(model.parameters())
    expected_loss, total = torch.zeros(()).double(), torch.zeros(()).double()
    mean = [torch.zeros_like(parameter) for parameter in parameters]
    for draws in every_draw(calls):
        drawn[:] = draws
        output = model(batch)  # type: ignore[arg-type]
        logits = model.decoder.readout(output.states, output.log_prior)[0]
        cost = F.cross_entropy(logits, batch.target_out[0], reduction="sum")  # type: ignore[attr-defined]
        probability = output.log_choice.sum().exp()
        expected_loss, total = expected_loss + probability * cost, total + probability.detach()
        drawn[:] = draws
        model.baseline.fill_(1.7)
        loss = batch_loss(model, batch).loss  # type: ignore[arg-type]
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
        mean = [one + probability.detach() * other for one, other in zip(mean, gradients, strict=True)]
    assert not drawn
    assert float(total) == pytest.approx(1.0)
    wanted = torch.autograd.grad(expected_loss, parameters, allow_unused=True, materialize_grads=True)
    for one, other in zip(mean, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=0)


def test_the_baseline_follows_the_cost() -> None:
    """b = 0.9 b + 0.1 of the mean cost a token, in training alone; it starts at a uniform guess's and is saved."""
    model, batch = sampled("fed"), pair()
    assert float(model.baseline) == pytest.approx(math.log(29))
    assert "baseline" in model.state_dict()
    sums = batch_loss(model, batch)  # type: ignore[arg-type]
    assert float(model.baseline) == pytest.approx(0.9 * math.log(29) + 0.1 * float(sums.nll) / sums.tokens)
    moved = model.baseline.clone()
    batch_loss(model.eval(), batch)  # type: ignore[arg-type]
    assert torch.equal(model.baseline, moved)


def test_a_bad_batch_does_not_reach_the_baseline() -> None:
    """Its update is skipped; a baseline that is no number would make all later ones bad."""
    model = sampled("fed")
    before = model.baseline.clone()
    for bad in (math.nan, math.inf):
        model.move_baseline(torch.tensor(bad).double())
    assert torch.equal(model.baseline, before)


def test_judging_adds_nothing_to_the_loss() -> None:
    """The term has a gradient and no value: the logged loss is the cross-entropy."""
    model, batch = sampled("fed"), pair()
    sums = batch_loss(model, batch)  # type: ignore[arg-type]
    torch.testing.assert_close(sums.loss.detach(), sums.nll)


def test_a_mixture_has_no_weights_to_drop() -> None:
    with pytest.raises(ValueError, match=r"dropout is 0\.5: a mixture keeps every position apart"):
        Attention(query_size=2, memory_size=2, score=Dot, window=Global, normalizer=Marginal, dropout=0.5)


# The marginal over fewer positions


def marginal(positions: int, wiring: str) -> EncoderDecoder:
    one_head = partial(Attention, score=General, window=Global, normalizer=partial(Marginal, positions=positions))
    model = recurrent(one_head, WIRINGS[wiring])
    randomise(model)
    return model


@pytest.mark.parametrize("wiring", WIRINGS)
def test_as_many_positions_as_there_are_is_exact(wiring: str) -> None:
    """Loss and gradients; with fewer, the loss is another one."""
    batch = make_batch([[PAD + 1, PAD + 2, PAD + 4], [PAD + 1]], [[PAD + 3], [PAD + 5, PAD + 6]])
    exact, covering, few = (marginal(positions, wiring) for positions in (0, 4, 2))
    losses = [batch_loss(model, batch).loss for model in (exact, covering, few)]
    torch.testing.assert_close(losses[1], losses[0])
    assert abs(losses[2] - losses[0]) > 1e-3
    for one, other in zip(
        torch.autograd.grad(losses[0], list(exact.parameters())),
        torch.autograd.grad(losses[1], list(covering.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


@torch.no_grad()
def test_the_most_probable_positions_share_their_probability() -> None:
    """5/8 and 2/8 of three are 5/7 and 2/7, in whatever place they stand; contexts are those positions' values."""
    found = Marginal(positions=2)(ENERGIES, ALLOWED, None)
    assert found.mixture is not None
    assert found.mixture.positions is not None
    assert found.mixture.positions.tolist() == [[[2, 1]]]
    torch.testing.assert_close(found.weights, torch.tensor([[[0.0, 2 / 7, 5 / 7]]]).double())
    torch.testing.assert_close(found.mixture.log_prior.exp(), torch.tensor([[[5 / 7, 2 / 7]]]).double())
    attention = Attention(
        query_size=2, memory_size=2, score=Dot, window=Global, normalizer=partial(Marginal, positions=2)
    ).double()
    states = torch.tensor([[[1.0, 0.0], [2.0, 0.0], [5.0, 0.0]]]).double()
    prepared = attention.prepare(states, torch.ones(1, 3, dtype=torch.bool), states[:, 0])
    attended, _ = attention(torch.ones(1, 1, 2).double(), prepared, (), torch.tensor([[0]]))
    assert attended.context.tolist() == [[[[5.0, 0.0], [2.0, 0.0]]]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(Reinforce, expectation=2.0), "expectation is 2.0: allowed is 0 to 1"),
        (partial(Reinforce, at_inference="mixture"), "at_inference is 'mixture': allowed are argmax, sample"),
        (partial(Gumbel, temperature=0.0), "temperature is 0.0: it must be positive"),
        (partial(Marginal, positions=-1), "positions is -1"),
        (partial(Marginal, at_inference="sample"), "at_inference is 'sample': allowed are mixture, argmax"),
    ],
)
def test_impossible_settings(make: Callable[[], nn.Module], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
