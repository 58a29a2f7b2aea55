"""The moving average of weights: its numbers, its state, and the model's own weights untouched by it."""

from __future__ import annotations

from math import factorial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.train.ema import Ema
from tests.laws.models import build_model

TIED = ("transformer-pre-sinusoidal", "model.tied=output")
SAMPLING = "recurrent-hard_reinforce-gru"  # has a buffer that training moves


def model_of(value: float) -> nn.Linear:
    """A single weight, in double precision."""
    model = nn.Linear(1, 1, bias=False).double()
    return put(model, value)


def put(model: nn.Linear, value: float) -> nn.Linear:
    nn.init.constant_(model.weight, value)
    return model


def train(model: nn.Module, ema: Ema, updates: int, seed: int) -> None:
    """Steps into random directions."""
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(updates):
        for parameter in model.parameters():
            parameter.grad = torch.randn_like(parameter)
        optimizer.step()
        ema.update()


def copies(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    """Bit for bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("updates", [1, 2, 5, 20])
def test_the_start_weighs_nothing_soon(updates: int) -> None:
    """Weights that go from 1 to 0 leave the share of the first ones: 1/10 after an update, n! 9! / (n + 9)! after n."""
    model = model_of(1.0)
    ema = Ema(model, decay=0.999)
    put(model, 0.0)
    for _ in range(updates):
        ema.update()
    share = factorial(updates) * factorial(9) / factorial(updates + 9)
    assert ema.averages[0].item() == pytest.approx(share, rel=1e-12)
    assert (share < 1e-6) == (updates == 20)


def test_the_decay_is_a_bound() -> None:
    """With 0.5, n / (9 + n) is bounded from the ninth update on: every further one halves the distance."""
    model = model_of(0.0)
    ema = Ema(model, decay=0.5)
    for _ in range(9):
        ema.update()
    put(model, 1.0)
    found = []
    for _ in range(3):
        ema.update()
        found.append(ema.averages[0].item())
    assert found == [0.5, 0.75, 0.875]


def test_a_long_average_is_the_geometric_mean_of_what_was() -> None:
    """Independently: sum over i of w_i (1 - d_i) times the product of all later d."""
    model = model_of(3.0)
    ema = Ema(model, decay=0.7)
    values = torch.randn(40).double().tolist()
    for value in values:
        put(model, value)
        ema.update()
    decays = [min(0.7, n / (9 + n)) for n in range(1, 41)]
    weights = [1 - decay for decay in decays]
    for number in range(40):
        for later in decays[number + 1 :]:
            weights[number] *= later
    expected = sum(weight * value for weight, value in zip(weights, values, strict=True))
    share = torch.tensor(decays).double().prod().item()
    assert sum(weights) + share == pytest.approx(1.0)
    assert ema.averages[0].item() == pytest.approx(expected + 3.0 * share, rel=1e-12)


def test_equal_weights_are_their_own_average() -> None:
    model = build_model(SAMPLING)
    ema = Ema(model, decay=0.9)
    before = [average.clone() for average in ema.averages]
    for _ in range(13):
        ema.update()
    assert all(torch.equal(one, other) for one, other in zip(before, ema.averages, strict=True))


@pytest.mark.parametrize("given", [TIED, (SAMPLING,)])
def test_in_place_and_back(given: tuple[str, ...]) -> None:
    """The averages are in the model meanwhile, in the same tensors; its own weights are back bit for bit after."""
    model = build_model(*given)
    ema = Ema(model, decay=0.9)
    train(model, ema, 7, seed=2)
    own, places = copies(model), [parameter.data_ptr() for parameter in model.parameters()]
    with ema.in_place():
        inside = dict(model.named_parameters())
        assert [parameter.data_ptr() for parameter in model.parameters()] == places
        for name, average in zip(ema.names, ema.averages, strict=True):
            assert torch.equal(inside[name], average)
            assert not torch.equal(inside[name], own[name])
        for name, buffer in model.named_buffers():
            assert torch.equal(buffer, own[name]), "a buffer has no average"
    assert same(copies(model), own)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_back_after_an_exception(error: type[BaseException]) -> None:
    model = build_model(SAMPLING)
    ema = Ema(model, decay=0.9)
    train(model, ema, 3, seed=2)
    own, averages = copies(model), copies(model) | ema.state()
    with pytest.raises(error), ema.in_place():
        raise error
    assert same(copies(model), own)
    assert same(copies(model) | ema.state(), averages)


def test_training_does_not_know_of_it() -> None:
    """The same weights with and without, though it was looked at in between."""
    found = []
    for looked_at in (True, False):
        model = build_model(SAMPLING)
        ema = Ema(model, decay=0.9)
        for seed in (2, 3):
            train(model, ema, 5, seed)
            if looked_at:
                with ema.in_place():
                    pass
        found.append(copies(model))
    assert same(*found)


def test_a_tied_table_is_averaged_once() -> None:
    model = build_model(*TIED)
    ema = Ema(model, decay=0.5)
    assert len(ema.averages) == len({id(parameter) for parameter in model.parameters()})
    assert len(ema.state()) == len(list(model.parameters())) + 1
    train(model, ema, 1, seed=2)
    start = build_model(*TIED)
    for one, trained, average in zip(start.parameters(), model.parameters(), ema.averages, strict=True):
        torch.testing.assert_close(average, 0.1 * one.detach() + 0.9 * trained.detach())


@pytest.mark.parametrize("stop", [4, 11])
def test_going_on_is_not_stopping(tmp_path: Path, stop: int) -> None:
    """12 updates == some, a state of tensors, and the rest in another process: bit for bit, before the bound and after.

    The bound 0.5 is reached at update 9.
    """
    whole = build_model(SAMPLING)
    ema = Ema(whole, decay=0.5)
    train(whole, ema, stop, seed=2)
    state = {name: tensor.clone() for name, tensor in ema.state().items()}
    other = build_model(SAMPLING, seed=5)
    other.load_state_dict(copies(whole))
    train(whole, ema, 12 - stop, seed=3)
    again = Ema(other, decay=0.5)
    again.restore(tmp_path, state)
    train(other, again, 12 - stop, seed=3)
    assert same(again.state(), ema.state())
    assert int(again.state()["updates"]) == 12
    assert same(copies(other), copies(whole))


def test_the_state_of_another_model(tmp_path: Path) -> None:
    """Also none at all: a checkpoint of a training that had no average."""
    ema = Ema(model_of(1.0), decay=0.5)
    path = tmp_path / "last.safetensors"
    for state in ({}, Ema(nn.Linear(2, 1, bias=False), decay=0.5).state(), Ema(nn.Linear(1, 1), decay=0.5).state()):
        with pytest.raises(UserError, match=r"last.safetensors: the moving average is of another model, or there is"):
            ema.restore(path, state)
    assert ema.averages[0].item() == 1.0


@pytest.mark.parametrize("decay", [0.0, 1.0, -0.1, 2.0])
def test_no_decay(decay: float) -> None:
    with pytest.raises(ValueError, match=f"decay is {decay}: allowed is 0 < x < 1"):
        Ema(model_of(1.0), decay)
