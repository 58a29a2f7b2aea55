"""`nmt score` and `nmt evaluate`: the numbers are those of search, of training, and of sacrebleu's own command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.toy import nmt, read, refused, write


def scored(run: Path, source: Path, target: Path, *flags: str) -> list[str]:
    done = nmt("score", run, "--source", source, "--target", target, *flags)
    assert done.code == 0, done.err
    return done.lines


def test_forced_score_is_the_search_score(early: Path, toy: Path, tmp_path: Path) -> None:
    """A piece a word here, so a translation is cut into the pieces that search found."""
    done = nmt("translate", early, toy / "rev.test.src", "--format", "jsonl", "--nbest", "5")
    found = [entry for entry in map(json.loads, done.lines) if entry["tokens"]]
    finished = [entry for entry in found if len(entry["token_log_probs"]) > len(entry["tokens"])]  # with EOS
    assert len(finished) > 10
    source = write(tmp_path / "source", *(entry["source"] for entry in finished))
    target = write(tmp_path / "target", *(entry["translation"] for entry in finished))
    values = [float(line) for line in scored(early, source, target)]
    assert values == pytest.approx([entry["log_prob"] for entry in finished], abs=1e-4)


def test_tokens_sum_to_the_line(piecewise: Path, toy: Path) -> None:
    for line in scored(piecewise, toy / "rev.test.src", toy / "rev.test.trg", "--tokens"):
        total, tokens = line.split("\t")
        values = [float(token.rpartition("=")[2]) for token in tokens.split(" ")]
        assert sum(values) == pytest.approx(float(total), abs=1e-4)
        assert tokens.rpartition(" ")[2].startswith("</s>=")


def test_right_translations_are_likelier(reverser: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "source", "ka lo mi", "ka lo mi", "", "ka")
    target = write(tmp_path / "target", "IM OL AK", "AK OL IM", "AK", " ")
    right, wrong, *blank = map(float, scored(reverser, source, target))
    assert right > -1 > wrong
    assert blank == [0.0, 0.0]


def test_score_refuses_what_does_not_pair(reverser: Path, toy: Path, tmp_path: Path) -> None:
    """A07."""
    short = write(tmp_path / "short", "AK")
    assert refused(nmt("score", reverser, "--source", toy / "rev.test.src", "--target", short), "40", "1", "short")


def test_score_says_which_pair_is_too_long(copier: Path, tmp_path: Path) -> None:
    """F04: a score of a cut text would be another text's."""
    long = write(tmp_path / "long", "ka", "lo " * 16)
    short = write(tmp_path / "short", "AK", "OL")
    assert refused(nmt("score", copier, "--source", long, "--target", short), "2", "16", "15")


def evaluated(*arguments: str | Path) -> dict[str, Any]:
    done = nmt("evaluate", *arguments, "--json")
    assert done.code == 0, done.err
    result: dict[str, Any] = json.loads(done.out)
    return result


def test_score_of_the_written_output(piecewise: Path, toy: Path, tmp_path: Path) -> None:
    """I02: what the run scores is what sacrebleu's command says of the file that translate writes."""
    nmt("translate", piecewise, toy / "rev.dev.src", "-o", tmp_path / "out")
    own = evaluated(piecewise, "--source", toy / "rev.dev.src", "--reference", toy / "rev.dev.trg")
    files = evaluated("--hypothesis", tmp_path / "out", "--reference", toy / "rev.dev.trg")
    assert own == files
    for name in ("bleu", "chrf", "ter"):
        theirs = sacrebleu(toy / "rev.dev.trg", tmp_path / "out", name)
        assert round(own[name]["score"], 2) == theirs


def sacrebleu(reference: Path, hypothesis: Path, metric: str) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "sacrebleu", str(reference), "-i", str(hypothesis), "-m", metric, "-b", "-w", "2"],
        capture_output=True,
        encoding="utf-8",
    )
    return float(done.stdout)


def test_validation_is_evaluation(reverser: Path, piecewise: Path, early: Path, toy: Path) -> None:
    """I09: the best validation in the log is what evaluate says of the same text, with the same search."""
    for run in (reverser, piecewise, early):
        events = [json.loads(line) for line in read(run / "metrics.jsonl")]
        valid = [event for event in events if event["event"] == "valid"]
        best = max(valid, key=lambda event: event["bleu"])
        found = evaluated(run, "--source", toy / "rev.dev.src", "--reference", toy / "rev.dev.trg")
        assert (found["bleu"]["score"], found["chrf"]["score"]) == pytest.approx((best["bleu"], best["chrf"]), abs=1e-6)
        assert found["lines"] == 40


def test_test_set_is_the_runs_own(reverser: Path, toy: Path) -> None:
    own = evaluated(reverser)
    assert own == json.loads((reverser / "evaluation.json").read_text())
    assert own == evaluated(reverser, "--source", toy / "rev.test.src", "--reference", toy / "rev.test.trg")


def test_nbest_lists_are_no_translations(early: Path, toy: Path, tmp_path: Path) -> None:
    """I01, I08."""
    nmt("translate", early, toy / "rev.dev.src", "--nbest", "5", "-o", tmp_path / "five")
    assert refused(nmt("evaluate", "--hypothesis", tmp_path / "five", "--reference", toy / "rev.dev.trg"), "200", "40")


def test_validation_loss_is_the_forced_score(early: Path, toy: Path) -> None:
    """D01: the loss of the log is the sum of all scores over all target words and line ends."""
    valid = json.loads(read(early / "metrics.jsonl")[-1])
    values = [float(line) for line in scored(early, toy / "rev.dev.src", toy / "rev.dev.trg")]
    words = sum(len(line.split()) + 1 for line in read(toy / "rev.dev.trg"))
    assert valid["tokens"] == words
    assert valid["loss"] == pytest.approx(-sum(values) / words, abs=1e-5)
