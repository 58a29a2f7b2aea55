"""Which layer, head and row are the alignment: by gold, or by the agreement of two directions."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import nmt
from nmt.align.record import View
from nmt.align.select import keep_choice, rank_by_agreement, rank_by_gold
from nmt.cli.main import main
from nmt.compose import compose_values
from nmt.data.pharaoh import Links
from nmt.errors import UserError
from nmt.run import Run
from tests.align.conftest import ReversingModel
from tests.laws.models import CASES, CORPUS

RIGHT = View("attention", 1, 2, 1)
LINES = ["", "ka lo mi", "tu re", "lo mitu re kala", ""]
PAIRS = [(line, line[::-1]) for line in LINES]


def reversed_gold(words: int) -> Links:
    links = frozenset((words - 1 - t, t) for t in range(words))
    return Links(links, links)


GOLD = [reversed_gold(len(line.split())) for line in LINES]


class PromptModel(ReversingModel):
    """Reads the same, in layer 0 of one head, and at once."""

    heads = 1
    place, delay = (0, 0), 0


def test_the_head_that_reads_the_word_is_first_with_its_shift(reversing_model: ReversingModel) -> None:
    ranked = rank_by_gold(reversing_model, PAIRS, GOLD)
    assert (ranked[0].view, ranked[0].score.aer) == (RIGHT, 0.0)
    assert len(ranked) == 2 * 4 * 2
    errors = [one.score.aer for one in ranked]
    assert errors == sorted(errors)
    assert ranked[1].view == View("attention", 1, None, 1), "the mean of its layer reads the word too"
    assert errors[1] == 0


def test_two_directions_are_chosen_together(reversing_model: ReversingModel) -> None:
    """The one is right in layer 1, head 2, a row late; the other in layer 0 at once. Neither is told."""
    ranked = rank_by_agreement(reversing_model, PromptModel(), PAIRS)
    assert ranked[0] == (RIGHT, View("attention", 0, 0, 0), 1.0)
    shares = [one.agreement for one in ranked]
    assert shares == sorted(shares, reverse=True)
    assert {one.view for one in ranked} == {one.view for one in rank_by_gold(reversing_model, PAIRS, GOLD)}


def test_agreement_by_hand(reversing_model: ReversingModel) -> None:
    """Two words: 1-0 0-1 by both. Three and two: 2-0 1-1 by the one, 0-1 1-0 by the other, which counts from its own
    last word. So 2 x 2 / (4 + 4)."""
    ranked = rank_by_agreement(reversing_model, PromptModel(), [("ka lo", "ol ak"), ("ka lo mi", "im ol")])
    assert ranked[0] == (RIGHT, View("attention", 0, 0, 0), 0.5)


def test_there_must_be_something_to_choose_by(reversing_model: ReversingModel) -> None:
    with pytest.raises(ValueError, match="1 sentences of gold links, but 2 of predicted"):
        rank_by_gold(reversing_model, PAIRS[1:3], GOLD[:1])
    for ranking in (
        lambda: rank_by_gold(reversing_model, [("", "b")], [reversed_gold(0)]),
        lambda: rank_by_agreement(reversing_model, reversing_model, []),
    ):
        with pytest.raises(UserError, match="no pair with text on both sides"):
            ranking()


def test_a_choice_stays_in_the_run(tmp_path: Path) -> None:
    """And nothing else of its settings changes."""
    run = Run(tmp_path)
    values = compose_values([*CORPUS, *CASES["transformer-pre-sinusoidal"], f"run={tmp_path}"])
    del values["alignment"]["method"]  # as in runs that were trained before there were methods
    run.write_config(values)
    assert run.config().alignment.method == "attention"
    keep_choice(run, View("attention", 1, None, 1))
    alignment = run.config().alignment
    assert (alignment.method, alignment.layer, alignment.head, alignment.shift) == ("attention", 1, None, 1)
    assert {**run.values(), "alignment": values["alignment"]} == values
    assert yaml.safe_load(run.config_file.read_text())["alignment"]["head"] is None


def test_what_links_have_trained_stays_the_choice(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    run.write_config(compose_values([*CORPUS, *CASES["recurrent-luong_general-gru"], "train.guided_alignment=links"]))
    before = run.config_file.read_bytes()
    with pytest.raises(UserError, match=r"run: train\.guided_alignment trained this run's choice to links"):
        keep_choice(run, View("attention", 0, 0, 1))
    assert run.config_file.read_bytes() == before


@pytest.fixture
def two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RUN and RUN2 with settings alone, and pairs with their gold links, one of them blank."""
    monkeypatch.chdir(tmp_path)
    models = {"RUN": ReversingModel(), "RUN2": PromptModel()}
    monkeypatch.setattr(nmt, "load", lambda run, overrides=(): models[str(run)])
    for name in models:
        turned = ["data.source_language=yy", "data.target_language=xx"] if name == "RUN2" else []
        settings = [*CORPUS, *turned, *CASES["transformer-pre-sinusoidal"], f"run={name}"]
        Run(Path(name)).write_config(compose_values(settings))
        Run(Path(name)).best.touch()
    Path("s").write_text("ka lo mi\n\ntu re\n", encoding="utf-8")
    Path("t").write_text("im ol ak\n\ner ut\n", encoding="utf-8")
    Path("gold").write_text("2-0 1-1 0p2\n\n1-0 0-1\n", encoding="utf-8")
    return tmp_path


SELECT = ["align", "RUN", "--select", "--source", "s", "--target", "t"]


@pytest.mark.usefixtures("two_runs")
def test_the_command_ranks_by_gold_and_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SELECT, "--gold", "gold"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["AER", "F1", "layer", "head", "shift"]
    assert lines[1].split() == ["0.0000", "1.0000", "1", "2", "1"]
    assert lines[-2:] == ["chosen on s, t by gold", "RUN: attention, layer 1, head 2, shift 1"]
    assert Run(Path("RUN")).config().alignment.head is None, "nothing is changed without --record"
    assert main([*SELECT, "--gold", "gold", "--record"]) == 0
    assert capsys.readouterr().out.endswith("RUN: attention, layer 1, head 2, shift 1, recorded\n")
    alignment = Run(Path("RUN")).config().alignment
    assert (alignment.layer, alignment.head, alignment.shift) == (1, 2, 1)


@pytest.mark.usefixtures("two_runs")
def test_the_command_ranks_by_agreement_and_records_in_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SELECT, "--reverse", "RUN2", "--record"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["1.0000", "1", "2", "1", "0", "0", "0"]
    assert lines[-3] == "chosen on s, t by the agreement with RUN2"
    assert Run(Path("RUN")).config().alignment.head == 2
    assert Run(Path("RUN2")).config().alignment.layer == 0


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--select needs --gold LINKS or --reverse RUN2"),
        (["--gold", "gold", "--reverse", "RUN2"], "one of the two"),
        (["--gold", "gold", "--layer", "0"], "--layer does not go with --select"),
        (["--gold", "gold", "-o", "out"], "--output does not go with --select"),
        (["--gold", "t"], "t, line 1: 'im' is not a link"),
        (["--gold", "short"], "short has links of 1 sentences, and there are 3 pairs"),
        (["--gold", "empty"], "empty has no link: nothing to choose by"),
        (
            ["--gold", "wide"],
            "wide, line 3: the link 2-0 lies outside the pair of 2 source and 2 target words, counted from 0",
        ),
    ],
)
def test_mistakes_are_told_in_a_line(flags: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("short").write_text("0-0\n", encoding="utf-8")
    Path("empty").write_text("\n\n\n", encoding="utf-8")
    Path("wide").write_text("\n\n2-0\n", encoding="utf-8")
    assert main([*SELECT, *flags]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), message in err) == ("", 1, True), err


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize("flags", [["--gold", "gold"], ["--reverse", "RUN2"]])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("train.guided_alignment=links", "train.guided_alignment trained this run's choice to links"),
        ("alignment.method=erasure", "it aligns by erasure, and --select ranks attention alone"),
    ],
)
def test_a_choice_that_stays_is_told_before_any_is_ranked(
    flags: list[str], setting: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And of two runs neither is changed."""
    name = "RUN2" if "RUN2" in flags else "RUN"
    run = Run(Path(name))
    section, _, value = setting.partition("=")
    part, key = section.split(".")
    values = run.values()
    run.write_config({**values, part: {**values[part], key: value}})
    nmt.load(name).alignment = run.config().alignment
    before = [Run(Path(other)).config_file.read_bytes() for other in ("RUN", "RUN2")]
    assert main([*SELECT, *flags, "--record"]) == 2
    out, err = capsys.readouterr()
    assert (out, f"{name}: {message}" in err) == ("", True), err
    assert [Run(Path(other)).config_file.read_bytes() for other in ("RUN", "RUN2")] == before
