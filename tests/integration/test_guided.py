"""Guided alignment: links given, or made by two runs, of a language whose right links are known."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import nmt as package
from nmt.align.methods import METHODS
from nmt.run import Run
from tests.integration.test_distributed import started
from tests.integration.test_resume import told
from tests.integration.toy import RECURRENT, SHORT, TRANSFORMER, data, nmt, read, refused, train, write

RIGHT = (
    *(setting for setting in TRANSFORMER if not setting.startswith("position")),
    "position=shaw_sinusoidal",
    "schedule.warmup=30",
    "train.updates=120",
    "train.valid_every=120",
    "alignment.head=1",
    "train.guided_weight=1",
)
FULL = "alignment.full_context=true"
FOUR = (
    "train.updates=4",
    "train.valid_every=2",
    "train.log_every=1",
    "train.accumulate=2",
    "model.decoder.dropout=0.2",
    "train.guided_weight=0.5",
)
TWO = (*RECURRENT, "train.updates=2", "train.valid_every=2", "train.log_every=1")
PIECES = (*TWO, "tokenizer=bpe", "tokenizer.vocabulary_size=40", "tokenizer.byte_fallback=false")
OWN = [setting for setting in SHORT if not setting.startswith("tokenizer")]


@pytest.fixture(scope="module")
def linked(toy: Path) -> Path:
    """The toy corpora, with the right links of `rev` in rev.PART.links."""
    for part in ("train", "big", "test"):
        lengths = [len(line.split()) for line in read(toy / f"rev.{part}.src")]
        write(toy / f"rev.{part}.links", *(" ".join(f"{n - 1 - t}-{t}" for t in range(n)) for n in lengths))
    return toy


@pytest.fixture(scope="module")
def runs(linked: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same training three times, the test set with its right links."""
    made = {}
    guide = f"train.guided_alignment={linked}/rev.big.links"
    for name, settings in {"unguided": (), "guided": (guide,), "full": (guide, FULL)}.items():
        made[name] = tmp_path_factory.mktemp("guided") / name
        train(made[name], *data(linked, "rev"), f"data.test.links={linked}/rev.test.links", *RIGHT, *settings)
    return made


@pytest.fixture(scope="module")
def short(linked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four updates of a recurrent network, in bpe pieces, with two batches an update and dropout."""
    run = tmp_path_factory.mktemp("guided") / "short"
    train(run, *PIECES, *data(linked, "rev", "train"), f"train.guided_alignment={linked}/rev.train.links", *FOUR)
    return run


def test_right_links_teach_what_is_read(runs: dict[str, Path]) -> None:
    """One head reads the word that its target word stands for, in pairs that it was not trained on; left alone, it
    does not."""
    aer = {name: json.loads((run / "evaluation.json").read_text())["aer"] for name, run in runs.items()}
    assert aer["guided"] < 0.15
    assert aer["full"] < 0.1
    assert aer["unguided"] > 0.3


def test_a_run_is_read_as_it_was_trained(runs: dict[str, Path], linked: Path) -> None:
    """With the whole target in sight by its own settings, and otherwise only by an override; translations are the
    same."""
    run = runs["full"]
    full, causal = package.load(run), package.load(run, ["alignment.full_context=false"])
    lines = read(linked / "rev.test.src")
    assert full.translate(lines) == causal.translate(lines)
    assert full.score([(lines[0], "OL AK")]) == causal.score([(lines[0], "OL AK")])
    pairs = [("ka lo mi", "IM OL AK"), ("ka lo mi", "IM OL OL")]
    first = [
        [one.values[:, :, 0] for one in each.read_pairs(pairs, 1, METHODS["attention"])] for each in (full, causal)
    ]
    assert np.abs(first[0][0] - first[0][1]).max() > 1e-3
    np.testing.assert_allclose(*first[1], atol=1e-6)


def test_what_a_training_says(short: Path) -> None:
    """The links' term, of every log line."""
    events = [event for event in told(short) if event["event"] == "train"]
    assert len(events) == 4
    for event in events:
        assert 0.5 < float(str(event["guided"])) < 4
        assert float(str(event["loss"])) > float(str(event["nll"]))


def test_it_goes_on_as_if_it_had_never_stopped(short: Path, linked: Path, tmp_path: Path) -> None:
    """With the links where they now are; other links are refused, and other weights to train to them."""
    run, own = tmp_path / "run", tmp_path / "own.links"
    shutil.copy(linked / "rev.train.links", own)
    guide = f"train.guided_alignment={own}"
    train(run, *PIECES, *data(linked, "rev", "train"), guide, *FOUR, "train.updates=2")
    own.rename(tmp_path / "moved.links")
    assert refused(nmt("train", f"resume={run}"), f"{own}: there is no such file of links, nor {run}/guided.links")
    moved = ("train.updates=4", f"train.guided_alignment={tmp_path}/moved.links")
    assert refused(nmt("train", f"resume={run}", *moved, "alignment.shift=1"), "alignment.shift: a guided training")
    assert refused(nmt("train", f"resume={run}", "train.guided_weight=1"), "train.guided_weight: a training that")
    other = write(tmp_path / "other.links", "", *read(own.with_name("moved.links"))[1:])
    for changed in (f"train.guided_alignment={other}", "train.guided_alignment=null"):
        done = nmt("train", f"resume={run}", changed)
        assert done.code == 2
        assert "the training data are not those that this run was trained on" in done.err
    done = nmt("train", f"resume={run}", *moved)
    assert done.code == 0, done.err
    assert [e for e in told(run) if e["event"] == "train"] == [e for e in told(short) if e["event"] == "train"]
    assert (run / "model.safetensors").read_bytes() == (short / "model.safetensors").read_bytes()


def test_two_processes_are_one(short: Path, linked: Path, tmp_path: Path) -> None:
    job = started(
        linked, tmp_path / "run", *PIECES[len(TWO) :], *TWO, *FOUR, f"train.guided_alignment={linked}/rev.train.links"
    )
    _, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    assert told(tmp_path / "run") == told(short)
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == (short / "model.safetensors").read_bytes()


BAD = [
    (lambda lines: lines[:-1], "rev.train.links has 599 lines but train", "has 600 pairs"),
    (lambda lines: ["9-0", *lines[1:]], "line 1: the link 9-0 lies outside the pair of"),
    (lambda lines: [*lines[:41], "0-0 0:0", *lines[42:]], "line 42: '0:0' is not a link"),
]


@pytest.mark.parametrize(("spoil", *["words", "more"]), [(one[0], one[1], one[-1]) for one in BAD])
def test_links_that_do_not_fit(
    spoil: Callable[[list[str]], list[str]], words: str, more: str, linked: Path, tmp_path: Path
) -> None:
    """H08: told by file and line, before anything is trained or written."""
    links = write(tmp_path / "rev.train.links", *spoil(read(linked / "rev.train.links")))
    run = tmp_path / "run"
    given = (*SHORT, f"run={run}", *data(linked, "rev", "train"), *TWO, f"train.guided_alignment={links}")
    assert refused(nmt("train", *given), words, more)
    assert not run.exists()


def test_links_that_nobody_makes(short: Path, linked: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    given = (*OWN, f"run={run}", *data(linked, "rev", "train"), *FOUR)
    plain = (*given, "tokenizer=word", "tokenizer.vocabulary_size=30", *TWO)
    guide = "train.guided_alignment="
    for settings, words in (
        ((*plain, f"{guide}{tmp_path}/none"), "none: there is no such file of links, nor such a run"),
        ((*plain, f"{guide}{short}"), f"{short}: links are made by two runs; name the other by start=RUN"),
        ((*given, f"start={short}", f"{guide}{tmp_path}"), f"{guide}{tmp_path}: this is no run"),
        ((*given, f"start={short}", f"{guide}{short}"), "this run translates src to trg"),
        ((*plain, f"{guide}{linked}/rev.train.links", FULL), "alignment.full_context: a recurrent decoder"),
        ((*plain[: -len(TWO)], *RIGHT, FULL), "alignment.full_context: only train.guided_alignment trains"),
        ((*plain[: -len(TWO)], *RIGHT, f"{guide}x", "alignment.head=null"), "alignment.head is null, the mean of 2"),
        ((*plain, f"{guide}x", "train.guided_weight=0"), "train.guided_weight is 0.0: allowed is a positive number"),
    ):
        assert refused(nmt("train", *settings), words)
        assert not run.exists()


def test_two_runs_make_the_links(short: Path, linked: Path, tmp_path: Path) -> None:
    """What `nmt align` makes of the training pairs by both; none for a blank pair or one that is too long. Going on
    needs neither run."""
    back, first = tmp_path / "back", shutil.copytree(short, tmp_path / "first")
    turned = [
        f"data.{part}.{side}={linked}/rev.{name}.{suffix}"
        for part, name in (("train", "train"), ("valid", "dev"), ("test", "test"))
        for side, suffix in (("source", "trg"), ("target", "src"))
    ]
    languages = ("data.source_language=trg", "data.target_language=src", f"data.root={linked}")
    train(back, *languages, *turned, *TWO)

    pairs = [list(read(linked / f"rev.train.{side}")) for side in ("src", "trg")]
    pairs[0][3] = ""
    corpus = [write(tmp_path / f"own.{side}", *lines) for side, lines in zip(("src", "trg"), pairs, strict=True)]
    own = [f"data.train.source={corpus[0]}", f"data.train.target={corpus[1]}", "data.filters.max_pieces=8"]
    wanted = tmp_path / "wanted.links"
    done = nmt(
        *("align", first, "--source", corpus[0], "--target", corpus[1], "-o", wanted),
        *("--reverse", back, "--symmetrize", "grow-diag"),
    )
    assert done.code == 0, done.err
    every, translator = read(wanted), package.load(first)
    tokenizers = (translator.source_tokenizer, translator.target_tokenizer)
    long = [
        any(len(one.encode(line)) > 8 for one, line in zip(tokenizers, pair, strict=True))
        for pair in zip(*pairs, strict=True)
    ]
    lines = ["" if skipped else links for skipped, links in zip(long, every, strict=True)]
    assert lines[3] == ""
    assert sum(map(bool, every)) > sum(map(bool, lines)) > 100

    given = (*OWN, *data(linked, "rev", "train"), *own, *FOUR, f"start={first}", f"train.guided_alignment={back}")
    whole, run = tmp_path / "whole", tmp_path / "run"
    done = nmt("train", *given, f"run={whole}")
    assert done.code == 0, done.err
    assert read(Run(whole).guided) == lines
    count = sum(len(line.split()) for line in lines)
    assert f"{whole}/guided.links: {count:,} word links by {first} and {back}, symmetrised by grow-diag" in done.err
    assert nmt("train", *given, f"run={run}", "train.updates=2").code == 0
    for gone in (first, back):
        shutil.rmtree(gone)
    done = nmt("train", f"resume={run}", "train.updates=4")
    assert done.code == 0, done.err
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    Run(run).guided.unlink()
    assert refused(nmt("train", f"resume={run}"), f"{back}: there is no such file of links, nor {run}/guided.links")
