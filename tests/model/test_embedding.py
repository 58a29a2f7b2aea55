"""Embeddings: their scale, and tables that are one."""

from __future__ import annotations

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
