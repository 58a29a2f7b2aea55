"""`nmt average`: a run of the mean weights, made beside the old one, that every command can open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import nmt
from nmt.cli.average import default_output
from nmt.cli.main import main
from nmt.compose import compose_values
from nmt.config import read_config
from nmt.data.tokenizer import Tokenizer
from nmt.model.assemble import assemble
from nmt.run import Run, save_weights
from nmt.train.average import average_weights
from nmt.train.kept import Kept
from tests.integration.toy import WORDS
from tests.laws.models import CORPUS, RECURRENT

SETTINGS = (*CORPUS, *RECURRENT, "device=cpu", "train.keep_last=4", "train.metric=bleu")
SCORES = {350: 31.5, 700: 35.25, 1050: 33.0, 1400: 32.0}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """As a training leaves it: random weights of four validations, the best of which are the model's."""
    made = Run(tmp_path / "runs" / "mine")
    values = compose_values([*SETTINGS, f"run={made.path}"])
    made.write_config(values)
    for side in ("source", "target"):
        made.tokenizer_file(side).parent.mkdir(parents=True, exist_ok=True)
        Tokenizer.train(
            WORDS,
            model_type="word",
            vocabulary_size=len(WORDS) + 4,
            character_coverage=1.0,
            byte_fallback=False,
            path=made.tokenizer_file(side),
        )
    kept = Kept(made.last.parent, last=4, best=0, metric="bleu", higher_is_better=True)
    for update, score in SCORES.items():
        torch.manual_seed(update)
        size = len(made.tokenizers()[0])
        model = assemble(read_config(values), source_vocabulary=size, target_vocabulary=size)
        kept.keep(update, score, model)
        if score == max(SCORES.values()):
            save_weights(made.best, model)
    return made


@pytest.fixture
def before(run: Run) -> Iterator[dict[Path, bytes]]:
    """All of the run, which has to be the same at the end of the test."""

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}

    found = files()
    yield found
    assert files() == found


def averaged(run: Run, *updates: int) -> dict[str, torch.Tensor]:
    return average_weights([run.last.parent / f"update-{update}.safetensors" for update in updates])


@pytest.mark.parametrize(
    ("flags", "updates"),
    [
        ([], (350, 700, 1050, 1400)),
        (["--last", "2"], (1050, 1400)),
        (["--best", "2"], (700, 1050)),
        (["--last", "1"], (1400,)),
        (["--best", "4"], (350, 700, 1050, 1400)),
    ],
)
@pytest.mark.usefixtures("before")
def test_the_mean_of_those_asked_for(
    run: Run, capsys: pytest.CaptureFixture[str], flags: list[str], updates: tuple[int, ...]
) -> None:
    assert main(["average", str(run.path), *flags]) == 0
    output = capsys.readouterr()
    made = run.path.with_name("mine-average")
    assert output.out == f"{made}\n"
    assert output.err.splitlines() == [f"averaged: update {update}, bleu {SCORES[update]:.4f}" for update in updates]
    found, expected = load_file(made / "model.safetensors"), averaged(run, *updates)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)


@pytest.mark.usefixtures("before")
def test_the_new_run_is_a_run(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It opens and translates, with the old one gone too, and says itself where it is."""
    out = tmp_path / "new, here (v2)"
    assert main(["average", str(run.path), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert {path.name for path in out.iterdir()} == {"config.yaml", "model.safetensors", "tokenizer"}
    hidden = run.path.rename(tmp_path / "gone")
    translator = nmt.load(out)
    assert len(translator.translate(["ka lo", "mi"])) == 2
    assert translator.config.run == str(out)
    assert Run(out).values() | {"run": ""} == Run(hidden).values() | {"run": ""}
    hidden.rename(run.path)


@pytest.mark.usefixtures("before")
def test_a_trained_run_is_not_written_over(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["average", str(run.path)]) == 0
    capsys.readouterr()
    for out in (run.path, run.path.with_name("mine-average")):
        assert main(["average", str(run.path), "-o", str(out)]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err == (
            f"nmt: error: {out}: there is a trained run here; name another directory by -o OUT, or remove it\n"
        )


def test_a_run_that_kept_nothing(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for path in run.last.parent.iterdir():
        path.unlink()
    assert main(["average", str(run.path)]) == 2
    output = capsys.readouterr()
    assert output.err == (
        f"nmt: error: {run.path}: this run has kept no weights: train with train.keep_last=N or train.keep_best=N\n"
    )
    assert not run.path.with_name("mine-average").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--last", "5"], "--last is 5: allowed is 1 to 4"),
        (["--last", "0"], "--last is 0: allowed is 1 to 4"),
        (["--best", "-1"], "--best is -1: allowed is 1 to 4"),
        (["--best", "7"], "--best is 7: allowed is 1 to 4"),
        (["--best", "1", "--last", "1"], "not allowed with argument --best"),
        (["--last", "two"], "invalid int value: 'two'"),
    ],
)
@pytest.mark.usefixtures("before")
def test_what_cannot_be(run: Run, capsys: pytest.CaptureFixture[str], flags: list[str], message: str) -> None:
    assert main(["average", str(run.path), *flags]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.count("\n") == 1
    assert not run.path.with_name("mine-average").exists()


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["average", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"nmt: error: {tmp_path}: this is no run, it has no config.yaml\n"


def test_a_damaged_file_leaves_no_new_run(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut short, so that nothing can be told of it; or of another model."""
    path = run.last.parent / "update-700.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    assert main(["average", str(run.path)]) == 2
    assert "update-700.safetensors: these are no weights that a training kept" in capsys.readouterr().err
    Kept(run.last.parent, last=9, best=0, metric="bleu", higher_is_better=True).keep(700, 1.0, torch.nn.Linear(2, 3))
    assert main(["average", str(run.path)]) == 2
    assert "these weights are of different models: " in capsys.readouterr().err
    assert not run.path.with_name("mine-average").exists()


def test_where_the_new_run_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the old one, also where its name has to be found out."""
    run = tmp_path / "runs" / "mine.v2"
    (run / "checkpoints").mkdir(parents=True)
    assert default_output(Path("runs/mine.v2/")) == Path("runs/mine.v2-average")
    monkeypatch.chdir(run)
    assert default_output(Path(".")) == tmp_path / "runs" / "mine.v2-average"
    monkeypatch.chdir(run / "checkpoints")
    assert default_output(Path("..")) == tmp_path / "runs" / "mine.v2-average"


def test_a_training_that_has_only_begun_is_not_written_over(run: Run, tmp_path: Path) -> None:
    begun = Run(tmp_path / "begun")
    save_weights(begun.last, torch.nn.Linear(2, 3))
    assert main(["average", str(run.path), "-o", str(begun.path)]) == 2
    assert not begun.config_file.exists()


def test_the_least_loss_is_the_best(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run.write_config(run.values() | {"train": {**run.values()["train"], "metric": "loss"}})
    assert main(["average", str(run.path), "--best", "1"]) == 0
    assert "averaged: update 350" in capsys.readouterr().err
