"""`nmt train -m`: a run for every combination, all of them checked before the first, and none trained twice."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import signal
import time
from pathlib import Path

import pytest
from omegaconf import OmegaConf
from yaml import safe_load_all

import nmt.experiment
from nmt.cli.job import KEY, Job, PassedOn
from nmt.cli.sweep import combinations, compose_all
from nmt.compose import read_values
from nmt.data.files import locked
from nmt.train.loop import Trainer
from tests.integration.toy import RECURRENT, SHORT, Done, data, read, refused, write, write_corpora
from tests.integration.toy import nmt as command

FEW = ("model.encoder.hidden_size=16", "train.updates=3", "train.valid_every=3", "train.log_every=1")
ATTENTIONS = "attention=luong_general,none"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The settings of the reversing corpus, whose development and test sets have 5 lines."""
    folder = tmp_path_factory.mktemp("toy")
    write_corpora(folder)
    for part in ("dev", "test"):
        for side in ("src", "trg"):
            write(folder / f"rev.{part}.{side}", *read(folder / f"rev.{part}.{side}")[:5])
    return data(folder, "rev", "train")


@pytest.fixture
def settings(corpus: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A tiny training, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return [*SHORT, *corpus, *RECURRENT, *FEW, "run=sweep"]


def sweep(settings: list[str], *given: str) -> Done:
    return command("train", "-m", *settings, *given)


def untrained(*given: object, **more: object) -> None:
    raise AssertionError("nothing is to be trained here")


def test_a_run_for_each(settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = sweep(settings, ATTENTIONS, "seed=choice(2)")
    assert done.code == 0, done.err
    names = ["attention=luong_general,seed=2", "attention=none,seed=2"]
    assert [line.split("\t")[0] for line in done.lines] == [f"sweep/{name}" for name in names]
    for name, line in zip(names, done.lines, strict=True):
        run = Path("sweep") / name
        scores = json.loads((run / "evaluation.json").read_text(encoding="utf-8"))
        assert line.split("\t")[1] == f"{scores['bleu']['score']:.2f}"
        values = read_values(run / "config.yaml")
        assert (values["run"], values["seed"]) == (str(run), 2)
        assert values["attention"]["_target_"].endswith("NoAttention") == ("none" in name)
    assert [path.name for path in tmp_path.iterdir()] == ["sweep"], "Hydra leaves no outputs, no multirun"
    assert not list(tmp_path.rglob(".hydra"))

    monkeypatch.setattr(nmt.experiment, "run_experiment", untrained)
    again = sweep(settings, "seed=choice(2)", "attention=none,luong_general")
    assert (again.code, again.lines) == (0, done.lines[::-1])
    assert "2 trainings, 0 to be done" in again.err
    words = ("attention=none,seed=2: it was trained otherwise (train.patience 10 -> 3)", "name another run=FOLDER")
    assert refused(sweep(settings, "attention=bahdanau,none", "seed=1,2", "train.patience=3"), *words)


def test_a_failure_does_not_stop_the_others(settings: list[str]) -> None:
    """A learning rate beyond all sense makes the loss infinite."""
    others = [one for one in settings if not one.startswith("optimizer.lr=")]
    done = sweep(others, "optimizer.lr=1e38,0.01", "train.bad_steps=1", "train.clip_norm=0")
    assert done.code == 1
    bad, good = [line.split("\t") for line in done.lines]
    assert bad == ["sweep/optimizer.lr=1e+38", "-"]
    assert float(good[1]) >= 0
    assert "optimizer.lr=1e+38: failed: training diverged" in done.err
    assert "1 of 2 trainings failed: optimizer.lr=1e+38: training diverged" in done.err.splitlines()[-1]


def test_what_nobody_foresaw_does_not_either(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its traceback."""

    def broken(*given: object, **more: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(nmt.experiment, "run_experiment", broken)
    done = sweep(settings, "seed=1,2")
    assert (done.code, done.lines) == (1, ["sweep/seed=1\t-", "sweep/seed=2\t-"])
    assert done.err.count("Traceback") == 2
    assert "2 of 2 trainings failed: seed=1: RuntimeError: out of memory; seed=2: " in done.err.splitlines()[-1]


def test_the_same_command_goes_on(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    make_update = Trainer.make_update
    for number, code, update in ((signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 2)):

        def signalled(self: Trainer, rows: list[list[int]], number: signal.Signals = number) -> None:
            make_update(self, rows)
            signal.raise_signal(number)

        monkeypatch.setattr(Trainer, "make_update", signalled)
        stopped = sweep(settings, "seed=1,2")
        assert (stopped.code, stopped.out) == (code, "")
        assert f"stopped after update {update}" in stopped.err
        assert not Path("sweep/seed=2").exists(), "the sweep ends with the training that was under way"
    monkeypatch.setattr(Trainer, "make_update", make_update)
    done = sweep(settings, "seed=1,2")
    assert done.code == 0, done.err
    assert done.err.count("going on after update 2") == 1
    alone = command("train", *settings, "seed=1", "run=alone")
    assert alone.code == 0, alone.err
    for name in ("model.safetensors", "evaluation.json"):
        assert (Path("sweep/seed=1") / name).read_bytes() == (Path("alone") / name).read_bytes()


def test_without_a_test_set(settings: list[str]) -> None:
    """Nothing says that such a run is finished: it is gone on with, and there is nothing to do."""
    for told in ("begins", "already at update 3"):
        done = sweep(settings, "seed=choice(1)", "data.test=null")
        assert (done.code, done.lines) == (0, ["sweep/seed=1\t-"])
        assert told in done.err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["seed=1,2", "train.patiens=1"], ["train.patiens: there is no such key (did you mean train.patience?)"]),
        (["seed=1,two"], ["seed=two: seed is 'two': allowed is a whole number"]),
        (["attention=none,bahdanou"], ["attention=bahdanou: ", "did you mean bahdanau?"]),
        (["attention=none,transformer"], ["attention=transformer: attention.heads is "]),
        (["model.decoder.layers=1,0"], ["model.decoder.layers=0: "]),
        (["data.test.links=gone,away"], ["data.test.links=gone: gone: No such file"]),
        (["seed=1,2", "seed=3"], ["seed=1,2: seed is given twice"]),
        (["run=a,b", "seed=1,2"], ["run=a,b: run is the sweep's one folder"]),
        (["seed=1"], ["-m: no setting has several values"]),
        (["seed=interval(1,2)"], ["seed=interval(1,2): an interval has no values"]),
        (["attention=glob(x*)"], ["attention=glob(x*): there are no values here"]),
        (["seed=1,2", "resume=sweep"], ["resume=RUN is for one run"]),
        (["seed=1,2", "hydra.sweep.dir=here"], ["hydra.sweep.dir=here: of Hydra's own settings a sweep takes"]),
        (["seed=1,2", "--quick"], ["--quick"]),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(
    settings: list[str], tmp_path: Path, given: list[str], words: list[str]
) -> None:
    assert refused(sweep(settings, *given), *words)
    assert not list(tmp_path.iterdir())


def test_a_launcher_that_is_not_there(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nmt.experiment, "run_experiment", untrained)
    done = sweep(settings, "seed=1,2", "hydra/launcher=slurn")
    assert (done.code, done.out) == (2, "")
    last = done.err.splitlines()[-1]
    assert "Could not find 'hydra/launcher/slurn' Available options in 'hydra/launcher': basic" in last
    assert "path" not in last


def test_the_folder_is_the_sweeps_alone(settings: list[str], tmp_path: Path) -> None:
    with locked(tmp_path / "sweep" / ".sweep", "nmt train -m"):
        done = sweep(settings, "seed=1,2")
    assert done.code == 2
    assert done.err.splitlines()[-1] == "nmt: error: sweep/.sweep: another nmt train -m is training here"
    write(tmp_path / "sweep" / "config.yaml", "run: sweep")
    assert refused(sweep(settings, "seed=1,2"), "run=sweep: this is a run")
    experiments = "experiment=demo_recurrent,demo_transformer"
    assert refused(command("train", "-m", experiments), "run=FOLDER must be given: there are several here, runs/demo_")


def test_configurations_are_shown(settings: list[str], tmp_path: Path) -> None:
    done = sweep(settings, "train.patience=range(3,5)", "data.test.links='a,b'", "--print-config")
    assert done.code == 0, done.err
    shown = list(safe_load_all(done.out))
    assert [values["run"] for values in shown] == ["sweep/train.patience=3", "sweep/train.patience=4"]
    assert [values["train"]["patience"] for values in shown] == [3, 4]
    assert {values["data"]["test"]["links"] for values in shown} == {"a,b"}
    assert not list(tmp_path.iterdir())


def differing(*overrides: str, config_dir: Path | None = None) -> list[list[str]]:
    """The settings of each combination."""
    return list(combinations(overrides, config_dir).values())


def test_what_is_one_value() -> None:
    """A comma in quotes or brackets separates nothing, nor does one in a text that Hydra's grammar can't read."""
    for one in ("data.root='a,b'", "data.root=[a,b]", "data.root=a,(b", "train.updates=5,"):
        assert differing(one, "seed=1,2") == [[one, "seed=1"], [one, "seed=2"]]
    assert differing("data.root='a,b',c") == [["data.root='a,b'"], ["data.root=c"]]


def test_sweeps_in_every_form(tmp_path: Path) -> None:
    assert differing("++seed=1,2,1") == [["seed=1"], ["seed=2"]]
    assert differing("seed=choice(7)") == [["seed=7"]]
    assert differing("position=glob(sh*)") == [["position=shaw"], ["position=shaw_sinusoidal"]]
    (tmp_path / "position").mkdir()
    write(tmp_path / "position" / "shared.yaml")
    found = differing("position=glob(sha*)", config_dir=tmp_path)
    assert [one for (one,) in found] == ["position=shared", "position=shaw", "position=shaw_sinusoidal"]


def test_names_are_fit_for_a_path(tmp_path: Path) -> None:
    """Whatever the values are, and however the settings are ordered."""
    names = list(combinations(["optimizer.lr=0.1,1e-3", "data.root='/a b','/a_b'"], None))
    assert len(set(names)) == 4
    assert all("/" not in name and " " not in name for name in names)
    assert set(names) == set(combinations(["data.root='/a_b','/a b'", "optimizer.lr=1e-3,0.1"], None))


def test_a_job_in_another_process(settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It gets there by pickle, and what it says goes to a file; stderr gets two lines."""
    _, every = compose_all(combinations([*settings, "seed=1,2"], None), None)
    (tmp_path / "sweep").mkdir()
    job = pickle.loads(pickle.dumps(Job(every, process=-1)))
    assert job(OmegaConf.create({KEY: "seed=2"})) == ("seed=2", "")
    assert read_values(tmp_path / "sweep" / "seed=2" / "config.yaml")["seed"] == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "seed=2: begins  (log: sweep/seed=2.log)\nseed=2: finished\n"
    assert "update 3/3" in (tmp_path / "sweep" / "seed=2.log").read_text(encoding="utf-8")


def test_a_signal_reaches_other_processes(settings: list[str], tmp_path: Path) -> None:
    """The training saves and its process goes on, or joblib would kill the others; without any it raises at once."""
    endless = ("train.updates=100000", "train.valid_every=100000")
    _, every = compose_all(combinations([*settings, "seed=1,2", *endless], None), None)
    (tmp_path / "sweep").mkdir()
    job, log = Job(every, process=-1), tmp_path / "sweep" / "seed=1.log"
    given = (OmegaConf.create({KEY: "seed=1"}),)
    child = multiprocessing.get_context("spawn").Process(target=job, args=given, daemon=True)
    child.start()
    while child.is_alive() and not (log.exists() and "update 1/" in log.read_text(encoding="utf-8")):
        time.sleep(0.05)
    with PassedOn() as stop:
        signal.raise_signal(signal.SIGTERM)
    child.join(60)
    assert (stop.number, child.exitcode) == (signal.SIGTERM, 0)
    assert "stopped after update" in log.read_text(encoding="utf-8")
    assert (tmp_path / "sweep" / "seed=1" / "checkpoints" / "last.safetensors").is_file()
    with pytest.raises(KeyboardInterrupt), PassedOn():
        signal.raise_signal(signal.SIGINT)


def test_joblib(settings: list[str]) -> None:
    """Two trainings at a time, in processes that Hydra's launcher plugin starts."""
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    alone = command("train", *settings, "seed=2", "run=alone")
    done = sweep(settings, "seed=1,2", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert (alone.code, done.code) == (0, 0), done.err
    assert [line.split("\t")[0] for line in done.lines] == ["sweep/seed=1", "sweep/seed=2"]
    assert Path("sweep/seed=2/model.safetensors").read_bytes() == Path("alone/model.safetensors").read_bytes()
    assert "update 3/3" in Path("sweep/seed=2.log").read_text(encoding="utf-8")
