"""The closing summary: every figure against a run whose events and totals are written down here."""

from __future__ import annotations

import json
import re
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nmt.run import Run
from nmt.train.checkpoint import Progress
from nmt.train.summary import memory, summary

TOTALS = Progress(corpus="x", update=4051, passes=2.375, seconds=3725.4, tokens=7654321, skipped=2)
# The validation at 3000 was no better; the speeds have the median 1,300 whichever sitting they are of.
EVENTS = [
    {"event": "train", "update": 1000, "tokens_per_second": 1100.0, "padding": 0.04, "waiting": 0.0},
    {"event": "valid", "update": 1000, "loss": 2.5, "perplexity": 12.182, "bleu": 13.0, "chrf": 31.0, "better": True},
    {"event": "train", "update": 2000, "tokens_per_second": 1300.0, "padding": 0.06, "waiting": 0.02},
    {"event": "valid", "update": 2000, "loss": 2.25, "perplexity": 9.488, "bleu": 17.125, "chrf": 37.0, "better": True},
    {"event": "train", "update": 3000, "tokens_per_second": 1700.0, "padding": 0.05, "waiting": 0.01},
    {"event": "valid", "update": 3000, "loss": 2.0, "perplexity": 7.389, "bleu": 11.0, "chrf": 41.0, "better": False},
]


def a_run(folder: Path, events: list[dict[str, Any]] = EVENTS, aligned: bool = True) -> Run:
    run = Run(folder)
    folder.mkdir()
    run.metrics.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    if aligned:
        run.alignment.parent.mkdir()
        run.alignment.touch()
    return run


def facts(text: str) -> list[tuple[str, str]]:
    """(name, fact) of each line."""
    return [(line[:9].rstrip(), line[9:]) for line in text.split("\n")]


def test_every_fact_is_on_a_line_of_its_own(tmp_path: Path) -> None:
    run = a_run(tmp_path / "a run")
    found = facts(summary(run, TOTALS, "bleu"))
    (held,) = (fact for name, fact in found if name == "memory")
    assert re.fullmatch(r"[\d,]+ MiB at most", held)
    assert [one for one in found if one[0] != "memory"] == [
        ("trained", "4,051 updates, 2.38 epochs, 7,654,321 target tokens in 1:02:05"),
        ("speed", "1,300 target tokens/s, padding 5 %, waiting 1 % (medians of 3 log lines)"),
        ("skipped", "2 updates that were not finite"),
        ("best", "BLEU 17.12 on the validation data, at update 2,000"),
        ("weights", str(run.best)),
        ("next", f"nmt translate '{run.path}' FILE"),
        ("next", f"nmt heatmap '{run.path}' --line 1 -o heatmap.png"),
        ("next", f"nmt inspect '{run.path}' -o alignments.html"),
    ]


@pytest.mark.parametrize(
    ("metric", "said"), [("loss", "loss 2.2500"), ("perplexity", "perplexity 9.49"), ("chrf", "chrF 37.00")]
)
def test_the_best_by_the_metric_that_chose(metric: str, said: str, tmp_path: Path) -> None:
    """Not the least loss or the highest chrF of all: the weights that were kept are of update 2,000."""
    best = dict(facts(summary(a_run(tmp_path / "run"), TOTALS, metric)))["best"]
    assert best == f"{said} on the validation data, at update 2,000"


def test_what_was_not_there_is_not_mentioned(tmp_path: Path) -> None:
    """No log line, no skipped update, no test set."""
    valid = [event for event in EVENTS if event["event"] == "valid"]
    found = facts(summary(a_run(tmp_path / "run", valid, aligned=False), Progress(corpus="x", update=3), "bleu"))
    assert [name for name, _ in found] == ["trained", "best", "memory", "weights", "next"]


def test_memory_is_what_the_system_counts() -> None:
    """On Linux in KiB, so that a Python with torch in it has hundreds of MiB, no hundreds of thousands."""
    said = int(memory().split()[0].replace(",", ""))
    assert said == pytest.approx(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, rel=0.01)
    assert 50 < said < 50_000


def test_the_commands_are_there(tmp_path: Path) -> None:
    """What the summary proposes is what `nmt` knows."""
    from nmt.cli.main import COMMANDS

    proposed = [
        fact.split() for name, fact in facts(summary(a_run(tmp_path / "run"), TOTALS, "bleu")) if name == "next"
    ]
    assert [words[0] for words in proposed] == ["nmt"] * 3
    assert {words[1] for words in proposed} <= set(COMMANDS)


def test_an_average_that_was_better_is_the_best(tmp_path: Path) -> None:
    """Its score is the checkpoint's alone: no validation of the log has it."""
    best = dict(facts(summary(a_run(tmp_path / "run"), replace(TOTALS, best=18.5), "bleu")))["best"]
    assert best == "BLEU 18.50 on the validation data, by the mean of the newest weights"
