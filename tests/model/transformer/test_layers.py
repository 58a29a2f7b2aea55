"""The Transformer's layers against torch's own, with their weights, and the summary of its encoder."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from nmt.model import masks
from nmt.model.transformer.layer import FeedForward, Residual
from tests.laws.models import build_model, toy_batch
from tests.laws.parts import randomise


def _copy_attention(ours: Any, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key_value.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key_value.bias]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@pytest.mark.parametrize(
    ("case", "pre"), [("transformer-pre-sinusoidal", True), ("transformer-post-sinusoidal", False)]
)
@torch.no_grad()
def test_encoder_layer_is_torchs(case: str, pre: bool) -> None:
    model: Any = build_model(case)
    randomise(model)
    ours = model.encoder.blocks[0]
    theirs = nn.TransformerEncoderLayer(6, 2, 11, dropout=0.0, batch_first=True, norm_first=pre).double().eval()
    _copy_attention(ours.attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feedforward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feedforward.outer.state_dict())
    theirs.norm1.load_state_dict(ours.attention_block.norm.state_dict())
    theirs.norm2.load_state_dict(ours.feedforward_block.norm.state_dict())
    x, valid = torch.randn(2, 5, 6).double(), masks.valid_mask(torch.tensor([5, 3]), 5)
    result, _ = ours(x, valid, torch.arange(5)[None], False)
    wanted = theirs(x, src_key_padding_mask=~valid)
    torch.testing.assert_close(result[valid], wanted[valid], atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    ("case", "pre"), [("transformer-pre-sinusoidal", True), ("transformer-post-sinusoidal", False)]
)
@torch.no_grad()
def test_decoder_layer_is_torchs(case: str, pre: bool) -> None:
    model, batch = build_model(case), toy_batch()
    randomise(model)
    decoder: Any = model.decoder
    ours, memory = decoder.blocks[0], model.encode(batch)
    theirs = nn.TransformerDecoderLayer(6, 2, 11, dropout=0.0, batch_first=True, norm_first=pre).double().eval()
    _copy_attention(ours.self_attention, theirs.self_attn)
    _copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feedforward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feedforward.outer.state_dict())
    for norm, block in (
        (theirs.norm1, ours.self_block),
        (theirs.norm2, ours.cross_block),
        (theirs.norm3, ours.feedforward_block),
    ):
        norm.load_state_dict(block.norm.state_dict())
    x = torch.randn(4, 5, 6).double()
    prepared = decoder.prepare(memory)
    state, every = decoder.start(prepared).layers[0], torch.ones(4, 5, dtype=torch.bool)
    result = ours(x, state, prepared[0], every, torch.arange(5)[None], True)
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    wanted = theirs(x, memory.states, tgt_mask=later, memory_key_padding_mask=~memory.valid)
    torch.testing.assert_close(result.x, wanted, atol=1e-10, rtol=0)
    assert not result.self_weights.triu(1).any()


@torch.no_grad()
def test_pre_norm_stack_ends_in_a_norm_and_post_norm_in_that_of_its_last_layer() -> None:
    """Either way the memory's rows have mean 0 and variance 1 under fresh norms (weight 1, bias 0)."""
    for case in ("transformer-pre-sinusoidal", "transformer-post-sinusoidal"):
        model: Any = build_model(case)
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):
                module.reset_parameters()
        states = model.encode(toy_batch()).states
        torch.testing.assert_close(states.mean(-1), torch.zeros(states.shape[:2]).double(), atol=1e-9, rtol=0)
        torch.testing.assert_close(
            states.var(-1, correction=0), torch.ones(states.shape[:2]).double(), atol=0.02, rtol=0
        )


@torch.no_grad()
def test_summary_is_the_mean_of_valid_states() -> None:
    memory = build_model("transformer-pre-sinusoidal").encode(toy_batch())
    for row, length in enumerate(memory.lengths.tolist()):
        torch.testing.assert_close(memory.summary[row], memory.states[row, :length].mean(0))


def test_residual_by_hand() -> None:
    """Of (1, 3), whose norm is (-1, 1), and a function that gives (5, 5): (6, 8), or the norm of that."""
    x, result = torch.tensor([[1.0, 3.0]]), torch.tensor([[5.0, 5.0]])
    pre, post = (Residual(size=2, pre_norm=kind, dropout=0.0) for kind in (True, False))
    torch.testing.assert_close(pre.enter(x), torch.tensor([[-1.0, 1.0]]), atol=1e-4, rtol=0)
    torch.testing.assert_close(pre.leave(x, result), torch.tensor([[6.0, 8.0]]))
    torch.testing.assert_close(post.enter(x), x)
    torch.testing.assert_close(post.leave(x, result), torch.tensor([[-1.0, 1.0]]), atol=1e-4, rtol=0)


def test_feedforward_by_hand() -> None:
    """Vaswani 2017, equation 2: max(0, 2 - 3) 5 + 7 = 7, max(0, 4 - 3) 5 + 7 = 12."""
    net = FeedForward(size=1, inner_size=1, dropout=0.0)
    for parameter, value in zip(net.parameters(), (1.0, -3.0, 5.0, 7.0), strict=True):
        parameter.data.fill_(value)
    assert net(torch.tensor([[2.0], [4.0]])).tolist() == [[7.0], [12.0]]


def test_no_inner_units() -> None:
    with pytest.raises(ValueError, match="feedforward_size is 0"):
        FeedForward(size=4, inner_size=0, dropout=0.0)
