"""Paired bootstrap: what must come out whatever the samples, and sacrebleu's own command as the oracle."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.data.lines import read_lines
from nmt.errors import UserError
from nmt.evaluate.compare import compare

GOOD = ["a small dog ran in the big park", "we like to read books at night"] * 15
BAD = ["a small dog", "we like night books"] * 15


def test_a_worse_system_is_significantly_worse_and_an_equal_one_is_not() -> None:
    found = compare([("good", GOOD), ("bad", BAD), ("again", GOOD)], [GOOD])
    assert found.systems == ("good", "bad", "again")
    assert found.lines == 30
    for metric in ("bleu", "chrf", "ter"):
        baseline, worse, same = found.scores[metric]
        assert baseline.p_value is None
        assert worse.p_value is not None
        assert worse.p_value < 0.01
        assert same.p_value == 1.0
        assert same.score == baseline.score
        assert "bs:1000" in found.signatures[metric]


def test_prints_a_row_a_system() -> None:
    rows = str(compare([("good", GOOD), ("bad", BAD)], [GOOD])).splitlines()
    assert rows[0].split() == ["system", "bleu", "chrf", "ter"]
    assert rows[1].startswith("good    100.00 [100.00, 100.00]")
    assert "p=" in rows[2]


def test_serialises() -> None:
    found = compare([("good", GOOD), ("bad", BAD)], [GOOD])
    values = json.loads(json.dumps(found.as_dict()))
    assert values["systems"][1]["name"] == "bad"
    assert set(values["systems"][1]["bleu"]) == {"score", "low", "high", "p_value"}
    assert values["lines"] == 30


def test_one_system_is_no_comparison_and_unequal_counts_are_named() -> None:
    with pytest.raises(UserError, match="at least two"):
        compare([("good", GOOD)], [GOOD])
    with pytest.raises(UserError, match="short has 29 lines but reference 1 has 30"):
        compare([("good", GOOD), ("short", GOOD[1:])], [GOOD])


def test_equals_the_sacrebleu_command(nmt_data: Path, tmp_path: Path) -> None:
    """I06 as well: the same figures from the raw files, which only sacrebleu's own command has read."""
    names = ("reference", "uedin-nmt", "SYSTRAN")
    texts = {name: list(read_lines(nmt_data / "wmt17_systems" / f"{name}.de"))[:200] for name in names}
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    files = [str(tmp_path / name) for name in names]
    command = [
        sys.executable,
        "-m",
        "sacrebleu",
        files[0],
        "-i",
        *files[1:],
        "-m",
        "bleu",
        "chrf",
        "ter",
        "--paired-bs",
    ]
    answer = subprocess.run([*command, "-f", "text", "-w", "2"], capture_output=True, encoding="utf-8", check=True)
    theirs = [tuple(map(float, cell)) for cell in re.findall(r"([\d.]+) \(([\d.]+) ± ([\d.]+)\)", answer.stdout)]
    their_p_values = [float(cell) for cell in re.findall(r"\(p = ([\d.]+)\)", answer.stdout)]
    found = compare([(name, texts[name]) for name in names[1:]], [texts["reference"]])
    ours = [found.scores[metric][system] for system in (0, 1) for metric in ("bleu", "chrf", "ter")]
    assert len(theirs) == 6
    for mine, (score, mean, half) in zip(ours, theirs, strict=True):
        assert mine.score == pytest.approx(score, abs=0.0051)
        assert (mine.low + mine.high) / 2 == pytest.approx(mean, abs=0.0051)
        assert (mine.high - mine.low) / 2 == pytest.approx(half, abs=0.0051)
    assert [mine.p_value for mine in ours[3:]] == pytest.approx(their_p_values, abs=6e-5)
