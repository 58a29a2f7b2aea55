"""The training loop on a tiny store in memory: what is best, when it stops, and what an update is made of."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.config import TrainConfig
from nmt.data.feed import StoreFeed
from nmt.data.pairs import IdPair, TextPair
from nmt.data.stream import StreamFeed
from nmt.errors import Unsuccessful
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.run import Run, load_weights
from nmt.search.greedy import greedy_search
from nmt.search.penalty import NoPenalty
from nmt.train import update
from nmt.train.checkpoint import read_checkpoint
from nmt.train.distributed import Processes
from nmt.train.guided import Guide
from nmt.train.loop import Trainer, Validation, is_better, named_pairs
from nmt.train.loss import LossSum
from nmt.train.perplexity import token_loss
from nmt.train.schedule import InverseSquareRoot, Plateau
from tests.laws.models import ToyStore, build_model, toy_store

CASE = "recurrent-luong_general-gru"
DROPOUT = ("model.encoder.dropout=0.5", "model.decoder.dropout=0.5")
NEVER = 1000
ALONE = Processes()


def settings(**changed: Any) -> TrainConfig:
    """Of a short training without validations but the last."""
    given: dict[str, Any] = {
        "updates": 6,
        "batch_tokens": 60,
        "pool": 100,
        "accumulate": 1,
        "label_smoothing": 0.0,
        "clip_norm": 0.0,
        "valid_every": NEVER,
        "save_every": 0,
        "log_every": 1,
        "metric": "loss",
        "patience": NEVER,
        "bad_steps": 10,
    }
    return TrainConfig(**{**given, **changed})


def trainer(
    folder: Path,
    *,
    model: EncoderDecoder | None = None,
    store: ToyStore | None = None,
    validate: Callable[[], Validation] | None = None,
    schedule: Any = None,
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.SGD,
    lr: float = 0.1,
    resume: bool = False,
    guide: Guide | None = None,
    **changed: Any,
) -> Trainer:
    model = model or build_model(CASE)
    config = settings(**changed)
    return Trainer(
        model=model,
        feed=feed_of(store or toy_store(12), config),
        optimizer=optimizer(model.parameters(), lr=lr),
        schedule=schedule or InverseSquareRoot(warmup=1),
        validate=validate or (lambda: scored(0.0)),
        config=config,
        run=Run(folder),
        seed=5,
        resume=resume,
        guide=guide,
    )


def feed_of(store: ToyStore, config: TrainConfig, processes: Processes = ALONE) -> StoreFeed:
    """As the configuration says."""
    return StoreFeed(
        store,  # type: ignore[arg-type]
        batch_tokens=config.batch_tokens,
        pool=config.pool,
        accumulate=config.accumulate,
        seed=5,
        pad_to=config.pad_to,
        processes=processes,
    )


def stream_of(store: ToyStore, config: TrainConfig, processes: Processes = ALONE) -> StreamFeed:
    """The same pairs, read one after another."""

    def read(start: int) -> Iterator[TextPair]:
        return (TextPair(row, "", "") for row in range(start, len(store)))

    def encode(pairs: Iterable[TextPair]) -> Iterator[IdPair]:
        return iter(store.pairs([pair.index for pair in pairs]))

    return StreamFeed(
        [read],
        encode,
        name=store.fingerprint(),
        batch_tokens=config.batch_tokens,
        pool=config.pool,
        accumulate=config.accumulate,
        shuffle_buffer=4,
        seed=5,
        pad_to=config.pad_to,
        processes=processes,
    )


def scored(value: float) -> Validation:
    """A validation of which every metric is this value (but perplexity, its exponential)."""
    return Validation(loss=value, tokens=1, bleu=value, chrf=value, signature="none", sample=())


def weights(model: EncoderDecoder) -> torch.Tensor:
    """All of them in one vector."""
    return torch.cat([part.detach().flatten() for part in model.parameters()])


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Of metrics.jsonl."""
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


VALUES = [3.0, 2.0, 5.0, 5.0, 1.0, 4.0, 7.0, 6.0]


@pytest.mark.parametrize(
    ("metric", "best", "stopped"), [("loss", 5, 8), ("perplexity", 5, 8), ("bleu", 3, 6), ("chrf", 3, 6)]
)
def test_direction_of_the_best_and_of_early_stopping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], metric: str, best: int, stopped: int
) -> None:
    """E05, E14: with patience 3, the best is the extreme of the column in the metric's own direction, and its weights
    are those that are kept."""
    model, kept = build_model(CASE), []
    values = iter(VALUES)

    def validate() -> Validation:
        kept.append(weights(model))
        return scored(next(values))

    trainer(
        tmp_path, model=model, validate=validate, metric=metric, valid_every=1, patience=3, updates=len(VALUES)
    ).train()
    column = [event[metric] for event in events(tmp_path, "valid")]
    assert len(column) == stopped
    extreme = min(column) if metric in ("loss", "perplexity") else max(column)
    assert column.index(extreme) + 1 == best
    better = [event["update"] for event in events(tmp_path, "valid") if event["better"]]
    assert better[-1] == best
    loaded = build_model(CASE, seed=8)
    load_weights(Run(tmp_path).best, loaded)
    assert torch.equal(weights(loaded), kept[best - 1])
    read_checkpoint(Run(tmp_path).last).restore(
        loaded, torch.optim.SGD(loaded.parameters(), lr=0.1), torch.amp.GradScaler("cpu", enabled=False)
    )
    assert torch.equal(weights(loaded), kept[-1])
    told = capsys.readouterr().err
    assert f"best {metric} {extreme}" in told
    assert ("training stops" in told) == (stopped < len(VALUES) or metric in ("loss", "perplexity"))


@pytest.mark.parametrize("metric", ["loss", "perplexity", "bleu", "chrf"])
def test_is_better(metric: str) -> None:
    """D10: what is not finite is never better, neither first nor later."""
    up = metric in ("bleu", "chrf")
    assert is_better(2.0, None, metric)
    assert is_better(3.0, 2.0, metric) == up
    assert is_better(1.0, 2.0, metric) != up
    assert not is_better(2.0, 2.0, metric)
    for value in (math.nan, math.inf, -math.inf):
        assert not is_better(value, None, metric)
        assert not is_better(value, 2.0, metric)


def unequal_pairs(count: int) -> ToyStore:
    """D03: pairs of one word and of twelve, in turn."""
    words = [[4 + row] * (12 if row % 2 else 1) for row in range(count)]
    return ToyStore(words, words)


@pytest.mark.parametrize(("accumulate", "batches"), [(3, [3, 1, 3, 1]), (4, [4, 4]), (9, [4, 4])])
def test_leftover_batches_make_an_update(tmp_path: Path, accumulate: int, batches: list[int]) -> None:
    """D03, D06: seven pairs in four batches; an epoch's last update has what is left, and every pair comes once."""
    store = ToyStore([[4]] * 7, [[5]] * 7)
    loop = trainer(tmp_path, store=store, batch_tokens=4, accumulate=accumulate)
    loop.metrics.close()
    with closing(loop.portions()) as portions:
        made = [next(portions) for _ in batches]
    assert [len(update.batches) for update in made] == batches
    half = len(batches) // 2
    for epoch in (made[:half], made[half:]):
        assert sorted(pair.index for update in epoch for _, batch in update.batches for pair in batch) == list(range(7))


def test_accumulation_is_the_large_batch(tmp_path: Path) -> None:
    """D03: eight pairs at once, or in batches of 26 padded tokens four to an update: the same weights afterwards."""
    results = []
    for name, changed in (("a", {"batch_tokens": 1000}), ("b", {"batch_tokens": 26, "accumulate": 4})):
        model = build_model(CASE)
        trainer(tmp_path / name, model=model, store=unequal_pairs(8), updates=1, **changed).train()
        results.append(weights(model))
        assert events(tmp_path / name, "train")[0]["epoch"] == 1.0
    torch.testing.assert_close(results[0], results[1], atol=1e-10, rtol=0)
    assert not torch.allclose(results[0], weights(build_model(CASE)))


def test_three_pairs_are_learnt_by_heart(tmp_path: Path) -> None:
    """D06: a corpus smaller than a batch makes one update an epoch, and is reproduced after 200."""
    store = ToyStore([[4, 5, 6], [7, 8], [9]], [[10, 11], [12, 13, 14], [15]])
    model = build_model(CASE)
    trainer(tmp_path, model=model, store=store, optimizer=torch.optim.Adam, lr=0.01, updates=200, log_every=200).train()
    (event,) = events(tmp_path, "train")
    assert event["epoch"] == 200.0
    memory = model.eval().encode(store.batch([0, 1, 2]))
    found = greedy_search(model.decoder, memory, max_lengths=torch.full((3,), 9), banned=(0, 1, 3), penalty=NoPenalty())
    assert [list(best.tokens) for (best,) in found] == store.targets


def test_validation_does_not_change_training(tmp_path: Path) -> None:
    """D14: with dropout, validating after every update (in evaluation mode, and training goes on in training mode)."""
    losses = []
    for name, every in (("often", 1), ("never", NEVER)):
        model, store = build_model(CASE, *DROPOUT).train(), toy_store(9)

        def validate(model: EncoderDecoder = model, store: ToyStore = store) -> Validation:
            memory = model.encode(store.batch([0, 1]))
            greedy_search(model.decoder, memory, max_lengths=torch.full((2,), 4), banned=(0, 1, 3), penalty=NoPenalty())
            return scored(token_loss(model, store, batch_tokens=50)[0])  # type: ignore[arg-type]

        trainer(
            tmp_path / name, model=model, store=store, validate=torch.no_grad()(validate), valid_every=every, updates=20
        ).train()
        losses.append([event["loss"] for event in events(tmp_path / name, "train")])
    assert losses[0] == losses[1]
    assert len(set(losses[0])) == 20


def test_dropout_acts_in_training_by_place(tmp_path: Path) -> None:
    """What is drawn follows from seed and place, and from nothing that was drawn before."""
    results = []
    for name, before, overrides in (("a", 1, DROPOUT), ("b", 2, DROPOUT), ("c", 1, ())):
        model = build_model(CASE, *overrides)
        torch.manual_seed(before)
        trainer(tmp_path / name, model=model).train()
        results.append(weights(model))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


class Explodes:
    """The rate is multiplied by 1e30 after the fifth update."""

    def factor(self, update: int) -> float:
        return 1.0 if update <= 5 else 1e30

    def validated(self, better: bool) -> None:
        pass

    def state(self) -> dict[str, float]:
        return {}


def test_divergence_is_told_and_the_best_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """D10: after bad_steps updates that cannot be made; the best weights are those of before, and finite."""
    model, store = build_model(CASE).float(), toy_store(12)

    def validate() -> Validation:
        return scored(token_loss(model, store, batch_tokens=60)[0])  # type: ignore[arg-type]

    loop = trainer(
        tmp_path, model=model, store=store, validate=validate, schedule=Explodes(), valid_every=5, updates=40
    )
    where = r"update \d+, batch 1 \(pairs [\d, ]+ of train\)"
    with pytest.raises(
        Unsuccessful, match=f"non-finite loss up to {where}; .*model.safetensors is the last good one; .*last"
    ):
        loop.train()
    assert 15 <= loop.now.update <= 20
    assert "is not finite: skipped (1 in a row)" in capsys.readouterr().err
    loaded = build_model(CASE, seed=8).float()
    load_weights(Run(tmp_path).best, loaded)
    assert weights(loaded).isfinite().all()
    assert [event["update"] for event in events(tmp_path, "valid") if event["better"]] == [5]
    assert loop.metrics.file.closed


def test_a_bad_update_is_skipped_and_the_count_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One gradient that is not finite changes no weight; two in a row are needed to stop here, and never come."""
    model, clip = build_model(CASE), torch.nn.utils.clip_grad_norm_
    norms = iter([1.0, math.nan, 1.0, math.inf, 1.0, 1.0])
    seen = []

    def norm(parameters: Any, maximum: float) -> torch.Tensor:
        seen.append(weights(model))
        clip(parameters, maximum)
        return torch.tensor(next(norms))

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", norm)
    trainer(tmp_path, model=model, bad_steps=2).train()
    moved = [not torch.equal(one, other) for one, other in zip(seen, [*seen[1:], weights(model)], strict=True)]
    assert moved == [True, False, True, False, True, True]


def test_the_batch_that_spoils_an_update_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the update's two, the one with the tenth pair, whose loss is not finite; of a bad gradient alone both."""
    own = update.batch_loss

    def spoilt(network: Any, batch: Any, **given: Any) -> LossSum:
        sums = own(network, batch, **given)
        return sums._replace(loss=sums.loss * (math.nan if 9 in batch.index else 1.0))

    monkeypatch.setattr(update, "batch_loss", spoilt)
    trainer(tmp_path / "loss", updates=2, accumulate=2).train()
    told = re.findall(r"update (\d), batch (\d) \(pairs (.*) of train\): loss, grad", capsys.readouterr().err)
    assert [number for number, _, _ in told] == ["1", "2"]
    assert all("10" in pairs.split(", ") for _, _, pairs in told), told

    monkeypatch.setattr(update, "batch_loss", own)
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: torch.tensor(math.inf))
    trainer(tmp_path / "gradient", updates=1, accumulate=2).train()
    assert re.search(r"update 1, batch 1 \(.*\), batch 2 \(.*\): loss, gradient", capsys.readouterr().err)


def test_a_few_of_many_pairs_are_named() -> None:
    assert named_pairs([4, 2, 10]) == "pairs 5, 3, 11 of train"
    assert named_pairs(range(13)) == "pairs 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more of train"


def test_where_all_updates_were_skipped_there_are_no_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no zeros that look like a perfect model; null is what JSON has. What an update takes is still known."""
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: torch.tensor(math.nan))
    loop = trainer(tmp_path, updates=5, log_every=2)
    loop.train()
    assert loop.tally.updates == 1
    for event in events(tmp_path, "train"):
        assert [event[name] for name in ("loss", "nll", "gradient_norm", "padding")] == [None] * 4
        assert event["tokens_per_second"] == 0


def test_a_mean_that_cannot_be_made_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trainer(tmp_path / "one", keep_last=3, average=3).train()
    assert "train.average is 3: too few weights are kept for a mean, 1" in capsys.readouterr().err
    trainer(tmp_path / "none").train()
    assert "average" not in capsys.readouterr().err


class Pretended(Processes):
    """One of two, whose other does nothing."""

    def from_first(self, make: Callable[[], Any]) -> Any:
        return make()

    def largest(self, value: float) -> float:
        return value


def test_several_processes_save_before_they_validate(tmp_path: Path) -> None:
    """They can't be broken off together, and are killed when they take long."""
    saved: list[int] = []

    def validate() -> Validation:
        saved.append(read_checkpoint(Run(tmp_path).last).progress.update)
        return scored(1.0)

    loop = trainer(tmp_path, validate=validate, valid_every=2)
    loop.processes = Pretended(0, 2)
    loop.train()
    assert saved == [2, 4, 6]


def test_no_finite_validation_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(Unsuccessful, match="no validation gave a finite bleu"):
        trainer(tmp_path, validate=lambda: scored(math.nan), metric="bleu", valid_every=2).train()
    assert not Run(tmp_path).best.exists()
    assert Run(tmp_path).last.exists()
    assert {event["bleu"] for event in events(tmp_path, "valid")} == {None}, "JSON has no word for nan"


def test_rates_follow_the_schedule(tmp_path: Path) -> None:
    """D11: the optimizer's own rate is the peak, reached in update `warmup`."""
    trainer(tmp_path, lr=0.08, schedule=InverseSquareRoot(warmup=4), updates=8, valid_every=3).train()
    rates = [event["learning_rate"] for event in events(tmp_path, "train")]
    assert rates == pytest.approx([0.02, 0.04, 0.06, 0.08, *(0.08 * math.sqrt(4 / n) for n in (5, 6, 7, 8))])


def test_plateau_is_told_of_validations(tmp_path: Path) -> None:
    """Loss 3, 4, 5, 6: two that are no better cut the rate in half for the updates after."""
    values = iter([3.0, 4.0, 5.0, 6.0])
    schedule = Plateau(warmup=0, factor=0.5, patience=2)
    trainer(tmp_path, validate=lambda: scored(next(values)), schedule=schedule, valid_every=1, updates=4).train()
    assert [event["learning_rate"] for event in events(tmp_path, "train")] == pytest.approx([0.1, 0.1, 0.1, 0.05])


def test_clipping(tmp_path: Path) -> None:
    """One SGD step moves the weights by rate x norm of the gradient, which clipping bounds."""
    moved = {}
    for name, norm in (("off", 0.0), ("on", 0.01)):
        model = build_model(CASE)
        before = weights(model)
        trainer(tmp_path / name, model=model, clip_norm=norm, updates=1).train()
        moved[name] = float((weights(model) - before).norm())
    assert moved["on"] == pytest.approx(0.1 * 0.01, rel=1e-3)
    (event,) = events(tmp_path / "off", "train")
    assert moved["off"] == pytest.approx(0.1 * event["gradient_norm"], rel=1e-6)


def test_the_last_update_is_validated(tmp_path: Path) -> None:
    trainer(tmp_path, updates=7, valid_every=3).train()
    assert [event["update"] for event in events(tmp_path, "valid")] == [3, 6, 7]


def test_loss_is_per_token(tmp_path: Path) -> None:
    """The first log line, of the untrained model over the whole corpus, is the validation loss."""
    model, store = build_model(CASE), toy_store(12)
    wanted, _ = token_loss(model, store, batch_tokens=50)  # type: ignore[arg-type]
    trainer(tmp_path, model=model, store=store, batch_tokens=1000, updates=1).train()
    (event,) = events(tmp_path, "train")
    assert event["nll"] == event["loss"] == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize(
    ("scores", "update", "best", "worse"),
    [([10.0, 9.5, 9.2, 8.5], 4, 8.5, 0), ([10.0, 9.9, 9.8, 9.7, 5.0], 4, 9.7, 3)],
)
def test_patience_counts_from_what_is_better_by_enough(
    tmp_path: Path, scores: list[float], update: int, best: float, worse: int
) -> None:
    """The best is the best by however little; with min_delta 1 only what is better by more ends the wait."""
    coming = iter(scores)
    loop = trainer(
        tmp_path,
        validate=lambda: scored(next(coming)),
        metric="loss",
        valid_every=1,
        updates=len(scores),
        patience=3,
        min_delta=1.0,
    )
    loop.train()
    assert [event["better"] for event in events(tmp_path, "valid")] == [True] * update
    assert (loop.now.update, loop.now.best, loop.now.worse) == (update, best, worse)


def test_time_that_is_over_ends_in_a_validation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A thousandth of a second is over after the first update."""
    loop = trainer(tmp_path, updates=1000, max_minutes=1e-5)
    loop.train()
    assert loop.now.update == loop.now.validated == 1
    assert "train.max_minutes, 1e-05, are over: training stops" in capsys.readouterr().err


@pytest.mark.parametrize("mean_is_better", [True, False])
def test_the_mean_of_the_newest_is_tried_at_the_end(mean_is_better: bool, tmp_path: Path) -> None:
    """It becomes the run's weights if it validates better than all before; the checkpoint keeps training's own."""
    scores = [5.0, 4.0, 3.0, 1.0 if mean_is_better else 9.0]
    seen: list[torch.Tensor] = []

    def validate() -> Validation:
        seen.append(weights(model))
        return scored(scores[len(seen) - 1])

    model = build_model(CASE)
    trainer(tmp_path, model=model, validate=validate, valid_every=2, keep_last=2, average=2).train()
    torch.testing.assert_close(seen[3], (seen[1] + seen[2]) / 2)
    assert torch.equal(weights(model), seen[2])
    best = build_model(CASE)
    load_weights(Run(tmp_path).best, best)
    assert torch.equal(weights(best), seen[3] if mean_is_better else seen[2])
    assert read_checkpoint(Run(tmp_path).last).progress.best == min(scores)


def test_a_moving_average_is_what_is_judged(tmp_path: Path) -> None:
    """Validation sees it, the best weights are its, and training goes on as without it."""
    seen: list[torch.Tensor] = []
    models = [build_model(CASE), build_model(CASE)]

    def validate() -> Validation:
        seen.append(weights(models[1]))
        return scored(1.0)

    trainer(tmp_path / "plain", model=models[0]).train()
    trainer(tmp_path / "ema", model=models[1], validate=validate, ema=0.9).train()
    assert torch.equal(weights(models[0]), weights(models[1]))
    best = build_model(CASE)
    load_weights(Run(tmp_path / "ema").best, best)
    assert torch.equal(weights(best), seen[0])
    assert not torch.equal(seen[0], weights(models[1]))
