"""`nmt evaluate` on files and on a run (a stand-in that answers by table)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

import nmt
from nmt.cli.main import main
from nmt.config import DataConfig, FiltersConfig, Leaf
from nmt.run import Run

HYPOTHESES = "the red cat sat on the old mat .\na small dog ran in the big park\nwe like to read books at night\n"
REFERENCES = HYPOTHESES.replace("park", "park today").replace("books", "good books")


class UpperCaser:
    """Translates into capitals."""

    def translate(self, lines: Sequence[str], advance: object) -> list[SimpleNamespace]:
        return [SimpleNamespace(text=line.upper()) for line in lines]


def data_of_run(test: Leaf | None) -> DataConfig:
    """The section `data` of the run's config, of which only the test set matters here."""
    unread = files("no.src", "no.trg")
    return DataConfig("xx", "yy", train=unread, valid=unread, test=test, filters=FiltersConfig())


def files(source: str, target: str) -> Leaf:
    return {"_target_": "nmt.data.corpora.files.Files", "source": source, "target": target}


def open_as(monkeypatch: pytest.MonkeyPatch, data: DataConfig) -> None:
    run = SimpleNamespace(config=lambda: SimpleNamespace(data=data))
    monkeypatch.setattr(Run, "open", lambda path: run)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "hyp": HYPOTHESES,
        "ref": REFERENCES,
        "two": "".join(HYPOTHESES.splitlines(keepends=True)[:2]),
        "five-best": "".join(line * 5 for line in HYPOTHESES.splitlines(keepends=True)),
        "none": "",
        "test.src": HYPOTHESES,
        "test.trg": HYPOTHESES.upper(),
        "separators": "ka\u2028lo\nmi\u2029tu\nre\u0085so\nfa\fne\n",
        "crlf": "\ufeff" + HYPOTHESES.replace("\n", "\r\n"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "bad").write_bytes(b"caf\xe9\nlo\nmi\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nmt, "load", lambda run, overrides: UpperCaser())
    open_as(monkeypatch, data_of_run(files("test.src", "test.trg")))


def scores(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["evaluate", *arguments, "--json"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return json.loads(output.out)


def test_one_system(capsys: pytest.CaptureFixture[str]) -> None:
    """I01's figures; the interval and the signature come with every score."""
    found = scores(capsys, "--hypothesis", "hyp", "--reference", "ref")
    assert found["lines"] == 3
    assert found["bleu"]["score"] == pytest.approx(83.46, abs=0.005)
    assert found["chrf"]["score"] == pytest.approx(87.42, abs=0.005)
    assert all(found[name]["low"] <= found[name]["high"] for name in ("bleu", "chrf", "ter"))
    assert main(["evaluate", "--hypothesis", "hyp", "--reference", "ref"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("BLEU   83.46  [")
    assert "tok:13a" in output


def test_several_references_and_systems(capsys: pytest.CaptureFixture[str]) -> None:
    both = scores(capsys, "--hypothesis", "hyp", "--reference", "ref", "--reference", "hyp")
    assert both["bleu"]["score"] == pytest.approx(100)
    compared = scores(capsys, "--hypothesis", "hyp", "ref", "--reference", "ref")
    assert [system["name"] for system in compared["systems"]] == ["hyp", "ref"]
    assert compared["systems"][0]["bleu"]["p_value"] is None
    assert compared["systems"][1]["bleu"]["p_value"] < 1


def test_lines_end_at_lf_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """A04, A05."""
    found = scores(capsys, "--hypothesis", "separators", "--reference", "separators")
    assert (found["lines"], found["chrf"]["score"]) == (4, pytest.approx(100))
    windows = scores(capsys, "--hypothesis", "crlf", "--reference", "ref")
    assert windows == scores(capsys, "--hypothesis", "hyp", "--reference", "ref")


def test_run_on_its_own_test_set_and_on_given_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert scores(capsys, "run")["bleu"]["score"] == pytest.approx(100)
    assert scores(capsys, "run", "--source", "hyp", "--reference", "hyp")["bleu"]["score"] < 10
    assert scores(capsys, "run", "--source", "hyp", "--reference", "test.trg")["lines"] == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--hypothesis two --reference ref", "two has 2 lines but ref has 3"),
        ("--hypothesis five-best --reference ref", "five-best has 15 lines but ref has 3"),
        ("--hypothesis hyp two --reference ref", "hyp has 3 lines but two has 2"),
        ("--hypothesis hyp --reference ref two", "hyp has 3 lines but two has 2"),
        ("--hypothesis none --reference none", "none has no lines"),
        ("--hypothesis gone --reference ref", "gone"),
        ("--hypothesis . --reference ref", "directory"),
        ("--hypothesis bad --reference ref", "bad"),
        ("--hypothesis hyp", "--hypothesis needs --reference"),
        ("--hypothesis hyp --reference ref search.beam_size=1", "for a RUN"),
        ("--hypothesis hyp --reference ref --source hyp", "for a RUN"),
        ("run --hypothesis hyp --reference ref", "one of the two"),
        ("", "one of the two"),
        ("run --source hyp", "go together"),
        ("run --reference hyp", "go together"),
        ("run --source two --reference ref", "two has 2 lines but ref has 3"),
    ],
)
def test_mistakes_are_one_line_and_no_number(
    arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *arguments.split()]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("nmt: error: ")
    assert complaint in output.err
    assert output.err.count("\n") == 1


def test_run_without_test_files(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    open_as(monkeypatch, data_of_run(None))
    assert main(["evaluate", "run"]) == 2
    assert "--source and --reference" in capsys.readouterr().err
