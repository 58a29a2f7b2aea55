"""What is kept of a training: the newest and the best, whatever their numbers, and over every kind of end."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from nmt.compose import compose_values
from nmt.config import read_config
from nmt.data.files import open_whole, sweep
from nmt.errors import UserError
from nmt.run import named_tensors
from nmt.train.kept import Kept, best_of, list_kept
from tests.laws.models import CORPUS, build_model

SMALL = torch.nn.Linear(2, 3)


def make(folder: Path, last: int, best: int, higher: bool = True) -> Kept:
    return Kept(folder, last=last, best=best, metric="bleu" if higher else "loss", higher_is_better=higher)


def validate(kept: Kept, *scores: float, every: int = 50) -> None:
    """One validation after another, each with its checkpoint."""
    for number, score in enumerate(scores, start=1):
        kept.keep(number * every, score, SMALL)
        kept.prune()


def updates(folder: Path) -> list[int]:
    return [one.update for one in list_kept(folder)]


def test_the_newest_and_the_best(tmp_path: Path) -> None:
    """Of 7 5 9 8 1 2 3 the best two are at 150 and 200, the newest two at 300 and 350."""
    kept = make(tmp_path, 2, 2)
    validate(kept, 7, 5, 9, 8, 1, 2, 3)
    assert updates(tmp_path) == [150, 200, 300, 350]
    assert [path.name for path in kept.newest(3)] == [f"update-{number}.safetensors" for number in (200, 300, 350)]
    assert [one.update for one in best_of(list_kept(tmp_path), 1, higher_is_better=True)] == [150]
    assert kept.newest(9) == [one.path for one in list_kept(tmp_path)]


def test_less_is_better_for_a_loss(tmp_path: Path) -> None:
    validate(make(tmp_path, 1, 2, higher=False), 7, 5, 9, 8, 1, 2, 3)
    assert updates(tmp_path) == [250, 300, 350]


@pytest.mark.parametrize(("last", "best"), [(1, 0), (2, 0), (0, 1), (1, 1)])
def test_the_best_is_never_removed(tmp_path: Path, last: int, best: int) -> None:
    kept = make(tmp_path, last, best)
    for count in range(1, 6):
        validate(kept, *[9, 5, 4, 3, 2][:count])
        assert updates(tmp_path)[0] == 50
    assert len(updates(tmp_path)) == last + 1


def test_of_equal_scores_the_earlier_is_better(tmp_path: Path) -> None:
    """As for model.safetensors, which only a better score replaces."""
    validate(make(tmp_path, 0, 1), 3, 5, 5, 5)
    assert updates(tmp_path) == [100]


def test_numbers_sort_as_numbers(tmp_path: Path) -> None:
    """As texts, 1000 would come before 200."""
    kept = make(tmp_path, 2, 0, higher=False)
    validate(kept, 1, 2, 3, 4, 5, 6, every=200)
    assert updates(tmp_path) == [200, 1000, 1200]
    assert kept.newest(2) == [tmp_path / "update-1000.safetensors", tmp_path / "update-1200.safetensors"]


def test_off_writes_nothing(tmp_path: Path) -> None:
    validate(make(tmp_path / "checkpoints", 0, 0), 1, 2, 3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_not_kept(tmp_path: Path, score: float) -> None:
    kept = make(tmp_path, 5, 5)
    validate(kept, 3, score, 2)
    assert updates(tmp_path) == [50, 150]


def test_weights_are_the_models_and_the_header_says_how_good(tmp_path: Path) -> None:
    """A tied table is there once; the score comes back bit for bit."""
    model = build_model("transformer-pre-sinusoidal", "model.tied=output")
    make(tmp_path, 1, 0).keep(350, 100 / 3, model)
    path = tmp_path / "update-350.safetensors"
    stored = load_file(path)
    assert stored.keys() == dict(named_tensors(model)).keys()
    assert all(torch.equal(stored[name], tensor) for name, tensor in named_tensors(model))
    with safe_open(path, "pt") as file:
        assert file.metadata() == {"update": "350", "metric": "bleu", "score": "33.333333333333336"}
    assert list_kept(tmp_path) == [(path, 350, "bleu", 100 / 3)]


def test_the_files_are_all_the_state(tmp_path: Path) -> None:
    """One that is made anew before every validation keeps the same."""
    for number, score in enumerate([7, 5, 9, 8, 1, 2, 3], start=1):
        kept = make(tmp_path, 2, 2)
        kept.keep(number * 50, score, SMALL)
        kept.prune()
    assert updates(tmp_path) == [150, 200, 300, 350]


def test_a_kill_before_the_checkpoint_loses_nothing(tmp_path: Path) -> None:
    """The new best is written and the old one still there, when the training falls back to before."""
    kept = make(tmp_path, 1, 1)
    validate(kept, 9, 5, 6)
    before = updates(tmp_path)
    kept.keep(200, 10, SMALL)
    kept.forget_after(150)
    assert updates(tmp_path) == before == [50, 150]
    kept.forget_after(0)
    assert updates(tmp_path) == []


def test_leftovers_are_ignored_and_swept(tmp_path: Path) -> None:
    """What a killed write leaves has the name that it has in the middle of one."""
    kept = make(tmp_path, 2, 0)
    validate(kept, 1)
    with open_whole(tmp_path / "update-100.safetensors") as file:
        file.write(b"half")
        (leftover,) = (path.name for path in tmp_path.glob(".*"))
    (tmp_path / "update-100.safetensors").unlink()
    (tmp_path / leftover).write_bytes(b"half")
    others = [tmp_path / name for name in ("last.safetensors", "update-x.safetensors", ".hidden", "update-7.part")]
    for path in others:
        path.write_bytes(b"")
    assert updates(tmp_path) == [50]
    sweep(tmp_path)
    assert not (tmp_path / leftover).exists()
    assert all(path.exists() for path in others), "only ours are removed"


def test_sweeping_is_for_every_folder_of_a_run(tmp_path: Path) -> None:
    (tmp_path / f".{'0a' * 8}.part").write_bytes(b"half")
    (tmp_path / ".tmpFxrxRi").write_bytes(b"half")
    sweep(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E01."""
    kept = make(tmp_path, 1, 0)
    validate(kept, 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match=r"update-100.safetensors: cannot be written: No space left"):
        kept.keep(100, 2, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["update-50.safetensors"]


def test_a_strangers_file_is_named(tmp_path: Path) -> None:
    """E08: bytes that are no weights, and weights that say no score."""
    path = tmp_path / "update-3.safetensors"
    path.write_bytes(pickle.dumps(object()))
    with pytest.raises(UserError, match=r"update-3.safetensors: these are no weights that a training kept"):
        list_kept(tmp_path)
    save_file(SMALL.state_dict(), path)
    with pytest.raises(UserError, match=r"update-3.safetensors: these are no weights that a training kept: 'metric'"):
        list_kept(tmp_path)


def test_less_than_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="last is -1"):
        make(tmp_path, -1, 0)
    with pytest.raises(ValueError, match="best is -2"):
        make(tmp_path, 0, -2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["train.keep_last=-1"], r"train.keep_last is -1: allowed is 0 \(off\) or a positive number"),
        (["train.keep_best=-1"], r"train.keep_best is -1: allowed is 0 \(off\) or a positive number"),
        (["train.average=3"], r"train.average is 3: allowed is 0 \(off\) to train.keep_last, which is 0"),
        (["train.average=3", "train.keep_last=2"], r"train.average is 3: .* train.keep_last, which is 2"),
        (["train.ema=1.0"], r"train.ema is 1.0: allowed is 0 \(off\) or 0 < x < 1"),
        (["train.ema=-0.5"], r"train.ema is -0.5"),
    ],
)
def test_settings_that_cannot_be(settings: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_config(compose_values([*CORPUS, *settings]))


def test_settings() -> None:
    """All off by default."""
    default = read_config(compose_values(list(CORPUS))).train
    assert (default.keep_last, default.keep_best, default.average, default.ema) == (0, 0, 0, 0.0)
    given = ["train.keep_last=3", "train.keep_best=2", "train.average=3", "train.ema=0.999"]
    chosen = read_config(compose_values([*CORPUS, *given])).train
    assert (chosen.keep_last, chosen.keep_best, chosen.average, chosen.ema) == (3, 2, 3, 0.999)


def test_what_an_earlier_setting_kept_stays_where_keeping_is_off(tmp_path: Path) -> None:
    validate(make(tmp_path, 3, 0), 7, 5, 9)
    off = make(tmp_path, 0, 0)
    validate(off, 8)
    off.forget_after(150)
    assert updates(tmp_path) == [50, 100, 150]
