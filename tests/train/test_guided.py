"""The loss of links, by hand and by what it reaches; that it is summed like every other loss; what can't be guided.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.compose import compose
from nmt.config import Config
from nmt.data.batch import Batch, pack_links
from nmt.data.pairs import IdPair
from nmt.errors import UserError
from nmt.model import masks
from nmt.model.assemble import check_sizes
from nmt.model.attention import kernel
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.train import update
from nmt.train.distributed import Processes
from nmt.train.guided import Guide, link_cross_entropy, make_guide
from nmt.train.loop import Trainer
from nmt.train.loss import LossSum, batch_loss
from nmt.train.update import Updater
from tests.laws.models import CASES, CORPUS, RECURRENT, TRANSFORMER, ToyStore, alone, build_model, toy_batch, toy_store
from tests.train.test_loop import settings, trainer

LINKS = ((0, 0, 2, 1, 1, 1), (0, 0), (), (0, 0, 0, 1))  # of toy_batch: s, t, s, t, ...
WEIGHT = 0.3
FULL = ("alignment.full_context=true",)
TRANSFORMERS = ("transformer-pre-sinusoidal", "transformer-post-learned", "transformer-pre-shaw")
GUIDED = ("recurrent-bahdanau-gru", "recurrent-luong_general-lstm2", "recurrent-hard_marginal-gru", *TRANSFORMERS)


def linked() -> Batch:
    return replace(toy_batch(), links=pack_links(LINKS))


class LinkedStore(ToyStore):
    """Every target piece is linked with the source piece at its own place, as far as there is one."""

    def pairs(self, rows: Sequence[int]) -> list[IdPair]:
        return [replace(pair, links=straight(pair)) for pair in super().pairs(rows)]


def straight(pair: IdPair) -> list[int]:
    return [place for t in range(min(len(pair.source), len(pair.target))) for place in (t, t)]


def linked_store(count: int) -> LinkedStore:
    pairs = toy_store(count)
    return LinkedStore(pairs.sources, pairs.targets)


def guide(model: EncoderDecoder, layer: int = 0, head: int = 0, shift: int = 0) -> Guide:
    return Guide(layer % model.decoder.layers, head % model.decoder.heads, shift, WEIGHT)


def gradients(model: EncoderDecoder, loss: Tensor) -> dict[str, Tensor | None]:
    names, parameters = zip(*model.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True))


def test_by_hand() -> None:
    """Two sentences: a word with one link, one with two, which share; rows without links cost nothing."""
    weights = torch.tensor(
        [[[0.5, 0.25, 0.25], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], [[0.7, 0.3, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]],
        dtype=torch.float64,
    )
    links = pack_links([[0, 0, 1, 1, 2, 1], [0, 0]])
    assert links.tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 1], [1, 0, 0]]
    wanted = -math.log(0.5) - (math.log(0.6) + math.log(0.3)) / 2 - math.log(0.7)
    assert float(link_cross_entropy(weights, links, shift=0)) == pytest.approx(wanted, abs=1e-12)
    shifted = -math.log(0.1) - (math.log(0.2) + math.log(0.6)) / 2 - math.log(0.5)
    assert float(link_cross_entropy(weights, links, shift=1)) == pytest.approx(shifted, abs=1e-12)


def test_a_link_out_of_reach_takes_no_part() -> None:
    """Its weight is zero; what else the word is linked with then counts alone, and no gradient is infinite."""
    energies = torch.tensor([[[0.0, 1.0, -1e9], [2.0, 0.0, 0.0]]]).double().requires_grad_()
    loss = link_cross_entropy(energies.softmax(-1), pack_links([[1, 0, 2, 0]]), shift=0)
    assert float(loss.detach()) == pytest.approx(math.log(1 + math.exp(-1)), abs=1e-12)
    (gradient,) = torch.autograd.grad(loss, energies)
    assert gradient.isfinite().all()
    for nothing in (pack_links([[2, 0]]), pack_links([[]])):
        assert float(link_cross_entropy(energies.detach().softmax(-1), nothing, shift=0)) == 0


@pytest.mark.parametrize("case", GUIDED)
@pytest.mark.parametrize("shift", [0, 1])
def test_the_loss_is_that_of_the_weights_that_are_read(case: str, shift: int) -> None:
    """Of the last layer and head, as `attention_maps` exports them; the rest of the loss is what it was."""
    model, batch = build_model(case), linked()
    plain = batch_loss(model, batch, smoothing=0.1)
    found = batch_loss(model, batch, smoothing=0.1, guide=guide(model, -1, -1, shift))
    read = model.attention_maps(batch)["cross"][:, -1, -1].detach()
    wanted = 0.0
    for row, own in enumerate(LINKS):
        pairs = list(zip(own[::2], own[1::2], strict=True))
        for t in {t for _, t in pairs}:
            places = [s for s, target in pairs if target == t]
            wanted -= sum(math.log(read[row, t + shift, s]) for s in places) / len(places)
    assert found.guided is not None
    assert float(found.guided) == pytest.approx(wanted, abs=1e-10)
    assert float((found.loss - plain.loss).detach()) == pytest.approx(WEIGHT * wanted, abs=1e-10)
    assert (float(found.nll), found.tokens) == (float(plain.nll), plain.tokens)
    assert plain.guided is None


def test_the_gradient_goes_to_what_made_these_weights() -> None:
    """Of the first of two layers, one head of two: neither what reads the source there, nor anything later."""
    model, batch = build_model("transformer-pre-sinusoidal"), linked()
    sums = [batch_loss(model, batch, guide=chosen).loss for chosen in (guide(model, 0, 1), None)]
    moved = gradients(model, sums[0] - sums[1])
    size = model.decoder.embedding.size  # type: ignore[attr-defined]
    first, later = "decoder.blocks.0.", ("decoder.blocks.1.", "decoder.norm.", "decoder.projection.")
    spent = tuple(first + part for part in ("cross_attention.output.", "feedforward"))
    alike = (first + "cross_attention.key_value.bias", "encoder.norm.bias")  # what all keys share, a softmax ignores
    for name, gradient in moved.items():
        reached = 0.0 if gradient is None else float(gradient.abs().max())
        assert (reached < 1e-12) == (name.startswith((*later, *spent)) or name in alike), name
    query = moved[first + "cross_attention.query.weight"]
    keys = moved[first + "cross_attention.key_value.weight"]
    assert query is not None
    assert keys is not None
    for own in (query, keys[:size]):
        assert float(own[: size // 2].abs().max()) < 1e-12, "the other head"
        assert float(own[size // 2 :].abs().max()) > 1e-6
    assert float(keys[size:].abs().max()) < 1e-12, "values"


@pytest.mark.parametrize("case", ["recurrent-bahdanau-gru", "transformer-pre-sinusoidal"])
def test_pairs_without_links_are_as_without_a_guide(case: str) -> None:
    model, batch = build_model(case), replace(toy_batch(), links=pack_links([[]] * 4))
    with_guide = batch_loss(model, batch, guide=guide(model))
    without = batch_loss(model, replace(batch, links=None))
    assert torch.equal(with_guide.loss, without.loss)
    for one, other in zip(*(gradients(model, sums.loss).values() for sums in (with_guide, without)), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_other_layers_keep_their_fused_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four attentions in the decoder and two in the encoder, the two of one layer alone are formed."""
    monkeypatch.setattr(kernel, "prefers_fused", lambda keys: True)
    calls: list[int] = []
    fused = kernel.fused
    monkeypatch.setattr(kernel, "fused", lambda *given: calls.append(1) or fused(*given))
    model, batch = build_model("transformer-pre-sinusoidal"), linked()
    for chosen, wanted in ((None, 6), (guide(model), 4)):
        calls.clear()
        batch_loss(model, batch, guide=chosen)
        assert len(calls) == wanted


@pytest.mark.parametrize("case", [*GUIDED, "recurrent-coverage-gru"])
@pytest.mark.parametrize("full", [(), FULL])
@pytest.mark.parametrize("r_drop", [0.0, 2.5])
def test_two_batches_are_one(case: str, full: tuple[str, ...], r_drop: float) -> None:
    """Whatever the padding beside a pair: losses, and gradients of losses divided by all target tokens."""
    if full and not case.startswith("transformer"):
        return
    results = []
    for batches in ([list(range(8))], [[0, 1, 2], [3, 4, 5, 6, 7]]):
        model = build_model(case, *full)
        found, _ = updater(model, r_drop=r_drop).gradients(linked_store(8).portion(*batches), 1)
        results.append((found, [parameter.grad for parameter in model.parameters() if parameter.grad is not None]))
    (whole, wanted), (parts, grads) = results
    assert whole.guided is not None
    assert parts.guided is not None
    for one, other in ((whole.loss, parts.loss), (whole.nll, parts.nll), (whole.guided, parts.guided)):
        assert float(one) == pytest.approx(float(other), abs=1e-10)
    for one, other in zip(grads, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=0)


def updater(model: EncoderDecoder, **changed: Any) -> Updater:
    return Updater(
        model=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        config=settings(**changed),
        seed=5,
        processes=Processes(),
        guide=guide(model),
    )


def test_without_dropout_r_drop_has_the_links_of_one_pass() -> None:
    model, batch = build_model("transformer-pre-sinusoidal"), linked()
    once, twice = (batch_loss(model, batch, r_drop=x, guide=guide(model)) for x in (0.0, 2.5))
    assert float(twice.loss.detach()) == pytest.approx(float(once.loss.detach()), abs=1e-10)
    assert once.guided is not None
    assert twice.guided is not None
    assert float(twice.guided) == pytest.approx(float(once.guided), abs=1e-10)


def test_a_batch_that_is_split_takes_its_links_along(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = (build_model("transformer-pre-sinusoidal") for _ in range(2))
    expected, norm = updater(whole).gradients(linked_store(8).portion(range(7)), 1)

    def small(model: EncoderDecoder, batch: Batch, **given: Any) -> LossSum:
        if len(batch) > 2:
            raise MemoryError
        return batch_loss(model, batch, **given)

    monkeypatch.setattr(update, "batch_loss", small)
    found, found_norm = updater(parts).gradients(linked_store(8).portion(range(7)), 1)
    assert found.guided is not None
    assert expected.guided is not None
    assert float(found.guided) == pytest.approx(float(expected.guided), abs=1e-10)
    assert found_norm == pytest.approx(norm, abs=1e-10)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_in_half_precision_the_links_cost_what_they_do(precision: str) -> None:
    model, batch = build_model("transformer-pre-sinusoidal").float(), linked()
    exact = batch_loss(model, batch, guide=guide(model)).guided
    with torch.autocast("cpu", getattr(torch, precision)):
        found = batch_loss(model, batch, guide=guide(model)).guided
    assert exact is not None
    assert found is not None
    assert found.dtype == torch.float32
    assert float(found) == pytest.approx(float(exact), rel=0.02)


def whole_target(batch: Batch) -> Tensor:
    return masks.valid_mask(batch.target_lengths, batch.target_in.shape[1])


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("transformer-p")])
@torch.no_grad()
def test_full_context_reads_the_whole_target(case: str) -> None:
    """Not what pads it: a sentence alone has the same weights; and its first row changes with its last word."""
    model, batch = build_model(case, *FULL), toy_batch()
    maps = model.attention_maps(batch)
    for row in range(len(batch)):
        own = model.attention_maps(alone(batch, row))
        for name in ("cross", "decoder"):
            rows, columns = own[name].shape[-2:]
            torch.testing.assert_close(maps[name][row, :, :, :rows, :columns], own[name][0], atol=1e-12, rtol=0)
    target = batch.target_in.clone()
    longest = int(batch.target_lengths.argmax())
    target[longest, -1] += 1
    other = model.attention_maps(replace(batch, target_in=target))["cross"]
    changed = (other - maps["cross"])[longest, -1, :, 0].abs().max()
    assert changed > 1e-9
    causal = build_model(case)
    assert torch.equal(
        causal.attention_maps(batch)["cross"][longest, :, :, 0],
        causal.attention_maps(replace(batch, target_in=target))["cross"][longest, :, :, 0],
    )


@pytest.mark.parametrize("case", TRANSFORMERS)
@torch.no_grad()
def test_full_context_predicts_nothing(case: str) -> None:
    """Loss and translation are of the causal pass, to the last bit, whatever weights are asked for."""
    batch = linked()
    plain, full = build_model(case), build_model(case, *FULL)
    assert torch.equal(full(batch).states, plain(batch).states)
    assert torch.equal(full(batch, (1,)).states, plain(batch).states)
    losses = [batch_loss(model, batch, guide=guide(model, 1)) for model in (plain, full)]
    assert torch.equal(losses[0].nll, losses[1].nll)
    assert losses[0].guided != losses[1].guided


def test_every_position_is_kept_by_the_plain_mask() -> None:
    """The decoder's own parameter: with all positions valid, row t of a target of t + 1 words is the causal one."""
    model, batch = build_model("transformer-pre-sinusoidal"), toy_batch()
    prepared = model.decoder.prepare(model.encode(batch))
    causal = model.decoder.forward(batch.target_in, prepared, (0, 1))
    whole = model.decoder.forward(batch.target_in, prepared, (0, 1), whole_target(batch))
    shape = causal.weights.shape
    assert whole.weights.shape == shape
    for row in range(len(batch)):
        last = int(batch.target_lengths[row]) - 1
        torch.testing.assert_close(whole.weights[row, 0, :, last], causal.weights[row, 0, :, last], atol=1e-12, rtol=0)


# Of self-attention, which is not what is guided
SPARSE = "attention/normalizer@model.encoder.self_attention.head.normalizer=sparsemax"
REFUSED = [
    (("model=transformer",), r"alignment\.head is null, the mean of 4: set alignment\.head to one of 0 to 3"),
    (("model=recurrent", "attention=multihead", "attention.heads=2"), r"alignment\.head is null, the mean of 2"),
    (("model=recurrent", "attention=none"), "attention by NoAttention can't be guided: it has no weights"),
    (("model=recurrent", "attention=hard_reinforce"), "attention by Reinforce can't be guided: in training it draws"),
    (("model=recurrent", "attention=hard_gumbel"), "attention by Gumbel can't be guided: it reads one position"),
    (("model=recurrent", "attention=sparsemax"), "attention by Sparsemax can't be guided: it gives most positions"),
    (("model=recurrent", "attention=entmax"), "attention by Entmax can't be guided"),
    (("model=hidden_markov",), "this model sums over all alignments, and has no weights to be guided"),
]
ACCEPTED = [
    (("model=transformer", "alignment.head=3", "alignment.layer=-2"), (2, 3)),
    (("model=transformer", "attention=bahdanau", "wiring=null"), (3, 0)),
    (("model=recurrent",), (0, 0)),
    (("model=recurrent", "attention=hard_marginal"), (0, 0)),
    (("model=recurrent", "attention=luong_local_p"), (0, 0)),
    (("model=transformer", "alignment.head=0", SPARSE), (3, 0)),
]


def composed(*overrides: str) -> tuple[Config, EncoderDecoder]:
    config = compose([*CORPUS, "train.guided_alignment=links", *overrides])
    return config, check_sizes(config)


@pytest.mark.parametrize(("overrides", "words"), REFUSED)
def test_what_cannot_be_guided(overrides: tuple[str, ...], words: str) -> None:
    config, model = composed(*overrides)
    with pytest.raises(UserError, match=f"^train.guided_alignment: .*{words}"):
        make_guide(config, model)
    assert make_guide(compose([*CORPUS, *overrides]), model) is None


@pytest.mark.parametrize(("overrides", "place"), ACCEPTED)
def test_what_is_guided(overrides: tuple[str, ...], place: tuple[int, int]) -> None:
    config, model = composed(*overrides, "train.guided_weight=0.2", "alignment.shift=1")
    assert make_guide(config, model) == Guide(*place, shift=1, weight=0.2)


@pytest.mark.parametrize(
    "overrides",
    [RECURRENT, (*TRANSFORMER, "attention=coverage", "wiring=null"), ("model=transformer_recurrent",)],
)
def test_who_cannot_look_ahead(overrides: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=r"^alignment\.full_context: a recurrent decoder, or an attention that feeds"):
        composed(*overrides, *FULL)


def guided_trainer(folder: Path, updates: int, resume: bool = False) -> Trainer:
    model = build_model("transformer-pre-sinusoidal", *FULL, "model.decoder.dropout=0.3")
    made = trainer(
        folder, model=model, store=linked_store(12), resume=resume, updates=updates, log_every=4, guide=guide(model)
    )
    return made


def test_a_training_that_goes_on(tmp_path: Path) -> None:
    """With its links, and its term in the log, as if it had never stopped."""
    guided_trainer(tmp_path / "whole", 12).train()
    guided_trainer(tmp_path / "parts", 6).train()
    guided_trainer(tmp_path / "parts", 12, resume=True).train()
    whole, parts = (read_tensors(tmp_path / run / "checkpoints" / "last.safetensors") for run in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    events = [logged(tmp_path / run) for run in ("whole", "parts")]
    assert events[0] == events[1]
    assert all(0 < event["guided"] < event["loss"] / WEIGHT for event in events[0])
    assert events[0][-1]["guided"] < events[0][0]["guided"]


def read_tensors(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    return load_file(path)


def logged(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    names = ("update", "loss", "nll", "guided")
    return [{name: event[name] for name in names} for event in map(json.loads, lines) if event["event"] == "train"]


def test_no_guide_no_term(tmp_path: Path) -> None:
    made = trainer(tmp_path, updates=2, log_every=1)
    made.train()
    assert "guided" not in (tmp_path / "metrics.jsonl").read_text(encoding="utf-8")
    assert "guided" not in made.tally.state()
