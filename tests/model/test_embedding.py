"""Embeddings: their scale, and tables that are one."""

from __future__ import annotations

import math

import pytest
import torch

from nmt.data.special import PAD
from nmt.model.embedding import Embedding, Projection


def test_vectors_are_scaled_by_the_root_of_the_size() -> None:
    embedding = Embedding(vocabulary_size=11, size=9)
    torch.testing.assert_close(embedding(torch.tensor([[5]]))[0, 0], 3 * embedding.table.weight[5])


def test_vectors_enter_with_unit_variance() -> None:
    embedding = Embedding(vocabulary_size=2000, size=53)
    assert float(embedding(torch.arange(2000)[None]).detach().var()) == pytest.approx(1.0, abs=0.03)
    assert float(embedding.table.weight.detach().var()) == pytest.approx(1 / 53, rel=0.03)


def test_padding_gets_no_gradient() -> None:
    embedding = Embedding(vocabulary_size=7, size=3)
    embedding(torch.tensor([[4, PAD]])).sum().backward()
    touched = embedding.table.weight.grad.any(dim=1)
    assert touched.tolist() == [row == 4 for row in range(7)]


def test_words_are_dropped_whole_and_the_kept_scaled() -> None:
    """Half of all vectors are zero, within four standard deviations; the others are doubled, so that the mean holds."""
    embedding, ids = Embedding(vocabulary_size=11, size=5, word_dropout=0.5), torch.randint(4, 11, (40, 101))
    dropped, whole = embedding(ids), embedding.eval()(ids)
    gone = (dropped == 0).all(-1)
    torch.testing.assert_close(dropped[~gone], 2 * whole[~gone])
    assert float(gone.float().mean()) == pytest.approx(0.5, abs=4 * math.sqrt(0.25 / ids.numel()))


def test_each_position_is_drawn_for_itself() -> None:
    """The same word, twice in a sentence: of 2,000 such, a quarter lose both."""
    embedding = Embedding(vocabulary_size=7, size=3, word_dropout=0.5)
    gone = (embedding(torch.full((2000, 2), 5)) == 0).all(-1)
    assert float(gone.all(1).float().mean()) == pytest.approx(0.25, abs=4 * math.sqrt(0.1875 / 2000))


def test_no_word_is_dropped_in_evaluation_or_at_rate_zero() -> None:
    ids = torch.randint(4, 11, (3, 5))
    for embedding in (
        Embedding(vocabulary_size=11, size=5, word_dropout=0.9).eval(),
        Embedding(vocabulary_size=11, size=5),
    ):
        assert torch.equal(embedding(ids), embedding.table(ids) * embedding.scale)


def test_a_dropped_word_gets_no_gradient_but_through_the_projection() -> None:
    embedding = Embedding(vocabulary_size=7, size=5, word_dropout=0.5)
    projection = Projection(input_size=5, vocabulary_size=7, tied=embedding)
    vectors = embedding(torch.arange(4, 7)[None])
    (gradient,) = torch.autograd.grad(vectors.sum(), embedding.table.weight)
    assert torch.equal(gradient[4:].any(1), vectors[0].any(1))
    (gradient,) = torch.autograd.grad(projection(torch.ones(5)).sum(), embedding.table.weight)
    assert gradient.all()


def test_projection_of_its_own() -> None:
    projection = Projection(input_size=5, vocabulary_size=7, tied=None)
    assert projection.weight.shape == (7, 5)
    assert not projection.bias.any()


def test_tied_projection_is_the_table_unscaled() -> None:
    embedding = Embedding(vocabulary_size=7, size=5)
    projection = Projection(input_size=5, vocabulary_size=7, tied=embedding)
    assert projection.weight is embedding.table.weight
    states = torch.randn(2, 5)
    torch.testing.assert_close(projection(states), states @ embedding.table.weight.T)


def test_tied_logits_start_with_unit_variance() -> None:
    """States of unit variance times a table of variance 1/E."""
    embedding = Embedding(vocabulary_size=3000, size=64)
    logits = Projection(input_size=64, vocabulary_size=3000, tied=embedding)(torch.randn(50, 64))
    assert float(logits.detach().var()) == pytest.approx(1.0, abs=0.15)
