"""Multi-head attention against torch's own, with its weights, and the fused kernel against the explicit path."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from nmt.model import masks
from nmt.model.attention import kernel
from nmt.model.attention.attention import Attention
from nmt.model.attention.multihead import MultiHead
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.scaled_dot import ScaledDot
from nmt.model.attention.windows.global_ import Global
from nmt.model.interface import select
from tests.laws.models import build_model, toy_batch
from tests.laws.parts import check_steps

head = partial(Attention, score=ScaledDot, window=Global, normalizer=Softmax)


def _pair(size: int, heads: int, *, causal: bool = False) -> tuple[MultiHead, nn.MultiheadAttention]:
    """Ours and torch's, on the same random weights."""
    ours = MultiHead(query_size=size, memory_size=size, heads=heads, head=head, causal=causal).double()
    for bias in (ours.query.bias, ours.key_value.bias, ours.output.bias):
        nn.init.normal_(bias)
    theirs = nn.MultiheadAttention(size, heads, batch_first=True).double().eval()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key_value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key_value.bias]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)
    return ours, theirs


@pytest.mark.parametrize(("size", "heads"), [(6, 1), (6, 2), (15, 5)])
@torch.no_grad()
def test_cross_attention_is_torchs(size: int, heads: int) -> None:
    ours, theirs = _pair(size, heads)
    query, states = torch.randn(2, 3, size).double(), torch.randn(2, 7, size).double()
    valid = masks.valid_mask(torch.tensor([7, 4]), 7)
    attended, _ = ours(query, ours.prepare(states, valid, states[:, 0]), (), torch.arange(3)[None])
    context, weights = theirs(query, states, states, key_padding_mask=~valid, average_attn_weights=False)
    torch.testing.assert_close(attended.context, context, atol=1e-10, rtol=0)
    torch.testing.assert_close(attended.weights, weights, atol=1e-10, rtol=0)


@torch.no_grad()
def test_causal_self_attention_is_torchs() -> None:
    ours, theirs = _pair(6, 2, causal=True)
    x, valid = torch.randn(2, 5, 6).double(), torch.ones(2, 5, dtype=torch.bool)
    attended, _ = ours(x, ours.prepare(x, valid, x[:, 0]), (), torch.arange(5)[None])
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    context, weights = theirs(x, x, x, attn_mask=later, average_attn_weights=False)
    torch.testing.assert_close(attended.context, context, atol=1e-10, rtol=0)
    torch.testing.assert_close(attended.weights, weights, atol=1e-10, rtol=0)


@pytest.mark.parametrize("heads", [0, 4, -1])
def test_heads_must_divide(heads: int) -> None:
    with pytest.raises(ValueError, match=f"heads is {heads}: it must divide the size that the heads share, 6"):
        MultiHead(query_size=6, memory_size=6, heads=heads, head=head)


def test_a_size_of_its_own() -> None:
    """Query 7, memory 5, ten between two heads."""
    attention = MultiHead(query_size=7, memory_size=5, heads=2, head=head, size=10)
    states = torch.randn(3, 4, 5)
    prepared = attention.prepare(states, torch.ones(3, 4, dtype=torch.bool), states[:, 0])
    attended, _ = attention(torch.randn(3, 2, 7), prepared, attention.start(prepared), torch.arange(2)[None])
    assert attended.context.shape == (3, 2, attention.context_size) == (3, 2, 10)
    assert attended.weights.shape == attended.energies.shape == (3, 2, 2, 4)


@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_fused_is_explicit(monkeypatch: pytest.MonkeyPatch, causal: bool) -> None:
    """To 1e-10 in double precision, rows of a beam and a sentence with nothing to read included."""
    attention = MultiHead(query_size=6, memory_size=6, heads=2, head=head, causal=causal).double()
    states, query = torch.randn(3, 5, 6).double(), torch.randn(6, 4, 6).double()
    prepared = attention.prepare(states, masks.valid_mask(torch.tensor([5, 0, 2]), 5), states[:, 0])
    position = torch.arange(4)[None]
    explicit, _ = attention(query, prepared, (), position)
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: True)
    fused, _ = attention(query, prepared, (), position, need_weights=False)
    torch.testing.assert_close(fused.context, explicit.context, atol=1e-10, rtol=0)
    assert fused.weights.shape == fused.energies.shape == (6, 0, 4, 5), "no head's weights were formed"
    asked, _ = attention(query, prepared, (), position, need_weights=True)
    assert torch.equal(asked.weights, explicit.weights)


@pytest.mark.parametrize("case", ["transformer-pre-sinusoidal", "transformer-post-learned"])
@torch.no_grad()
def test_fused_steps_and_beams(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """A GPU takes the fused kernel in search as well, with B x beam rows."""
    model, batch = build_model(case), toy_batch()
    explicit = model(batch).states
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: True)
    torch.testing.assert_close(model(batch).states, explicit, atol=1e-10, rtol=0)
    check_steps(model, batch)


def test_fused_drops_weights_in_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configured rate reaches the kernel in training, and 0 in evaluation."""
    rates: list[float] = []
    attention = head(query_size=3, memory_size=3, dropout=0.3)
    x = torch.randn(1, 4, 3)
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: True)
    monkeypatch.setattr(kernel, "fused", lambda q, k, v, allowed, rate: (rates.append(rate), q)[1])
    for mode in (True, False):
        prepared = attention.train(mode).prepare(x, torch.ones(1, 4, dtype=torch.bool), x[:, 0])
        attention(x, prepared, (), torch.arange(4)[None], need_weights=False)
    assert rates == [0.3, 0.0]


def test_a_cpu_prefers_fused_for_long_sequences_alone() -> None:
    assert not kernel.prefers_fused(torch.zeros(1, kernel.LONG - 1, 1))
    assert kernel.prefers_fused(torch.zeros(1, kernel.LONG, 1))
    assert not kernel.prefers_fused(torch.zeros(1, kernel.LONG, 1, dtype=torch.bfloat16))


def test_a_fused_kernel_takes_what_it_is_given() -> None:
    """Allowed to use no other than the fused one, torch would raise where it can't serve this form of input."""
    query, keys = torch.randn(6, 5, 8), torch.randn(6, 7, 8)
    allowed = (torch.arange(7) < torch.tensor([[7], [4]])).unsqueeze(1).repeat_interleave(3, 0)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        context = kernel.fused(query, keys, keys, allowed, 0.0)
    energies = (query @ keys.transpose(1, 2) / math.sqrt(8)).masked_fill(~allowed, -math.inf)
    torch.testing.assert_close(context, energies.softmax(-1) @ keys, atol=1e-5, rtol=0)


def test_heads_are_folded_and_unfolded_in_order() -> None:
    """Row n of a beam keeps its own query: rows given one by one are rows given together."""
    attention = MultiHead(query_size=6, memory_size=6, heads=3, head=head).double()
    states, query = torch.randn(2, 5, 6).double(), torch.randn(4, 1, 6).double()
    prepared = attention.prepare(states, masks.valid_mask(torch.tensor([5, 3]), 5), states[:, 0])
    together, _ = attention(query, prepared, (), torch.zeros(4, 1, dtype=torch.long))
    for row in range(4):
        own = select(prepared, torch.tensor([row // 2]))
        one, _ = attention(query[row : row + 1], own, (), torch.zeros(1, 1, dtype=torch.long))
        torch.testing.assert_close(together.context[row], one.context[0], atol=1e-12, rtol=0)
        torch.testing.assert_close(together.weights[row], one.weights[0], atol=1e-12, rtol=0)
