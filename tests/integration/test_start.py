"""`nmt train start=RUN`: a new run that begins with RUN's network, tokenizers and best weights."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file

import nmt as package
from nmt.data.tokenizer import Tokenizer
from nmt.run import Run
from nmt.settings import BROUGHT
from tests.integration.toy import RECURRENT, SHORT, TRANSFORMER, WORDS, Done, data, nmt, refused, train

TWO = ("train.updates=2", "train.valid_every=2")
OWN = [setting for setting in SHORT if not setting.startswith("tokenizer")]  # a started training has no say in these


@pytest.fixture(scope="module")
def base(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `rev`, recurrent, of sizes that no default has."""
    run = tmp_path_factory.mktemp("start") / "base"
    train(run, *data(toy, "rev", "train"), *RECURRENT, *TWO)
    return run


def start(base: Path, run: Path, *settings: str) -> Done:
    """`nmt train start=BASE` as a user would type it, without a word on the model."""
    return nmt("train", *OWN, f"start={base}", f"run={run}", *TWO, *settings)


def composed(*settings: str) -> dict[str, Any]:
    """What --print-config shows."""
    done = nmt("train", "--print-config", *settings)
    assert done.code == 0, done.err
    values: dict[str, Any] = yaml.safe_load(done.out)
    return values


def network(values: dict[str, Any]) -> dict[str, Any]:
    """The sections that a run brings; a recurrent one has no positions."""
    return {name: values.get(name) for name in BROUGHT}


def same(one: Path, other: Path, name: str) -> bool:
    return (one / name).read_bytes() == (other / name).read_bytes()


@pytest.mark.parametrize("setting", ["train.ema=0", "train.ema=0.99"])
def test_it_begins_with_the_runs_weights_and_tokenizers(base: Path, toy: Path, tmp_path: Path, setting: str) -> None:
    """On other data. Updates of size 0 leave the first weights, which are the moving average's too."""
    run = tmp_path / "run"
    done = start(base, run, *data(toy, "mono", "train"), "optimizer.lr=0", "seed=5", setting)
    assert done.code == 0, done.err
    assert f"starts from {base}: its tokenizers and its best weights" in done.err
    for name in ("model.safetensors", "tokenizer/source.model", "tokenizer/target.model"):
        assert same(run, base, name), name
    values, before = Run(run).values(), Run(base).values()
    assert network(values) == network(before)
    assert (values["start"], values["seed"]) == (str(base), 5)
    assert package.load(run).translate(["ka lo"]) == package.load(base).translate(["ka lo"])


def test_it_trains(base: Path, toy: Path, tmp_path: Path) -> None:
    """And leaves the run that it started from as it was."""
    before = {path: path.read_bytes() for path in base.rglob("*") if path.is_file()}
    assert start(base, tmp_path / "run", *data(toy, "mono", "train"), "optimizer.lr=0.01").code == 0
    assert not same(tmp_path / "run", base, "model.safetensors")
    assert {path: path.read_bytes() for path in base.rglob("*") if path.is_file()} == before


def test_it_is_resumed_without_the_run_that_it_started_from(base: Path, toy: Path, tmp_path: Path) -> None:
    """To the last bit as if it had never stopped."""
    first = shutil.copytree(base, tmp_path / "first")
    given = (*data(toy, "mono", "train"), "optimizer.lr=0.01", "model.decoder.dropout=0.2")
    assert start(first, tmp_path / "whole", *given, "train.updates=4").code == 0
    assert start(first, tmp_path / "stopped", *given).code == 0
    shutil.rmtree(first)
    done = nmt("train", f"resume={tmp_path / 'stopped'}", "train.updates=4")
    assert done.code == 0, done.err
    assert "starts from" not in done.err
    whole, resumed = (load_file(Run(tmp_path / name).last) for name in ("whole", "stopped"))
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert same(tmp_path / "whole", tmp_path / "stopped", "model.safetensors")


def test_an_experiment_says_all_but_what_the_network_is(base: Path) -> None:
    values = composed("experiment=demo_recurrent", f"start={base}", "optimizer.lr=0.5", "run=runs/new")
    before, experiment = Run(base).values(), composed("experiment=demo_recurrent")
    assert network(values) == network(before)
    for name in ("data", "train", "schedule", "search"):
        assert values[name] == experiment[name], name
    assert (values["optimizer"]["lr"], values["run"]) == (0.5, "runs/new")


def test_an_experiment_may_name_the_start(base: Path, tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "tune.yaml").write_text(
        f"# @package _global_\ndefaults: [override /data: demo, override /model: transformer]\nstart: {base}\n"
    )
    values = composed("--config-dir", str(tmp_path), "experiment=tune", "model.decoder.dropout=0.3")
    assert values["model"]["decoder"].pop("dropout") == 0.3
    before = Run(base).values()
    del before["model"]["decoder"]["dropout"]
    assert network(values) == network(before)


def test_settings_inside_the_network(base: Path) -> None:
    """They reach what refers to them, as in any other training; start=null starts from nothing."""
    values = composed(f"start={base}", "data=demo", "++model.decoder.dropout=0.3", "attention.dropout=0.4")
    assert values["model"]["decoder"]["dropout"] == 0.3
    assert values["model"]["encoder"] == Run(base).values()["model"]["encoder"]
    assert values["attention"]["dropout"] == values["model"]["decoder"]["attention"]["dropout"] == 0.4
    assert composed("start=null", "data=demo", "model=transformer") == composed("data=demo", "model=transformer")


def test_settings_inside_a_transformer(toy: Path, tmp_path: Path) -> None:
    """Its decoder's self-attention is its encoder's unless it has a setting of its own."""
    run = tmp_path / "run"
    train(run, *data(toy, "rev", "train"), *TRANSFORMER, *TWO)
    key = "self_attention.head.dropout"
    values = composed(f"start={run}", "data=demo", f"model.encoder.{key}=0.3")
    assert values["model"]["decoder"]["self_attention"]["head"]["dropout"] == 0.3
    values = composed(f"start={run}", "data=demo", f"model.encoder.{key}=0.3", f"model.decoder.{key}=0.2")
    assert values["model"]["encoder"]["self_attention"]["head"]["dropout"] == 0.3
    assert values["model"]["decoder"]["self_attention"]["head"]["dropout"] == 0.2


@pytest.mark.parametrize(
    "choice",
    [
        "model=transformer",
        "attention=transformer",
        "attention=bahdanau",
        "attention/normalizer=sparsemax",
        "attention/score@attention.score=dot",
        "position=learned",
        "wiring=null",
        "~model.word_dropout",
        "tokenizer=word",
        "tokenizer.vocabulary_size=30",
    ],
)
def test_what_the_run_brings_cannot_be_chosen(base: Path, tmp_path: Path, choice: str) -> None:
    assert refused(start(base, tmp_path / "run", "data=demo", choice), f"{choice}: start={base} brings its own")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("model.decoder.hidden_size=65", ("is (64, 64), the configuration asks for (65, 64)",)),
        ("model.embedding_size=31", ("is (", ", 32), the configuration asks for (", ", 31)")),
        ("model.decoder.layers=2", ("these weights are of another model", "is on one side only")),
    ],
)
def test_another_size_is_refused(base: Path, toy: Path, tmp_path: Path, setting: str, words: tuple[str, ...]) -> None:
    """Before data are read, and nothing is made."""
    done = start(base, tmp_path / "run", *data(Path("/nowhere"), "rev"), setting)
    assert refused(done, f"start={base}", *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("model.decoder.dropuot=0.1", "model.decoder.dropuot"),
        ("model.dropout=0.1", "model.dropout: there is no such key"),
        ("model.encoder=5", "model.encoder is 5"),
        ("start=5", "start is 5: allowed is a text"),
    ],
)
def test_misspelt_settings(base: Path, tmp_path: Path, setting: str, words: str) -> None:
    assert refused(start(base, tmp_path / "run", "data=demo", setting), words)


def test_what_is_no_run_to_start_from(base: Path, toy: Path, tmp_path: Path) -> None:
    """Nothing, a run without weights, and the run itself, by another name too."""
    given = data(toy, "mono", "train")
    assert refused(start(tmp_path / "none", tmp_path / "run", *given), f"start={tmp_path}/none: this is no run")
    empty = shutil.copytree(base, tmp_path / "empty")
    (empty / "model.safetensors").unlink()
    assert refused(start(empty, tmp_path / "run", *given), f"start={empty}: this run has no model.safetensors")
    run = shutil.copytree(base, tmp_path / "itself")
    for name in (run, run / ".." / "itself"):
        assert refused(start(run, name, *given), f"start={run}: this is the run to be trained")


@pytest.mark.parametrize("side", ["source", "target"])
def test_another_tokenizer_than_the_weights_is_refused(base: Path, toy: Path, tmp_path: Path, side: str) -> None:
    """As many pieces, and other ones: at every use of the run, by name."""
    run = shutil.copytree(base, tmp_path / "base")
    file = run / "tokenizer" / f"{side}.model"
    size = len(Tokenizer.load(file))
    words = [f"{word}{number}" for number in range(size) for word in WORDS]
    other = Tokenizer.train(words, model_type="word", vocabulary_size=size, path=file)
    assert len(other) == size, "the sizes do not tell"
    told = f"{file}: this is not the {side} tokenizer that {run / 'model.safetensors'} was trained with"
    assert refused(nmt("translate", run, stdin=b"ka lo\n"), told)
    assert refused(start(run, tmp_path / "run", *data(toy, "mono", "train")), f"start={told}")
    assert refused(nmt("train", f"resume={run}"), told)
    assert not (tmp_path / "run").exists()


def test_a_comparison_may_start_from_a_run(base: Path, toy: Path, tmp_path: Path) -> None:
    """Its cells know what the run has brought: a second call finds them trained, and trains nothing."""
    unlinked = ("data.valid.links=null", "data.test.links=null")
    settings = [*OWN, f"start={base}", *TWO, *data(toy, "rev", "train"), *unlinked]
    call = ("compare", "--experiment", "demo_recurrent", "--vary", "optimizer.lr=0.1", "--folder", str(tmp_path / "c"))
    for trained in (1, 0):
        done = nmt(*call, *settings)
        assert done.code == 0, done.err
        assert f"1 cells, {trained} to be trained" in done.err
