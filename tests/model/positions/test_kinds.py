"""What holds for every kind of position, and what each of them promises about order, distance and length."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nmt.compose import compose
from nmt.data.batch import make_batch
from nmt.errors import UserError
from nmt.model import masks
from nmt.model.attention import kernel
from nmt.model.attention.multihead import MultiHead
from nmt.model.positions.alibi import Alibi
from nmt.model.positions.learned import Learned
from nmt.model.positions.position import Position
from nmt.model.positions.rotary import Rotary
from nmt.model.positions.shaw import Shaw
from nmt.model.positions.sinusoidal import Sinusoidal
from tests.laws.models import CORPUS, build_model, sentences, toy_batch
from tests.laws.parts import randomise, scaled_head
from tests.model.positions.kinds import KINDS, RELATIVE, relative_of

CLASSES: dict[str, tuple[type[Position], type[Position]]] = {
    "none": (Position, Position),
    "sinusoidal": (Sinusoidal, Position),
    "learned": (Learned, Position),
    "shaw": (Position, Shaw),
    "shaw_sinusoidal": (Sinusoidal, Shaw),
    "rotary": (Position, Rotary),
    "alibi": (Position, Alibi),
}
FUSED = {"none", "sinusoidal", "learned", "rotary"}  # what acts on energies or weights needs the explicit path
ORDER = torch.tensor([2, 0, 4, 1, 3])  # neither itself nor anything else read backwards


def self_attention(kind: str, **settings: Any) -> MultiHead:
    """Three heads of two numbers, every parameter random, in double precision, in evaluation mode."""
    attention = MultiHead(
        query_size=6, memory_size=6, heads=3, head=scaled_head, position=relative_of(kind), **settings
    )
    randomise(attention)
    return attention.double().eval()


def attend(attention: MultiHead, x: Tensor, valid: Tensor, need_weights: bool = True) -> Any:
    """Every position of x [B, T, D] reads x."""
    prepared = attention.prepare(x, valid, x[:, 0])
    position = torch.arange(x.shape[1])[None]
    return attention(x, prepared, attention.start(prepared), position, need_weights)[0]


def test_every_kind_is_listed() -> None:
    assert set(KINDS) == set(CLASSES)


@pytest.mark.parametrize("kind", KINDS)
def test_one_word_chooses_what_acts_where(kind: str) -> None:
    model: Any = build_model(f"transformer-pre-{kind}")
    of_input, of_attention = CLASSES[kind]
    for side in (model.encoder, model.decoder):
        assert type(side.position) is of_input
        attentions = [part for part in side.modules() if isinstance(part, MultiHead)]
        own = [type(part.head.position) for part in attentions if part.head.causal or side is model.encoder]
        assert own == [of_attention] * 2
    cross = [block.cross_attention.head.position for block in model.decoder.blocks]
    assert [type(position) for position in cross] == [Position] * 2, "positions never touch what is read of the source"


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_order_matters_with_positions_alone(kind: str, dtype: torch.dtype, tolerance: float) -> None:
    """Without positions, shuffled words have their states shuffled likewise; with any kind they have others."""
    model: Any = build_model(f"transformer-pre-{kind}").to(dtype)
    ids, lengths = torch.tensor([[5, 7, 11, 13, 17]]), torch.tensor([5])
    states, shuffled = (model.encoder(given, lengths).states for given in (ids, ids[:, ORDER]))
    furthest = float((states[:, ORDER] - shuffled).abs().max())
    assert furthest < tolerance if kind == "none" else furthest > 1e-2


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", RELATIVE)
@torch.no_grad()
def test_relative_kinds_are_shift_invariant(kind: str, causal: bool) -> None:
    """The same five words from position 0 on and from position 100 on have the same energies among themselves."""
    attention, words = self_attention(kind, causal=causal), torch.randn(2, 5, 6).double()
    x = torch.randn(2, 105, 6).double()
    x[:, :5], x[:, 100:] = words, words
    energies = attend(attention, x, torch.ones(2, 105, dtype=torch.bool)).energies
    torch.testing.assert_close(energies[:, :, 100:, 100:], energies[:, :, :5, :5], atol=1e-10, rtol=0)
    blind = attention.head
    blind.position = Position(size=2, head_size=2)
    without = attend(attention, x, torch.ones(2, 105, dtype=torch.bool)).energies
    assert not torch.allclose(without[:, :, :5, :5], energies[:, :, :5, :5], atol=1e-2), "the kind does nothing"


@torch.no_grad()
def test_absolute_kinds_are_not_shift_invariant() -> None:
    model: Any = build_model("transformer-pre-sinusoidal")
    x = model.encoder.embedding(torch.tensor([[5, 7, 11]]))
    assert not torch.allclose(*(model.encoder.position.embed(x, first) for first in (0, 100)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "learned"])
@torch.no_grad()
def test_any_length(kind: str) -> None:
    """Far beyond every distance that was ever seen, positions go on; what stands before does not change."""
    model, (source, target) = build_model(f"transformer-pre-{kind}"), sentences(2, longest=131)
    batch = make_batch([source], [(source + target)[:127]])
    assert (model.encoder.longest, model.decoder.longest) == (None, None)  # type: ignore[comparison-overlap]
    whole = model(batch)
    assert whole.states.isfinite().all()
    part = model.decoder.forward(batch.target_in[:, :113], model.decoder.prepare(model.encode(batch)))
    torch.testing.assert_close(whole.states[:, :113], part.states, atol=1e-10, rtol=0)
    last, before = whole.states[0, -1], whole.states[0, -2]
    assert not torch.allclose(last, before)


@torch.no_grad()
def test_learned_positions_end() -> None:
    model = build_model("transformer-pre-learned", "position.maximum=5")
    assert (model.encoder.longest, model.decoder.longest) == (5, 5)
    fits, long = ([7] * count for count in (4, 5))  # and EOS
    model(make_batch([fits], [fits]))
    for source, target in ((long, fits), (fits, long)):
        with pytest.raises(UserError, match=r"6 tokens: learned positions reach to 5 \(position.maximum\)"):
            model(make_batch([source], [target]))


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_fused_is_explicit(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """In single precision, to 1e-5, padding included; only what acts on queries and keys can go through the kernel."""
    model, batch = build_model(f"transformer-pre-{kind}").float(), toy_batch()
    explicit = model(batch).states
    calls: list[int] = []
    fused = kernel.fused
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: True)
    monkeypatch.setattr(kernel, "fused", lambda *given: (calls.append(1), fused(*given))[1])
    torch.testing.assert_close(model(batch).states, explicit, atol=1e-5, rtol=0)
    assert len(calls) == (6 if kind in FUSED else 2), "two layers of three attentions; of these, two read the source"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("way", ["explicit", "fused"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_read(monkeypatch: pytest.MonkeyPatch, kind: str, way: str, causal: bool) -> None:
    """A sentence without a valid word: zeros for context and weights, finite gradients everywhere."""
    monkeypatch.setattr(kernel, "prefers_fused", lambda query: way == "fused")
    attention = self_attention(kind, causal=causal)
    nn.init.zeros_(attention.output.bias)
    x = torch.randn(3, 5, 6).double().requires_grad_()
    attended = attend(attention, x, masks.valid_mask(torch.tensor([5, 0, 2]), 5), need_weights=way == "explicit")
    assert not attended.context[1].any()
    assert not attended.weights[1].any()
    assert attended.context[[0, 2]].all()
    attended.context.square().sum().backward()
    for name, part in (("x", x), *attention.named_parameters()):
        assert part.grad is not None, name
        assert part.grad.isfinite().all(), name
    assert x.grad is not None
    assert not x.grad[1].any()


@pytest.mark.parametrize("setting", ["position=shaw", "relative.reach=3"])
def test_a_recurrent_model_has_no_positions(setting: str) -> None:
    name = setting.partition(".")[0].partition("=")[0]
    with pytest.raises(UserError, match=f"{name}: this model reads in order and has none; .* model=transformer"):
        compose([*CORPUS, setting])


def test_settings_from_the_command_line() -> None:
    model: Any = build_model("transformer-pre-shaw_sinusoidal", "relative.reach=3")
    assert [block.attention.head.position.reach for block in model.encoder.blocks] == [3, 3]
    assert [block.self_attention.head.position.reach for block in model.decoder.blocks] == [3, 3]
