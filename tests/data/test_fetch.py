"""Reading a corpus through, writing it as plain files, and the Bible out of its package."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nmt.compose import compose
from nmt.config import DataConfig
from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.fetch import bible
from nmt.data.fetch.contents import Contents, read_parts
from nmt.data.lines import read_lines
from nmt.data.parts import Part, part_links
from nmt.errors import Unsuccessful, UserError

ODD = [
    ("one", "eins"),
    ("a\u2028b\x85c", "d\re"),
    ("f\r\ng\nh", "i\x0cj"),
    ("", "blank"),
    (" \t", ""),
    ("k\n", "l\u2029"),
    ('"NA"\tx', "cafe\u0301"),
]


@dataclass(frozen=True, kw_only=True)
class Given(Corpus):
    """A corpus of some pairs, by the name of one of the lists here."""

    which: str

    @property
    def name(self) -> str:
        return self.which

    def pairs(self) -> Iterator[Pair]:
        if self.which == "broken":
            yield ODD[0]
            raise UserError("row 2 is none")
        yield from {"odd": ODD, "blank": [("", ""), ("x", " ")], "empty": []}[self.which]


def corpus(monkeypatch: pytest.MonkeyPatch, train: str, test: str | None = None) -> tuple[DataConfig, list[Part]]:
    """A configuration whose parts are `Given`."""
    which = {"train": train, "valid": "odd", **({} if test is None else {"test": test})}
    data = compose(["data=files", "data.root=.", "data.source_language=xx", "data.target_language=yy"]).data
    given = {part: Given(source_language="xx", target_language="yy", which=name) for part, name in which.items()}
    for module in ("nmt.data.parts", "nmt.data.fetch.contents"):
        monkeypatch.setattr(f"{module}.part_corpus", lambda _, part: given[part])
    parts: list[Part] = ["train", "valid", "test"]
    return data, [part for part in parts if part in which]


def test_files_are_true_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, parts = corpus(monkeypatch, "odd")
    read_parts(data, parts, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.xx", "train.yy", "valid.xx", "valid.yy"]
    source, target = (list(read_lines(tmp_path / f"train.{language}")) for language in ("xx", "yy"))
    assert source == ["one", "a b c", "f g h", "", " \t", "k", '"NA"\tx']
    assert target == ["eins", "d e", "i j", "blank", "", "l", "cafe\u0301"]
    text = (tmp_path / "train.xx").read_bytes().decode()
    assert len(text.splitlines()) == text.count("\n") == len(ODD)


def test_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    data, parts = corpus(monkeypatch, "odd")
    train, valid = read_parts(data, parts)
    assert train == Contents(
        "train", "odd", 7, 2, sum(len(one) for one, _ in ODD), sum(len(two) for _, two in ODD), ("one", "eins")
    )
    assert (valid.part, valid.pairs) == ("valid", 7)


@pytest.mark.parametrize(
    ("test", "error", "complaint"),
    [
        ("empty", Unsuccessful, r"test \(empty\): there is no pair"),
        ("blank", Unsuccessful, r"test \(blank\): there is no pair with text on both sides"),
        ("broken", UserError, "row 2 is none"),
    ],
)
def test_all_files_or_none(
    test: str, error: type[Exception], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes wrong in the last part leaves nothing of the first."""
    data, parts = corpus(monkeypatch, "odd", test)
    with pytest.raises(error, match=complaint):
        read_parts(data, parts, tmp_path / "new")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


GREEK = [
    ("n40001001001", "Βίβλος"),
    ("n40001001002", 'γεν"έσεως'),
    ("n40001002001", "Ἀβραὰμ"),
    ("n40001003001", "οὐ"),
    ("n40001004001", "μόνον"),
    ("n40001005001", "καὶ"),
]
ENGLISH = [
    ("40001001001", "40001001", "The"),
    ("40001001002", "40001001", "book"),
    ("40001001003", "40001001", "of genealogy"),
    ("40001002001", "40001002", "Abraham"),
    ("40001003001", "40001002", "begat"),  # English counts it to the next verse, and translates this one
    ("40001004001", "40001004", "nothing links"),
    ("40001005001", "40001005", "And"),
]
RECORDS = [
    (["n40001001002"], ["40001001003"]),
    (["n40001001001"], ["40001001001", "40001001002"]),
    (["n40001002001"], ["40001003001"]),
    (["n40001003001"], ["40001002001"]),  # verse 3 has no English text of its own
    (["n40001005001"], ["40001002001"]),  # into another verse
]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """The package in small: Greek rows end in CRLF, English ones in LF, as there."""
    records = [{"source": source, "target": target, "meta": {}} for source, target in RECORDS]
    english = "".join(f"{name}\t{verse}\t{text}\t\t\n" for name, verse, text in ENGLISH)
    path = tmp_path / "bible_alignments-0.4.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(bible.GREEK, "id\taltId\ttext\r\n" + "".join(f"{n}\t\t{text}\r\n" for n, text in GREEK))
        archive.writestr(bible.ENGLISH, "id\tsource_verse\ttext\tskip_space_after\texclude\n" + english)
        archive.writestr(bible.LINKS, json.dumps({"records": records}))
    return path


def test_verses_are_those_that_have_links_and_both_texts(wheel: Path) -> None:
    assert bible.read_wheel(wheel) == [
        ("40001001", ["Βίβλος", 'γεν"έσεως'], ["The", "book", "of genealogy"], [(0, 0), (0, 1), (1, 2)]),
        ("40001002", ["Ἀβραὰμ"], ["Abraham", "begat"], [(0, 1)]),
        ("40001005", ["καὶ"], ["And"], []),
    ]


def test_files_of_the_bible(wheel: Path, tmp_path: Path) -> None:
    bible.write_bible(bible.read_wheel(wheel), tmp_path / "nt", valid=1, test=1)
    text = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "nt").iterdir()}
    assert text["nt.ref"] == "40001001\n40001002\n40001005\n"
    assert text["nt.gold"] == "0-0 0-1 1-2\n0-1\n\n"
    assert text["train.grc"] == 'Βίβλος γεν"έσεως\n'
    assert text["train_and_test.en"] == "The book of genealogy\nAnd\n"
    assert (text["valid.grc-en.gold"], text["valid.en-grc.gold"]) == ("0-1\n", "1-0\n")
    assert (text["test.en"], text["test.grc-en.gold"]) == ("And\n", "\n")


def fake_python(folder: Path, script: str) -> str:
    """What stands for this Python when it is asked to run pip."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_pip_brings_the_package(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [(f"n40{verse:03}001001", f"w{verse}") for verse in range(1, 1211)]
    rows = [(name[1:], name[1:9], text.upper()) for name, text in words]
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(bible.GREEK, "id\ttext\n" + "".join(f"{name}\t{text}\n" for name, text in words))
        archive.writestr(bible.ENGLISH, "id\tsource_verse\ttext\n" + "".join("\t".join(row) + "\n" for row in rows))
        records = [{"source": [name], "target": [name[1:]]} for name, _ in words]
        archive.writestr(bible.LINKS, json.dumps({"records": records}))
    copy = f'while [ "$1" != --dest ]; do shift; done; cp "{wheel}" "$2"'
    monkeypatch.setattr(sys, "executable", fake_python(tmp_path, copy))
    bible.prepare_bible(tmp_path / "nt")
    for name, first in (("bible_nt", 810), ("bible_nt_translation", 10)):
        for languages in (("grc", "en"), ("en", "grc")):
            settings = [
                f"data.{side}_language={one}" for side, one in zip(("source", "target"), languages, strict=True)
            ]
            data = compose([f"data={name}", f"data.root={tmp_path / 'nt'}", *settings]).data
            train, valid, test = read_parts(data, ["train", "valid", "test"])
            assert (train.pairs, valid.pairs, test.pairs) == (first, 400, 800)
            assert valid.first == (("w11", "W11") if languages[0] == "grc" else ("W11", "w11"))
            links = part_links(data, "test")
            assert links is not None
            assert all(set(one.sure) == {(0, 0)} for one in links)
    monkeypatch.setattr(sys, "executable", fake_python(tmp_path, "exit 1"))
    bible.prepare_bible(tmp_path / "nt")  # it is there, and nothing is asked for


def test_pip_that_fails_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "printf 'WARNING: Retrying\\nERROR: No matching distribution found\\n' >&2; exit 1"
    monkeypatch.setattr(sys, "executable", fake_python(tmp_path, script))
    with pytest.raises(UserError, match=r"^pip can't download bible-alignments==0\.4\.2: ERROR: No matching"):
        bible.prepare_bible(tmp_path / "nt")
    assert not (tmp_path / "nt").exists()


def test_another_package_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.whl", "w") as archive:
        archive.writestr("data/readme", "")
    with pytest.raises(UserError, match=r"other\.whl: this is not what bible-alignments==0\.4\.2 holds"):
        bible.read_wheel(tmp_path / "other.whl")
