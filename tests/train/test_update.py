"""An update: what it is made of, what it draws, and what it does when memory does not suffice."""

from __future__ import annotations

import math
import random
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.errors import UserError
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.train import update
from nmt.train.distributed import Processes
from nmt.train.loss import LossSum, batch_loss
from nmt.train.update import Updater, is_out_of_memory, seed_generators
from tests.laws.models import build_model, toy_store
from tests.train.test_loop import settings

CASE = "recurrent-luong_general-gru"
STORE = toy_store(7)
ROWS = list(range(7))
ALL = STORE.portion(ROWS)


def updater(model: EncoderDecoder, **changed: Any) -> Updater:
    return Updater(
        model=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        config=settings(**changed),
        seed=5,
        processes=Processes(),
    )


def gradients(model: EncoderDecoder) -> list[Tensor]:
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def test_a_place_draws_its_own() -> None:
    """The same numbers by all three generators at the same place, others at any other."""
    drawn = []
    for place in ((1, 1, 0), (1, 1, 0), (1, 1, 1), (1, 2, 1), (2, 1, 0)):
        seed_generators(*place)
        drawn.append((float(torch.rand(())), float(np.random.rand()), random.random()))
    assert drawn[0] == drawn[1]
    for kind in zip(*drawn[1:], strict=True):
        assert len(set(kind)) == 4


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.cuda.OutOfMemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_a_batch_is_split_where_memory_ends(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """More than two pairs do not fit, and that shows after the loss; 7 become 1, 2, 2 and 2, nothing is dropped or
    counted twice."""
    whole, parts = build_model(CASE), build_model(CASE)
    expected, norm = updater(whole).gradients(STORE.portion(ROWS, [0, 1]), 1)
    sizes: list[int] = []

    def small(model: EncoderDecoder, batch: Any, **settings: Any) -> LossSum:
        sums = batch_loss(model, batch, **settings)
        if len(batch) > 2:
            raise error
        sizes.append(len(batch))
        return sums

    monkeypatch.setattr(update, "batch_loss", small)
    found, found_norm = updater(parts).gradients(STORE.portion(ROWS, [0, 1]), 1)
    assert sizes == [1, 2, 2, 2, 2]
    assert (found.tokens, float(found.loss)) == (expected.tokens, pytest.approx(float(expected.loss), abs=1e-12))
    assert found_norm == pytest.approx(norm, abs=1e-12)
    for one, other in zip(gradients(parts), gradients(whole), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)
    assert "memory does not suffice for 7 pairs at once: the batch is split in two" in capsys.readouterr().err


def test_memory_that_ends_in_the_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the gradients is known by then; none of it stays."""
    whole, parts = build_model(CASE), build_model(CASE)
    updater(whole).gradients(ALL, 1)
    grad, failures = torch.autograd.grad, []

    def failing(outputs: Any, inputs: Any, **settings: Any) -> Any:
        found = grad(outputs, inputs, **settings)
        if len(inputs) == len(list(parts.parameters())) and not failures:
            failures.append(found)
            raise torch.cuda.OutOfMemoryError
        return found

    monkeypatch.setattr(torch.autograd, "grad", failing)
    updater(parts).gradients(ALL, 1)
    assert failures
    for one, other in zip(gradients(parts), gradients(whole), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_memory_for_not_even_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> LossSum:
        raise MemoryError

    monkeypatch.setattr(update, "batch_loss", never)
    with pytest.raises(UserError, match=r"not suffice for one sentence pair: lower data\.filters\.max_pieces"):
        updater(build_model(CASE)).gradients(STORE.portion([0, 1]), 1)


def test_other_errors_are_not_the_allocators(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any, **__: Any) -> LossSum:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(update, "batch_loss", wrong)
    with pytest.raises(RuntimeError, match="mat1"):
        updater(build_model(CASE)).gradients(STORE.portion([0, 1]), 1)


def test_the_cpu_allocators_own_words() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)


@pytest.mark.parametrize(("precision", "within"), [("bfloat16", 0.05), ("float16", 0.01)])
def test_half_precision_is_near(precision: str, within: float) -> None:
    """Gradients as a whole to a few hundredths, and in the weights' own dtype; unscaled before they are clipped."""
    found = []
    for kind in ("float32", precision):
        model = build_model(CASE).float()
        _, norm = updater(model, precision=kind, clip_norm=0.01).gradients(ALL, 1)
        flat = torch.cat([gradient.flatten() for gradient in gradients(model)])
        assert flat.dtype == torch.float32
        assert float(flat.norm()) == pytest.approx(0.01, rel=1e-3)
        found.append((flat, norm))
    (exact, norm), (near, near_norm) = found
    assert not torch.equal(exact, near)
    assert near_norm == pytest.approx(norm, rel=within)
    assert float((near - exact).norm()) < within * float(exact.norm())


def test_float16_lowers_its_scale_where_it_overflows() -> None:
    """The gradient is then not finite, and the update is to be skipped; the next one has half the scale."""
    maker = updater(build_model(CASE).float(), precision="float16")
    scale = 2.0**127
    maker.scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    _, norm = maker.gradients(ALL, 1)
    assert not math.isfinite(norm)
    maker.clear()
    assert maker.scaler.get_scale() == scale / 2


def test_a_compiled_network_has_the_same_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch.compile sees it, with the code it generates left out; batches of two shapes."""
    case = "transformer-pre-sinusoidal"
    compiles, asked = partial(torch.compile, backend="eager"), []
    monkeypatch.setattr(torch, "compile", lambda model, **how: (asked.append(model), compiles(model, **how))[1])
    plain, compiled = build_model(case), build_model(case)
    one, other = updater(plain), updater(compiled, compile=True)
    for number, portion in ((1, ALL), (2, STORE.portion([0, 1, 2]))):
        expected, norm = one.gradients(portion, number)
        found, found_norm = other.gradients(portion, number)
        assert float(found.loss) == pytest.approx(float(expected.loss), abs=1e-10)
        assert found_norm == pytest.approx(norm, abs=1e-10)
    assert asked == [compiled]
    for mine, theirs in zip(gradients(compiled), gradients(plain), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-10, rtol=0)
