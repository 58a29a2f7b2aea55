"""From hand-made runs to the table's numbers."""

from __future__ import annotations

import csv
import io

import pytest

from nmt.compare.cells import Cell
from nmt.compare.comparison import Comparison
from nmt.compare.kinds import Kind, gather, label
from nmt.compare.report import write_report
from nmt.compare.table import lengths_csv, markdown, table_csv
from tests.compare.made import TARGETS, Finish, bahdanau, none

FAILED = Cell((("attention", "a|b"),), 1)


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").replace("\\|", "!").split("|")]


@pytest.fixture
def kinds(comparison: Comparison, finish: Finish) -> list[Kind]:
    """The fixed vector with one seed, Bahdanau's with two and one that failed, and a kind of which all failed."""
    finish(none(1), bleu=20.0, row=(0.0, 0.0), rates=(2000.0,), translations=("AK", "AK", "AK", "AK"))
    finish(bahdanau(1), bleu=40.0, aer=0.125, row=(1.0, 0.0), rates=(1000.0,))
    finish(bahdanau(2), bleu=60.0, aer=0.375, row=(1.0, 0.0), rates=(3000.0,))
    cells = [none(1), bahdanau(1), FAILED, bahdanau(2), bahdanau(3), none(2)]
    for cell in (bahdanau(3), FAILED):
        comparison.log(cell).touch()
    found, bins = gather(comparison, cells)
    assert [str(one) for one in bins] == ["1-7"]
    return found


def test_people_read_means(kinds: list[Kind]) -> None:
    head, rule, *rows = markdown(kinds).splitlines()
    columns = ["attention", "seeds", "BLEU", "seeds from-to", "chrF", "AER", "entropy", "tokens/s", "parameters"]
    assert cells_of(head) == columns
    assert {len(line) for line in (head, rule, *rows)} == {len(head)}, "it is aligned as it stands"
    fixed, attended, failed = map(cells_of, rows)
    assert fixed[:8] == ["none", "1", "20.0 [18.0, 24.0]", "\u2013", "20.0", "\u2013", "\u2013", "2,000"]
    spread = ["50.0 [48.0, 54.0]", "40.0-60.0", "50.0", "0.250", "0.00", "2,000"]
    assert attended[:8] == ["bahdanau", "2 (1 failed)", *spread]
    assert failed == ["a!b", "0 (1 failed)", "failed", *["\u2013"] * 6]


def test_programs_read_the_same(kinds: list[Kind]) -> None:
    fixed, attended, failed = csv.DictReader(io.StringIO(table_csv(kinds)))
    assert (fixed["attention"], fixed["bleu"], fixed["aer"], fixed["bleu_least"]) == ("none", "20.0", "", "")
    names = ("seeds", "failed", "bleu", "bleu_low", "bleu_high", "bleu_least", "bleu_most", "aer", "entropy")
    assert [float(attended[name]) for name in names] == [2, 1, 50, 48, 54, 40, 60, 0.25, 0]
    assert (failed["attention"], failed["failed"], failed["bleu"]) == ("a|b", "1", "")


def test_one_seed_has_no_range(comparison: Comparison, finish: Finish) -> None:
    finish(none(1))
    found, _ = gather(comparison, [none(1)])
    assert "seeds from-to" not in markdown(found)


def test_bleu_by_length(comparison: Comparison, kinds: list[Kind]) -> None:
    _, bins = gather(comparison, [none(1)])
    fixed, attended = csv.DictReader(io.StringIO(lengths_csv(kinds, bins)))
    assert (fixed["attention"], fixed["words"], fixed["sentences"]) == ("none", "1-7", str(len(TARGETS)))
    assert (float(attended["bleu"]), float(fixed["bleu"]) < 10) == (pytest.approx(100), True)


def test_labels() -> None:
    both = [(("attention", "none"), ("model.decoder.layers", "2")), (("attention", "none"),)]
    long, short = (Kind(settings, (1,), 0, (), ()) for settings in both)
    assert label(short, [short]) == "none"
    assert [label(kind, [long, short]) for kind in (long, short)] == ["attention=none, layers=2", "attention=none"]


def test_the_files_say_how_they_were_made(comparison: Comparison, kinds: list[Kind]) -> None:
    comparison.remember([none(1)], "nmt compare --experiment demo --vary attention=none")
    _, bins = gather(comparison, [none(1)])
    write_report(comparison, kinds, bins, {"nmt": "7.11"})
    text = (comparison.folder / "table.md").read_text(encoding="utf-8")
    for part in ("    nmt compare --experiment demo --vary attention=none\n", "seeds: 1, 2;", "nmt 7.11", "`nrefs:1`"):
        assert part in text
    assert {file.suffix for file in comparison.folder.glob("bleu_by_length.*")} == {".csv", ".png", ".svg"}


def test_nothing_has_finished(comparison: Comparison) -> None:
    comparison.folder.mkdir(parents=True, exist_ok=True)
    comparison.log(FAILED).touch()
    found, bins = gather(comparison, [FAILED, none(1)])
    write_report(comparison, found, bins, {})
    assert {file.suffix for file in comparison.folder.iterdir()} == {".csv", ".md", ".log"}
    text = (comparison.folder / "table.csv").read_text(encoding="utf-8")
    assert [line.partition(",")[0] for line in text.splitlines()] == ["attention", "a|b"], "what waits is left out"
