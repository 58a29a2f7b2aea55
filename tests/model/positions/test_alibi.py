"""ALiBi by its published slopes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.model.attention.multihead import MultiHead
from nmt.model.positions.alibi import Alibi, slopes
from tests.laws.models import build_model
from tests.laws.parts import scaled_head

EIGHT = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]  # Press 2022, section 3


def test_published_slopes() -> None:
    assert slopes(8, torch.zeros(1)).tolist() == EIGHT
    assert slopes(16, torch.zeros(1).double()).tolist() == pytest.approx([2 ** (-h / 2) for h in range(1, 17)])


def test_worked_example() -> None:
    """Two heads, slopes 1/16 and 1/256, over three keys; the query stands at position 1."""
    alibi = Alibi(size=6, head_size=3, heads=2)
    energies = alibi.bias(torch.full((2, 1, 3), 5.0), torch.zeros(2, 1, 3), torch.tensor([[1]]))
    near, far = 5 - 1 / 16, 5 - 1 / 256
    assert energies.tolist() == [[[near, 5, near]], [[far, 5, far]]]


@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_each_head_has_its_slope(causal: bool) -> None:
    """Of two sentences with queries of zeros, only the bias is left: -m_h |i - j| in every one of eight heads."""
    attention = MultiHead(
        query_size=16, memory_size=16, heads=8, head=scaled_head, position=Alibi, causal=causal
    ).double()
    attention.query.weight.zero_()
    x = torch.randn(2, 5, 16).double()
    prepared = attention.prepare(x, torch.ones(2, 5, dtype=torch.bool), x[:, 0])
    attended, _ = attention(x, prepared, (), torch.arange(5)[None])
    for head, slope in enumerate(EIGHT):
        wanted = torch.tensor([[-slope * abs(i - j) for j in range(5)] for i in range(5)]).double()
        torch.testing.assert_close(attended.energies[:, head], wanted.expand(2, -1, -1), atol=1e-12, rtol=0)
        if causal:  # the paper's own case
            weights = torch.tensor([-slope * (4 - j) for j in range(5)]).double().softmax(0)
            torch.testing.assert_close(attended.weights[:, head, 4], weights.expand(2, -1), atol=1e-12, rtol=0)


@torch.no_grad()
def test_an_encoder_sees_no_direction() -> None:
    """Read backwards, a sentence has the same states in reverse: distances are the same."""
    model: Any = build_model("transformer-pre-alibi")
    ids, lengths = torch.tensor([[5, 7, 11, 13]]), torch.tensor([4])
    there, back = (model.encoder(given, lengths).states for given in (ids, ids.flip(1)))
    torch.testing.assert_close(there, back.flip(1), atol=1e-10, rtol=0)
