"""`nmt compare` as a whole: two kinds are trained, and what the table says is what the other commands say."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

import nmt.experiment
from nmt.cli.compare import show
from nmt.compare.kinds import Kind
from nmt.compare.training import Training
from nmt.errors import UserError
from tests.integration.toy import RECURRENT, SHORT, TRANSFORMER, Done, data, read, refused, write, write_corpora
from tests.integration.toy import nmt as command

FEW = ("model.encoder.hidden_size=16", "train.updates=4", "train.valid_every=4", "train.log_every=2")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reversing corpus with its gold links, target word j being source word n - 1 - j; tests of 13 lines."""
    folder = tmp_path_factory.mktemp("toy")
    write_corpora(folder)
    for part in ("dev", "test"):
        for side in ("src", "trg"):
            write(folder / f"rev.{part}.{side}", *read(folder / f"rev.{part}.{side}")[:13])
    sizes = [len(line.split()) for line in read(folder / "rev.test.src")]
    write(folder / "rev.test.gold", *(" ".join(f"{n - 1 - j}-{j}" for j in range(n)) for n in sizes))
    return folder


def compare(toy: Path, folder: Path, *flags: str, more: tuple[str, ...] = ()) -> Done:
    corpus = ["data=files", *data(toy, "rev", "train"), f"data.test.links={toy}/rev.test.gold"]
    settings = [*SHORT, *corpus, *RECURRENT, *FEW, *more]
    return command("compare", "--experiment", "demo", "--folder", folder, *flags, *settings)


def test_two_kinds(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kinds"
    done = compare(toy, folder, "--vary", "attention=none,luong_general")
    assert done.code == 0, done.err
    assert [line.split()[1] for line in done.lines] == ["attention", "-------------", "none", "luong_general"]
    assert "2 cells, 2 to be trained" in done.err
    fixed, attended = csv.DictReader(read(folder / "table.csv"))
    assert (fixed["aer"], fixed["entropy"]) == ("", ""), "a fixed vector reads nothing"
    run = folder / "attention=luong_general,seed=1"
    scores = json.loads((run / "evaluation.json").read_text())
    assert float(attended["bleu"]) == scores["bleu"]["score"]
    assert f"{int(float(attended['parameters'])):,} parameters" in (folder / f"{run.name}.log").read_text()
    assert 0 < float(attended["entropy"]) < 2.31, "at most ln 10: nine words and EOS"
    assert_aer_is_that_of_the_commands(run, toy, tmp_path / "links", float(attended["aer"]))
    assert command("evaluate", run, "--json").out.strip() == json.dumps(scores, indent=2)
    assert f"AER   {scores['aer']:.4f}\n" in (folder / f"{run.name}.log").read_text()

    def untrained(self: Training) -> bool:
        raise AssertionError("finished cells are not trained again")

    monkeypatch.setattr(Training, "goes_on", untrained)
    again = compare(toy, folder, "--vary", "attention=none,luong_general")
    assert (again.code, again.out) == (0, done.out)
    assert refused(compare(toy, folder, "--vary", "attention=none", more=("train.updates=5",)), "train.updates 4 -> 5")


def assert_aer_is_that_of_the_commands(run: Path, toy: Path, links: Path, error: float) -> None:
    sides = ("--source", toy / "rev.test.src", "--target", toy / "rev.test.trg")
    assert command("align", run, *sides, "--format", "pharaoh", "-o", links).code == 0
    found = json.loads(command("aer", "--gold", toy / "rev.test.gold", "--links", links, "--json").out)
    assert error == pytest.approx(found["aer"])


def test_scores_are_written_last(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training that is stopped in its last second is not taken for a finished one."""

    def full(*given: object) -> None:
        raise UserError("no space left")

    monkeypatch.setattr(nmt.experiment, "write_export", full)
    done = command("train", *SHORT, *data(toy, "rev", "train"), *RECURRENT, *FEW, f"run={tmp_path / 'run'}")
    assert (done.code, (tmp_path / "run" / "translations" / "test.txt").exists()) == (2, True)
    assert not (tmp_path / "run" / "evaluation.json").exists()


def test_a_reference_that_cannot_be_read_is_told_before_training(toy: Path, tmp_path: Path) -> None:
    """Translating cuts a source that is too long; an alignment of all its words can't be had."""
    for side, word in (("src", "ka"), ("trg", "AK")):
        write(tmp_path / f"long.{side}", " ".join([word] * 20))
    write(tmp_path / "long.gold", "0-0")
    test = [f"data.test.{key}={tmp_path}/long.{suffix}" for key, suffix in (("source", "src"), ("target", "trg"))]
    links = f"data.test.links={tmp_path}/long.gold"
    run = tmp_path / "run"
    done = command("train", *SHORT, *data(toy, "rev", "train"), *TRANSFORMER, *test, links, f"run={run}")
    assert done.err.splitlines()[-1].startswith("nmt: error: position.maximum is 16 and the data have a sentence of 21")
    assert not run.exists()


def test_failures_are_told_and_the_rest_is_shown(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Training, "command", lambda self, cell: [sys.executable, "-c", "exit('nmt: error: no luck')"])
    done = compare(toy, tmp_path / "kinds", "--vary", "attention=none,bahdanau")
    assert done.code == 1
    assert [line.split("|")[3].strip() for line in done.lines[2:]] == ["failed", "failed"]
    told = "2 of 2 trainings failed: attention=none,seed=1: exit code 1: no luck; attention=bahdanau,seed=1: exit"
    assert told in done.err.splitlines()[-1]
    assert json.loads((tmp_path / "kinds" / "comparison.json").read_text())["commands"][0].startswith("nmt compare")


@pytest.mark.parametrize(
    ("flags", "more", "words"),
    [
        (("--vary", "attention="), (), ("--vary attention=: there are no values",)),
        (("--vary", "attention=none,bahdanou"), (), ("attention=bahdanou", "did you mean bahdanau?")),
        (("--vary", "attention=none"), ("seed=2",), ("seed is set by --seeds",)),
        (("--vary", "attention=none", "--jobs", "0"), (), ("--jobs is 0",)),
        (("--vary", "attention=none"), ("data.test.links=gone",), ("gone: No such file",)),
        ((), (), ("--vary",)),
    ],
)
def test_mistakes(toy: Path, tmp_path: Path, flags: tuple[str, ...], more: tuple[str, ...], words: list[str]) -> None:
    assert refused(compare(toy, tmp_path / "kinds", *flags, more=more), *words)
    assert not (tmp_path / "kinds").exists()


def test_an_experiment_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("compare", "--experiment", "demos", "--vary", "attention=none")
    assert refused(done, "experiment=demos", "did you mean demo")
    assert not list(tmp_path.iterdir())


def test_a_terminal_gets_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    show([Kind((("attention", "[none]"),), (), 1, (), ())])
    output = capsys.readouterr().out
    assert "┃" in output
    assert "[none]" in output, "names are no markup"
