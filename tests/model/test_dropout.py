"""Dropout by counting: its rate, its mean, the evenness of its bits, and when it is off."""

from __future__ import annotations

import math

import pytest
import torch

from nmt.model.dropout import LEVELS, Dropout
from tests.laws.models import build_model

COUNT = 400_000


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.9])
def test_rate_and_mean(rate: float) -> None:
    """Of 400,000 ones the dropped share is the rate in steps of 1/256, within 4 standard deviations; the mean holds."""
    dropped = round(rate * LEVELS) / LEVELS
    out = Dropout(rate)(torch.ones(COUNT))
    deviation = math.sqrt(dropped * (1 - dropped) / COUNT)
    assert float((out == 0).float().mean()) == pytest.approx(dropped, abs=4 * deviation)
    assert float(out.mean()) == pytest.approx(1.0, abs=4 * deviation / (1 - dropped))
    assert out[out != 0].unique().tolist() == pytest.approx([1 / (1 - dropped)])


@pytest.mark.parametrize("byte", range(8))
def test_every_byte_of_a_draw_is_even(byte: int) -> None:
    """Eight masks are cut from each 64-bit number: a dead sign bit would halve the rate of each eighth element."""
    out = Dropout(0.5)(torch.ones(COUNT))[byte::8]
    assert float((out == 0).float().mean()) == pytest.approx(0.5, abs=4 * math.sqrt(0.25 / (COUNT / 8)))


def test_neighbours_are_independent() -> None:
    """Both of two neighbours are dropped in a quarter of all cases."""
    zero = (Dropout(0.5)(torch.ones(COUNT)) == 0).float()
    assert float((zero[1:] * zero[:-1]).mean()) == pytest.approx(0.25, abs=4 * math.sqrt(0.1875 / COUNT) * 1.5)


def test_gradient_is_the_mask() -> None:
    x = torch.ones(17, 3, requires_grad=True)
    out = Dropout(0.5)(x)
    out.sum().backward()
    assert torch.equal(out, x.grad)


def test_relu_is_relu_then_dropout() -> None:
    """One draw, one result, and one gradient, which its own way keeps less for."""
    x = torch.randn(17, 30, dtype=torch.float64, requires_grad=True)
    for dropout in (Dropout(0.5), Dropout(0.5).eval(), Dropout(0.0)):
        results = []
        for function in (dropout.relu, lambda x, dropout=dropout: dropout(x.relu())):
            torch.manual_seed(3)
            out = function(x)
            results.append((out, *torch.autograd.grad((out * out).sum(), x)))
        for one, other in zip(*results, strict=True):
            assert torch.equal(one, other)


def test_a_sum_is_dropout_then_the_sum() -> None:
    """Of two terms the second is dropped: one draw, one result, and both gradients."""
    x, y = (torch.randn(17, 30, dtype=torch.float64, requires_grad=True) for _ in range(2))
    for dropout in (Dropout(0.5), Dropout(0.5).eval(), Dropout(0.0)):
        results = []
        for function in (dropout.add, lambda x, y, dropout=dropout: x + dropout(y)):
            torch.manual_seed(3)
            out = function(x, y)
            results.append((out, *torch.autograd.grad((out * out).sum(), (x, y))))
        for one, other in zip(*results, strict=True):
            torch.testing.assert_close(one, other, atol=1e-14, rtol=0)


def test_off_in_evaluation_and_at_rate_zero() -> None:
    x = torch.randn(11, 5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


@pytest.mark.parametrize("size", [(7, 1, 3), (7, 5, 1), (7, 5, 3)])
def test_a_mask_drawn_before(size: tuple[int, ...]) -> None:
    """What it broadcasts over is dropped together: here a column a row, or whole vectors; and again, the same."""
    dropout, x = Dropout(0.5), torch.rand(7, 5, 3) + 1
    drawn = dropout.draw(torch.empty(size))
    out = dropout(x, drawn)
    kept = (out != 0).to(x.dtype)
    torch.testing.assert_close(out, 2 * kept * x)
    assert torch.equal(drawn[0].expand_as(x), 2 * kept)
    assert 0 < kept.mean() < 1
    assert torch.equal(dropout(x, drawn), out)


def test_nothing_is_drawn_where_nothing_is_dropped() -> None:
    x = torch.randn(11, 5)
    for dropout in (Dropout(0.5).eval(), Dropout(0.0)):
        assert dropout.draw(x) == ()
        assert dropout(x, ()) is x


def test_seeds() -> None:
    """One seed, one mask; another seed, another."""
    masks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        masks.append(Dropout(0.5)(torch.ones(100)))
    assert torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0], masks[2])


@pytest.mark.parametrize("shape", [(0, 3), (1,), (7, 1, 3)])
def test_any_shape_and_type(shape: tuple[int, ...]) -> None:
    out = Dropout(0.5)(torch.ones(shape, dtype=torch.float64))
    assert out.shape == shape
    assert out.dtype == torch.float64


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5, math.nan])
def test_impossible_rates(rate: float) -> None:
    with pytest.raises(ValueError, match=r"allowed is 0 <= dropout < 1"):
        Dropout(rate)


@pytest.mark.parametrize(("settings", "inner"), [((), 0.3), (("activation_dropout=0.125",), 0.125)])
@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_dropout_inside_feed_forward_nets(side: str, settings: tuple[str, ...], inner: float) -> None:
    """A Transformer's other dropout, unless it has a rate of its own."""
    given = [f"model.{side}.{setting}" for setting in ("dropout=0.3", *settings)]
    model = getattr(build_model("transformer-pre-sinusoidal", *given), side)
    rates = {name: module.rate for name, module in model.named_modules() if isinstance(module, Dropout)}
    found = {name: rate for name, rate in rates.items() if "feedforward." in name}
    assert len(found) == 2
    assert set(found.values()) == {inner}
    blocks = {rate for name, rate in rates.items() if name.endswith("_block.dropout") or name == "dropout"}
    assert blocks == {0.3}
