"""What holds for every method: neighbours and padding change nothing, nor does a method change the model.

Shape letters: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

from nmt.align.methods import METHODS, normalised
from nmt.data.batch import Batch, make_batch
from tests.align.methods.laws import CASES, EVERYWHERE, cut, model_of, source_words
from tests.laws.models import alone, overwrite_padding, toy_batch
from tests.laws.parts import EXACT

MIXTURES = ("recurrent-hard_marginal-gru", "hidden_markov")  # every method serves them


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rough integral shows as well as a fine one what it depends on."""
    monkeypatch.setattr("nmt.align.methods.integrated_gradients.STEPS", 2)


def read(name: str, model: Any, batch: Batch) -> torch.Tensor:
    """The method's values, with the toy words."""
    return METHODS[name](model, batch, source_words(batch))


@pytest.mark.parametrize(("name", "case"), [*product(EVERYWHERE, CASES), *product(["posterior"], MIXTURES)])
def test_a_sentence_reads_the_same_alone_and_among_others(name: str, case: str) -> None:
    """And whatever stands where padding was; columns beyond a sentence are zeros."""
    model, batch = model_of(case), toy_batch()
    values = read(name, model, batch)
    heads = (model.decoder.layers, model.decoder.heads) if name == "attention" else (1, 1)
    assert values.shape == (len(batch), *heads, *batch.target_out.shape[1:], *batch.source.shape[1:])
    other = read(name, model, overwrite_padding(batch, 9, 11))
    for row, (one, filled) in enumerate(zip(cut(values, batch), cut(other, batch), strict=True)):
        torch.testing.assert_close(read(name, model, alone(batch, row))[0], one, **EXACT)
        torch.testing.assert_close(filled, one, **EXACT)
        assert not values[row, ..., int(batch.source_lengths[row]) :].any()


@pytest.mark.parametrize("case", MIXTURES)
@pytest.mark.parametrize("name", METHODS)
def test_callers_in_inference_mode_get_the_same(name: str, case: str) -> None:
    model, batch = model_of(case), toy_batch()
    wanted = read(name, model, batch).clone()
    with torch.inference_mode():
        inside = make_batch([[5, 6, 7], [8]], [[9], [10, 11]])
        found = read(name, model, inside)
        model.encode(toy_batch())
        again = read(name, model, toy_batch())
    assert found.isfinite().all()
    torch.testing.assert_close(again, wanted, **EXACT)


@pytest.mark.parametrize("case", MIXTURES)
@pytest.mark.parametrize("name", METHODS)
def test_the_model_is_left_as_it_was(name: str, case: str) -> None:
    model, batch = model_of(case), toy_batch()
    frozen, *others = model.parameters()
    frozen.requires_grad_(False)
    others[0].grad = torch.ones_like(others[0])
    before = {key: value.clone() for key, value in model.state_dict().items()}
    values = read(name, model, batch)
    assert not values.requires_grad
    assert torch.is_grad_enabled()
    assert [one.requires_grad for one in model.parameters()] == [False] + [True] * len(others)
    assert others[0].grad.equal(torch.ones_like(others[0]))
    assert all(one.grad is None for one in others[1:])
    assert all(value.equal(before[key]) for key, value in model.state_dict().items())


@pytest.mark.parametrize("case", MIXTURES)
@pytest.mark.parametrize("name", METHODS)
def test_single_precision_is_near_double(name: str, case: str) -> None:
    model, batch = model_of(case), toy_batch()
    wanted = read(name, model, batch)
    found = read(name, model.float(), batch)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), wanted, atol=1e-4, rtol=1e-3)


def test_normalised_rows_are_sizes_that_sum_to_one_or_zeros() -> None:
    values = torch.tensor([[[3.0, -1.0, 0.0], [0.0, 0.0, 0.0]]])
    assert normalised(values).tolist() == [[[0.75, 0.25, 0.0], [0.0, 0.0, 0.0]]]
