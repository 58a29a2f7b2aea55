"""Exported weights: distributions over the source, and asking for them changes nothing."""

from __future__ import annotations

import pytest
import torch

from nmt.model import masks
from tests.laws.models import CASES, MARKOV, UNWEIGHTED, build_model, config_of, preset_of, toy_batch

# Every dropout that a configuration has, at one half: weights are exported without any.
DROPOUT = ("model.encoder.dropout=0.5", "model.decoder.dropout=0.5")
OF_HEADS = ("attention.head.dropout=0.5",)
OF_ONE = ("attention.dropout=0.5",)


def _dropout(case: str) -> tuple[str, ...]:
    if preset_of(case) in (*UNWEIGHTED, *MARKOV, "hard_marginal"):  # of which the last refuses dropout of weights
        return DROPOUT
    return (*DROPOUT, *(OF_HEADS if "heads" in config_of(case).attention else OF_ONE))


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_rows_sum_to_one_over_valid_columns(case: str) -> None:
    batch = toy_batch()
    maps = build_model(case, *_dropout(case)).attention_maps(batch)
    source = masks.valid_mask(batch.source_lengths, batch.source.shape[1])
    target = masks.valid_mask(batch.target_lengths, batch.target_in.shape[1])
    for name, rows, columns in (("cross", target, source), ("encoder", source, source), ("decoder", target, target)):
        if name != "cross" and not case.startswith("transformer"):
            assert name not in maps
            continue
        weights = maps[name].movedim(0, 2)  # [L, H, B, rows, columns]
        assert (weights >= 0).all()
        sums = weights.sum(-1)[..., rows]
        if name == "cross" and preset_of(case) == "luong_local_p":  # not renormalised, as published
            assert (sums > 0).all()
            assert (sums < 1).all()
        else:
            none = name == "cross" and preset_of(case) in UNWEIGHTED
            expected = torch.zeros_like(sums) if none else torch.ones_like(sums)
            torch.testing.assert_close(sums, expected, atol=1e-12, rtol=0)
        valid_rows = weights[:, :, rows]  # [L, H, rows, columns]
        beyond = (~columns).unsqueeze(1).expand(-1, rows.shape[1], -1)[rows]
        assert not valid_rows.masked_select(beyond).any()


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_maps_have_every_layer_and_head(case: str) -> None:
    batch = toy_batch()
    maps = build_model(case).attention_maps(batch)
    (rows, size), steps = batch.source.shape, batch.target_in.shape[1]
    heads = 2 if preset_of(case) in ("transformer", "multihead") else 1
    if case.startswith("transformer"):
        assert maps["encoder"].shape == (rows, 2, 2, size, size)
        assert maps["decoder"].shape == (rows, 2, 2, steps, steps)
        assert maps["cross"].shape == (rows, 2, heads, steps, size)
    else:
        assert maps.keys() == {"cross"}
        assert maps["cross"].shape == (rows, 1, heads, steps, size)


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_asking_changes_nothing(case: str) -> None:
    """The same bits, asked or not, and the layers' weights do not depend on which others are asked for."""
    model, batch = build_model(case), toy_batch()
    plain = model(batch)
    memory = model.encoder(batch.source, batch.source_lengths, range(model.encoder.layers))
    prepared = model.decoder.prepare(memory)
    asked = model.decoder.forward(batch.target_in, prepared, range(model.decoder.layers))
    assert torch.equal(plain.states, asked.states)
    assert torch.equal(memory.states, model.encode(batch).states)
    for layer in range(model.decoder.layers):
        own = model.decoder.forward(batch.target_in, prepared, [layer])
        assert torch.equal(own.weights[:, 0], asked.weights[:, layer])


def test_not_in_training() -> None:
    model = build_model("recurrent-bahdanau-gru").train()
    with pytest.raises(AssertionError, match="evaluation mode"):
        model.attention_maps(toy_batch())
