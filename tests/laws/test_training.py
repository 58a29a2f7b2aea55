"""Laws of training on real models: by tokens, whatever the batches; and what is saved is what is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from torch import Tensor

from nmt.model.encoder_decoder import EncoderDecoder
from nmt.run import load_weights, save_weights
from nmt.train.distributed import Processes
from nmt.train.perplexity import token_loss
from nmt.train.update import Updater
from tests.laws.models import CASES, SAMPLED, ToyStore, build_model, preset_of, toy_batch, toy_store
from tests.train.test_loop import settings


@pytest.mark.parametrize("case", [case for case in CASES if preset_of(case) not in SAMPLED])
def test_four_times_eight_is_thirty_two(case: str) -> None:
    """Gradients and loss of four batches together are those of the one that holds them all, token by token."""
    store, rows = toy_store(32), list(range(32))
    tokens = int(store.target_lengths.sum())
    whole, wanted = _gradients(build_model(case), store, [rows], tokens)
    parts, gradients = _gradients(
        build_model(case), store, [rows[first : first + 8] for first in range(0, 32, 8)], tokens
    )
    assert parts == pytest.approx(whole, abs=1e-10)
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, wanted[name], atol=1e-10, rtol=0)


def _gradients(
    model: EncoderDecoder, store: ToyStore, rows: list[list[int]], tokens: int
) -> tuple[float, dict[str, Tensor]]:
    updater = Updater(
        model=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        config=settings(label_smoothing=0.1),
        seed=5,
        processes=Processes(),
    )
    sums, _ = updater.gradients(store.portion(*rows), 1)
    assert sums.tokens == tokens
    return float(sums.loss), {name: part.grad for name, part in model.named_parameters() if part.grad is not None}


@pytest.mark.parametrize("case", CASES)
def test_validation_loss_does_not_depend_on_batches(case: str) -> None:
    """D01: a sum over tokens, EOS counted, divided by their number."""
    model, store = build_model(case), toy_store(19)
    losses = [token_loss(model, store, batch_tokens=size) for size in (1, 17, 60, 10_000)]  # type: ignore[arg-type]
    assert {tokens for _, tokens in losses} == {sum(len(ids) + 1 for ids in store.targets)}
    for loss, _ in losses:
        assert loss == pytest.approx(losses[0][0], abs=1e-12)


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_loading_what_was_saved(case: str, tmp_path: Path) -> None:
    model, batch = build_model(case), toy_batch()
    save_weights(tmp_path / "model.safetensors", model)
    other = build_model(case, seed=4)
    assert not torch.equal(other(batch).states, model(batch).states)
    load_weights(tmp_path / "model.safetensors", other)
    before, after = model(batch), other(batch)
    assert torch.equal(before.states, after.states)
    assert torch.equal(model.decoder.readout(before.states, None), other.decoder.readout(after.states, None))


@pytest.mark.parametrize("tied", ["none", "output", "all"])
@pytest.mark.parametrize(
    "case", ["recurrent-bahdanau-gru", "recurrent-luong_general-lstm2", "transformer-pre-sinusoidal"]
)
@torch.no_grad()
def test_ties_stay_and_are_stored_once(case: str, tied: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    saved, loaded = (build_model(case, f"model.tied={tied}", seed=seed, source=29) for seed in (3, 4))
    save_weights(path, saved)
    load_weights(path, loaded)
    assert torch.equal(saved(toy_batch()).states, loaded(toy_batch()).states)
    assert _sharing(loaded) == {"none": (False, False), "output": (True, False), "all": (True, True)}[tied]
    with safe_open(path, "pt") as file:
        tables = [name for name in list(file.keys()) if file.get_tensor(name).shape[0] == 29 and "bias" not in name]
    assert len(tables) == {"none": 3, "output": 2, "all": 1}[tied]


def _sharing(model: EncoderDecoder) -> tuple[bool, bool]:
    """Whether target embedding and projection are one storage, and whether the two embeddings are."""
    source, target = model.encoder.embedding.table.weight, model.decoder.embedding.table.weight  # type: ignore[attr-defined]
    return model.decoder.projection.weight.data_ptr() == target.data_ptr(), source.data_ptr() == target.data_ptr()
