"""JSON lines: both layouts, and an error with its line for whatever is no pair."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from nmt.data.corpora.jsonl import Jsonl
from nmt.errors import UserError


def jsonl(file: Path, *lines: str | bytes, **settings: Any) -> Jsonl:
    file.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    return Jsonl(**{"source_language": "en", "target_language": "no", "path": str(file)} | settings)


GOOD = '{"no": "AK", "en": "ka", "id": 7}'


def test_both_layouts_whatever_the_order_of_keys(tmp_path: Path) -> None:
    """A11: sides are found by their keys."""
    nested = '{"translation": {"no": "OL", "en": "lo"}}'
    assert list(jsonl(tmp_path / "a.jsonl", GOOD, nested).pairs()) == [("ka", "AK"), ("lo", "OL")]
    other = '{"translation": "AK", "src": "ka"}'
    keys = {"source_key": "src", "target_key": "translation"}
    assert list(jsonl(tmp_path / "a.jsonl", other, **keys).pairs()) == [("ka", "AK")]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"en": "a"}', "there is no 'no'; it has: en"),
        ('{"translation": {"xx": "a", "yy": "b"}}', "there is no 'en'; it has: xx, yy"),
        ('{"src": "a", "trg": "b"}', "there is no 'en'; it has: src, trg"),
        ('{"en": "a", "no": 7}', "'no' is 7, which is not text"),
        ('{"en": "a", "no": null}', "'no' is None, which is not text"),
        ('{"en": "a", "no": ["b"]}', r"'no' is \['b'\], which is not text"),
        ('{"en": "a", "no": "b", "en": "c"}', r"this is no JSON object \(the key 'en' comes twice\)"),
        ('["a", "b"]', "this is no JSON object but list"),
        ('"a"', "this is no JSON object but str"),
        ('{"en": "a", "no": "b"', "this is no JSON object \\(Expecting"),
        (GOOD + GOOD, "this is no JSON object \\(Extra data"),
        ("ka\tAK", "this is no JSON object"),
        ("[" * 100000, "this is no JSON object"),
        ("", "this line is blank, where a JSON object belongs"),
        ("  ", "this line is blank"),
        ('{"en": "\\ud800", "no": "b"}', "'en' has half of a surrogate pair"),
        (b'{"en": "caf\xe9", "no": "b"}', "not valid UTF-8"),
    ],
)
def test_what_is_no_pair_is_told_with_its_line(tmp_path: Path, line: str | bytes, complaint: str) -> None:
    """A11, A08: no line is skipped."""
    with pytest.raises(UserError, match=rf"a\.jsonl, line 2: {complaint}"):
        list(jsonl(tmp_path / "a.jsonl", GOOD, line, GOOD).pairs())
    with pytest.raises(UserError, match=rf"a\.jsonl, line 1: {complaint}"):
        jsonl(tmp_path / "a.jsonl", line).pairs()  # and at once where it is the first


def test_texts_that_look_like_something_else(tmp_path: Path) -> None:
    """A10."""
    rows = [("null", "zero"), ("NA", "sodium"), ("None", ""), ("007", "agent"), ("1e3", "x"), ("true", "2020-01-01")]
    lines = [json.dumps({"en": source, "no": target}) for source, target in rows]
    assert list(jsonl(tmp_path / "a.jsonl", *lines).pairs()) == rows


def test_line_breaks_in_texts_and_between_them(tmp_path: Path) -> None:
    """A04, A05: a text is one line whatever is in it; CRLF and a byte order mark are not part of any."""
    lines = ['\ufeff{"en": "ka\\nlo\\r\\nmi\\n", "no": "A\u2028B"}\r', GOOD + "\r"]
    assert list(jsonl(tmp_path / "a.jsonl", *lines).pairs()) == [("ka lo mi", "A\u2028B"), ("ka", "AK")]


@pytest.mark.parametrize("start", range(5))
def test_several_files_from_any_line_on(tmp_path: Path, start: int) -> None:
    rows = [json.dumps({"en": source, "no": target}) for source, target in zip("123", "ABC", strict=True)]
    jsonl(tmp_path / "a.jsonl", *rows[:2])
    (tmp_path / "b.jsonl.xz").write_bytes(lzma.compress(rows[2].encode()))
    corpus = jsonl(tmp_path / "c.jsonl", path=[f"{tmp_path}/a.jsonl", f"{tmp_path}/b.jsonl.xz"])
    assert list(corpus.pairs(start)) == list(zip("123", "ABC", strict=True))[start:]
    assert corpus.count() == 3


def test_what_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.jsonl: No such file"):
        jsonl(tmp_path / "a.jsonl", GOOD, path=[f"{tmp_path}/a.jsonl", f"{tmp_path}/gone.jsonl"]).pairs()
