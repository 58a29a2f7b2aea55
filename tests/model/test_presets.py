"""Every attention preset is made of the parts that its paper has, cites it, and differs from all the others."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from nmt.compose import config_folder
from tests.laws.models import ALIASES, PRESETS, build_model, config_of, toy_batch

# score, window, normalizer, wiring
PARTS = {
    "bahdanau": ("Additive", "Global", "Softmax", "BeforeStep"),
    "bahdanau_normed": ("NormedAdditive", "Global", "Softmax", "BeforeStep"),
    "coverage": ("Additive", "Global", "Softmax", "BeforeStep"),
    "luong_dot": ("Dot", "Global", "Softmax", "AfterStep"),
    "luong_general": ("General", "Global", "Softmax", "AfterStep"),
    "luong_concat": ("Additive", "Global", "Softmax", "AfterStep"),
    "luong_location": ("Location", "Global", "Softmax", "AfterStep"),
    "luong_general_scaled": ("ScaledGeneral", "Global", "Softmax", "AfterStep"),
    "luong_local_m": ("General", "LocalM", "Softmax", "AfterStep"),
    "luong_local_p": ("General", "LocalP", "Softmax", "AfterStep"),
    "scaled_dot": ("ScaledDot", "Global", "Softmax", "AfterStep"),
    "multihead": ("ScaledDot", "Global", "Softmax", "AfterStep"),
    "sparsemax": ("Additive", "Global", "Sparsemax", "AfterStep"),
    "entmax": ("Additive", "Global", "Entmax", "AfterStep"),
    "hard_reinforce": ("General", "Global", "Reinforce", "AfterStep"),
    "hard_gumbel": ("General", "Global", "Gumbel", "AfterStep"),
    "hard_marginal": ("General", "Global", "Marginal", "AfterStep"),
    "transformer": ("ScaledDot", "Global", "Softmax", None),
    "none": (None, None, None, "BeforeStep"),
}


def test_all_are_listed() -> None:
    assert {*PARTS} == {*PRESETS}


def name_of(leaf: dict[str, Any] | None) -> str | None:
    return leaf and leaf["_target_"].rpartition(".")[2]


@pytest.mark.parametrize("preset", PRESETS)
def test_parts(preset: str) -> None:
    """Input feeding where the wiring has it, but for the hard ones, which run the whole target in one call."""
    config = config_of(f"recurrent-{preset}-gru")
    head = config.attention.get("head", config.attention)
    *parts, wiring = PARTS[preset]
    assert [name_of(head.get(part)) for part in ("score", "window", "normalizer")] == parts
    assert name_of(head.get("coverage")) == ("Coverage" if preset == "coverage" else None)
    if wiring is not None:  # elsewhere the law's model has one of its own
        assert config.wiring is not None
        assert name_of(config.wiring) == wiring
        assert config.wiring.get("input_feeding", True) == (not preset.startswith("hard_"))


@pytest.mark.parametrize("preset", [*PRESETS, *ALIASES])
def test_its_yaml_cites_the_paper(preset: str) -> None:
    """With the equation, section or appendix; an alias says whose it is."""
    text = (config_folder() / "attention" / f"{preset}.yaml").read_text(encoding="utf-8")
    comment = " ".join(line for line in text.splitlines() if line.startswith("#"))
    if preset in ALIASES:
        assert ALIASES[preset] in text
    else:
        assert re.search(r"\b20\d\d\b", comment), comment
        assert re.search("equation|section|appendix|algorithm", comment), comment


@pytest.mark.parametrize("preset", PRESETS)
@torch.no_grad()
def test_what_it_reads(preset: str) -> None:
    """One 1 a row for the hard ones that choose; no weight outside a window; none at all without attention."""
    batch = toy_batch()
    model = build_model(f"recurrent-{preset}-gru")
    weights = model.attention_maps(batch)["cross"]  # [B, 1, H, T, S]
    if preset in ("hard_reinforce", "hard_gumbel"):
        assert ((weights == 1).sum(-1) == 1).all()
        assert ((weights == 0).sum(-1) == weights.shape[-1] - 1).all()
    elif preset == "none":
        assert not weights.any()
    elif preset == "luong_local_m":
        lengths = batch.source_lengths[:, None, None]
        centre = torch.arange(weights.shape[3])[None, :, None].minimum(lengths - 1)
        source = torch.arange(weights.shape[4])
        shown = ((source - centre).abs() <= 2) & (source < lengths)
        assert torch.equal(weights[:, 0, 0] > 0, shown)
    elif preset not in ("sparsemax", "entmax", "luong_local_p"):
        valid = torch.arange(weights.shape[-1]) < batch.source_lengths[:, None, None, None, None]
        assert torch.equal(weights > 0, valid.expand_as(weights))
