"""Local self-attention: the window local-m around each position of its own sequence.

Shape letters: B sentences, T positions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.model import masks
from nmt.model.attention import kernel
from nmt.model.attention.attention import Attention
from nmt.model.attention.multihead import MultiHead
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.scaled_dot import ScaledDot
from nmt.model.attention.windows.local_m import LocalM
from tests.laws.models import alone, build_model, toy_batch
from tests.laws.parts import EXACT, check_steps, randomise
from tests.model.positions.kinds import KINDS

REACH = 2
WINDOW = "model.encoder.self_attention.head.window"
LOCAL = (f"attention/window@{WINDOW}=local_m", f"{WINDOW}.reach={REACH}")
LENGTHS = torch.tensor([7, 4])


def band(causal: bool) -> Tensor:
    """[T, T], True within the window, and with `causal` not beyond the position itself."""
    distance = torch.arange(7) - torch.arange(7)[:, None]
    return (distance.abs() <= REACH) & ((distance <= 0) if causal else torch.ones_like(distance, dtype=torch.bool))


def many(causal: bool) -> MultiHead:
    """Two heads of three numbers with a window."""
    head = partial(Attention, score=ScaledDot, window=partial(LocalM, reach=REACH), normalizer=Softmax)
    attention = MultiHead(query_size=6, memory_size=6, heads=2, head=head, causal=causal)
    randomise(attention)
    return attention.double().eval()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("way", ["explicit", "fused"])
@torch.no_grad()
def test_a_window_is_a_banded_mask(monkeypatch: pytest.MonkeyPatch, way: str, causal: bool) -> None:
    """By torch's kernel with the band as its mask; two sentences, of which one is padded."""
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: way == "fused")
    attention, x, valid = many(causal), torch.randn(2, 7, 6).double(), masks.valid_mask(LENGTHS, 7)
    prepared = attention.prepare(x, valid, x[:, 0])
    attended, _ = attention(x, prepared, (), torch.arange(7)[None], need_weights=way == "explicit")
    allowed = band(causal) & valid[:, None]
    query = attention.split(attention.query(x))
    read = F.scaled_dot_product_attention(query, prepared.keys, prepared.values, attn_mask=allowed[:, None])
    wanted = attention.output(read.transpose(1, 2).flatten(2))
    torch.testing.assert_close(attended.context[valid], wanted[valid], atol=1e-10, rtol=0)
    assert attended.weights.shape[1] == (0 if way == "fused" else 2)


@pytest.mark.parametrize("case", ["transformer-pre-sinusoidal", "transformer-post-shaw"])
@torch.no_grad()
def test_weights_outside_the_window_are_zero(case: str) -> None:
    """Chosen on the command line, in the encoder and, through it, in the decoder; every other weight is positive."""
    model, batch = build_model(case, *LOCAL), toy_batch()
    maps = model.attention_maps(batch)
    for name, causal, lengths in (("encoder", False, batch.source_lengths), ("decoder", True, batch.target_lengths)):
        for row, length in enumerate(lengths.tolist()):
            weights = maps[name][row, :, :, :length, :length]
            allowed = band(causal)[:length, :length].expand_as(weights)
            assert torch.equal(weights > 0, allowed)
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]).double())
    assert max(batch.source_lengths.tolist()) > REACH + 1, "no sentence is longer than its window"


@pytest.mark.parametrize("kind", KINDS)
def test_steps(kind: str) -> None:
    check_steps(build_model(f"transformer-pre-{kind}", *LOCAL), toy_batch())


@torch.no_grad()
def test_alone_as_in_a_batch() -> None:
    model, batch = build_model("transformer-pre-sinusoidal", *LOCAL), toy_batch()
    states = model(batch).states
    for row in range(len(batch)):
        own = model(alone(batch, row)).states[0]
        torch.testing.assert_close(states[row, : len(own)], own, **EXACT)


@torch.no_grad()
def test_a_wide_window_is_global() -> None:
    wide: Any = build_model("transformer-pre-sinusoidal", *LOCAL, f"{WINDOW}.reach=50")
    whole = build_model("transformer-pre-sinusoidal")
    narrow = build_model("transformer-pre-sinusoidal", *LOCAL)
    states = [model(toy_batch()).states for model in (wide, whole, narrow)]
    torch.testing.assert_close(states[0], states[1], **EXACT)
    assert not torch.allclose(states[1], states[2])
