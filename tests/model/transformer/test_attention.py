"""A Transformer's three uses of attention against torch's own, and what its masks and dropout do.

Shape letters: B sentences, T query positions, S key positions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.errors import UserError
from nmt.model import masks
from nmt.model.assemble import check_sizes
from nmt.model.attention import kernel
from nmt.model.attention.attention import Attention
from nmt.model.attention.multihead import MultiHead
from tests.laws.models import config_of
from tests.laws.parts import randomise, scaled_head

SIZES = torch.tensor([5, 2, 3])


def pair(causal: bool) -> tuple[MultiHead, nn.MultiheadAttention]:
    """Ours and torch's, of three heads, on the same random weights, in single precision."""
    ours = MultiHead(query_size=15, memory_size=15, heads=3, head=scaled_head, causal=causal)
    randomise(ours)
    theirs = nn.MultiheadAttention(15, 3, batch_first=True).eval()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key_value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key_value.bias]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())
    return ours.eval(), theirs


def attend(attention: Any, query: Tensor, states: Tensor, valid: Tensor, need_weights: bool = True) -> Any:
    """Queries [B, T, D] at positions 0 .. T - 1 read states [B, S, D]."""
    prepared = attention.prepare(states, valid, states[:, 0])
    position = torch.arange(query.shape[1])[None]
    return attention(query, prepared, attention.start(prepared), position, need_weights)[0]


@pytest.mark.parametrize("way", ["explicit", "fused"])
@pytest.mark.parametrize("use", ["self", "causal", "cross"])
@torch.no_grad()
def test_multi_head_is_torchs(monkeypatch: pytest.MonkeyPatch, use: str, way: str) -> None:
    """With padding in every use, and with the causal mask beside it, by both paths."""
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: way == "fused")
    ours, theirs = pair(causal=use == "causal")
    states = torch.randn(3, 5, 15)
    query = torch.randn(3, 7, 15) if use == "cross" else states
    valid = masks.valid_mask(SIZES, 5)
    later = torch.ones(5, 5, dtype=torch.bool).triu(1) if use == "causal" else None
    wanted, weights = theirs(
        query, states, states, key_padding_mask=~valid, attn_mask=later, average_attn_weights=False
    )
    attended = attend(ours, query, states, valid, need_weights=way == "explicit")
    torch.testing.assert_close(attended.context, wanted, atol=1e-5, rtol=0)
    if way == "explicit":
        torch.testing.assert_close(attended.weights, weights, atol=1e-5, rtol=0)


@torch.no_grad()
def test_a_causal_mask_is_minus_infinity_before_the_softmax() -> None:
    """Energies 0, ln 3, ln 4 of the same three words, at position 1: weights 1/4, 3/4, 0, where zeroing them after the
    softmax leaves 1/8, 3/8, 0, whose sum is a half, and lets the word to come take the other half."""
    attention: Any = Attention(query_size=1, memory_size=1, causal=True, **scaled_head.keywords).double()
    states = torch.tensor([[[1.0], [3.0], [4.0]]]).double().log()
    attended = attend(attention, torch.ones(1, 3, 1).double(), states, torch.ones(1, 3, dtype=torch.bool))
    torch.testing.assert_close(attended.energies[0, 0], states[0, :, 0].expand(3, 3))
    row = torch.tensor([1 / 4, 3 / 4, 0]).double()
    torch.testing.assert_close(attended.weights[0, 0, 1], row)
    zeroed = attended.energies.softmax(-1).tril()[0, 0, 1]
    torch.testing.assert_close(zeroed, torch.tensor([1 / 8, 3 / 8, 0]).double())
    before = torch.zeros(3, 3).double().masked_fill(torch.ones(3, 3, dtype=torch.bool).triu(1), float("-inf"))
    torch.testing.assert_close(attended.weights[0, 0], (attended.energies[0, 0] + before).softmax(-1))
    torch.testing.assert_close(attended.weights.sum(-1), torch.ones(1, 1, 3).double())


@torch.no_grad()
def test_what_comes_later_takes_no_weight_whatever_its_energy() -> None:
    """A later word of huge energy changes nothing; zeroed after the softmax it would leave nothing for the others."""
    attention: Any = Attention(query_size=1, memory_size=1, causal=True, **scaled_head.keywords)
    valid = torch.ones(1, 3, dtype=torch.bool)
    small, huge = (
        attend(attention, torch.ones(1, 3, 1), torch.tensor([[[1.0], [2.0], [last]]]), valid).weights[0, 0, :2]
        for last in (3.0, 1e4)
    )
    assert torch.equal(small, huge)


@pytest.mark.parametrize("way", ["explicit", "fused"])
def test_cross_attention_with_nothing_to_read(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Zeros, and finite gradients: no gradient at all from the sentence that is not there."""
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: way == "fused")
    attention, _ = pair(causal=False)
    nn.init.zeros_(attention.output.bias)
    query, states = torch.randn(3, 7, 15).requires_grad_(), torch.randn(3, 5, 15).requires_grad_()
    valid = masks.valid_mask(torch.tensor([5, 0, 2]), 5)
    attended = attend(attention, query, states, valid, need_weights=way == "explicit")
    assert not attended.context[1].any()
    assert not attended.weights[1].any()
    attended.context.square().sum().backward()
    for part in (query, states):
        assert part.grad is not None
        assert part.grad.isfinite().all()
        assert not part.grad[1].any()
        assert part.grad[0].any()


def test_a_kernel_never_sees_a_row_with_nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of other devices and versions make NaN of it, in the gradient where not in the result."""
    seen: list[Tensor] = []
    sdpa = F.scaled_dot_product_attention

    def watched(*given: Tensor, attn_mask: Tensor, dropout_p: float) -> Tensor:
        seen.append(attn_mask)
        return sdpa(*given, attn_mask=attn_mask, dropout_p=dropout_p)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    x = torch.randn(2, 3, 5)
    allowed = torch.tensor([[[True, False, True]], [[False] * 3]])
    context = kernel.fused(x, x, x, allowed, 0.0)
    assert seen[0].any(-1).all()
    assert torch.equal(seen[0][0, 0], allowed[0])
    assert not context[1].any()


def test_returned_weights_are_never_dropped() -> None:
    """In training, with half of the weights dropped, what is returned sums to one; what is read is dropped."""
    head = partial(scaled_head, dropout=0.5)
    attention = MultiHead(query_size=6, memory_size=6, heads=2, head=head, causal=True).double()
    x, valid = torch.randn(3, 5, 6).double(), torch.ones(3, 5, dtype=torch.bool)
    evaluated = attend(attention.eval(), x, x, valid)
    trained = attend(attention.train(), x, x, valid)
    torch.testing.assert_close(trained.weights.sum(-1), torch.ones(3, 2, 5).double())
    assert torch.equal(trained.weights, evaluated.weights)
    assert not torch.allclose(trained.context, evaluated.context)


HEAD = "model.encoder.self_attention.head"
REFUSED = [
    (f"{HEAD}.normalizer={{_target_: nmt.model.attention.normalizers.marginal.Marginal}}", "mixture"),
    (f"{HEAD}.normalizer={{_target_: nmt.model.attention.normalizers.reinforce.Reinforce}}", "take a soft normalizer"),
    (
        f"{HEAD}.coverage={{_target_: nmt.model.attention.coverage.Coverage}}",
        "coverage is for attention over the source",
    ),
]


@pytest.mark.parametrize(("override", "message"), REFUSED)
def test_what_self_attention_cannot_be(override: str, message: str) -> None:
    with pytest.raises(UserError, match=f"model.encoder.*{message}"):
        check_sizes(config_of("transformer-pre-sinusoidal", override))
