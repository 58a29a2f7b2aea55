"""`nmt aer` through the front door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.cli.main import main

GOLD = "0-0 1-1\n0-2 1p1 2-0\n\n0-0 1-2 2-4 3-5\n"
LINKS = "0-0 1-1\n0-2 1-1 2-2\n\n0-0 1-2 2-4\n"
NAACL = "1 1 1 S\n1 2 2 S\n2 1 3 S\n2 2 2 P\n2 3 1 S\n4 1 1 S\n4 2 3\n4 3 5 S\n4 4 6 S\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"gold": GOLD, "links": LINKS, "naacl": NAACL}.items():
        Path(name).write_text(text, encoding="utf-8")


def aer(*arguments: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> tuple[str, str]:
    assert main(["aer", *arguments]) == code
    out, err = capsys.readouterr()
    return out, err


def test_it_prints_the_score_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = aer("--gold", "gold", "--links", "links", "--json", capsys=capsys)
    score = json.loads(out)
    assert (score["precision"], score["recall"]) == (7 / 8, 6 / 8)
    assert score["aer"] == pytest.approx(1 - (6 + 7) / (8 + 8))
    assert (score["lines"], score["links"], err) == (4, 8, "")
    out, err = aer("--gold", "gold", "--links", "gold", capsys=capsys)
    assert ("AER        0.0000\n" in out, err) == (True, "")


def test_the_naacl_form_counts_from_one_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    expected = aer("--gold", "gold", "--links", "links", capsys=capsys)
    assert aer("--gold", "naacl", "--links", "links", capsys=capsys) == expected
    assert aer("--gold", "naacl", "--links", "links", "--one-based", "gold", capsys=capsys) == expected


@pytest.mark.parametrize("which", ["gold", "links"])
def test_a_file_from_one_is_warned_of_until_it_is_said(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    right = aer("--gold", "gold", "--links", "links", capsys=capsys)[0]
    text = "\n".join(" ".join(map(later, line.split())) for line in (GOLD if which == "gold" else LINKS).split("\n"))
    Path(which).write_text(text, encoding="utf-8")
    wrong, err = aer("--gold", "gold", "--links", "links", capsys=capsys)
    assert wrong != right
    assert err.startswith(f"warning: {which} looks counted from 1 (see --one-based): AER would be 0.1875 instead of 0.")
    assert err.count("\n") == 1
    assert aer("--gold", "gold", "--links", "links", "--one-based", which, capsys=capsys) == (right, "")


def later(field: str) -> str:
    source, kind, target = field[0], field[1], field[2]
    return f"{int(source) + 1}{kind}{int(target) + 1}"


def test_target_source_links_are_warned_of_until_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    right = aer("--gold", "gold", "--links", "links", capsys=capsys)[0]
    Path("links").write_text("0-0 1-1\n2-0 1-1 2-2\n\n0-0 2-1 4-2\n", encoding="utf-8")
    wrong, err = aer("--gold", "gold", "--links", "links", capsys=capsys)
    assert wrong != right
    assert err.startswith("warning: links looks target-source (see --swap): AER would be 0.1875 instead of 0.")
    assert aer("--gold", "gold", "--links", "links", "--swap", capsys=capsys) == (right, "")


def test_sentences_are_scored_on_their_own_and_sum_to_the_corpus(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--gold", "gold", "--links", "links", "--json")
    corpus = json.loads(aer(*arguments, "--per-sentence", "new/each.jsonl", capsys=capsys)[0])
    each = [json.loads(line) for line in Path("new/each.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["line"] for one in each] == [1, 2, 3, 4]
    assert [one["aer"] for one in each] == pytest.approx([0, 1 - (1 + 2) / (3 + 2), 0, 1 - 6 / 7])
    assert (each[1]["precision"], each[1]["recall"], each[2]["links"]) == (2 / 3, 1 / 2, 0)
    for count in ("links", "sure", "sure_found", "possible_found"):
        assert sum(one[count] for one in each) == corpus[count]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LINKS + "0-0\n", "gold has 4 lines, but links has 5"),
        ("0-0\n1-x\n\n\n", "links, line 2: '1-x' is not a link"),
        ("1 1 1 S\n1-1\n", "links, line 2: '1-1' is not `sentence source target [S|P]`"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_file(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("links").write_text(text, encoding="utf-8")
    out, err = aer("--gold", "gold", "--links", "links", "--per-sentence", "each", capsys=capsys, code=2)
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
    assert not Path("each").exists()


def test_a_zero_in_a_file_from_one_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = aer("--gold", "gold", "--links", "links", "--one-based", "links", capsys=capsys, code=2)
    assert "links, line 1: '0-0': words are counted from 1 here" in err
