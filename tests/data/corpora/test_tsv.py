"""Tables: cells are text whatever they look like, and a row that is no row is told of."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from nmt.data.corpora.tsv import Tsv
from nmt.errors import UserError


def tsv(path: Path, content: str | bytes, **settings: Any) -> Tsv:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Tsv(source_language="en", target_language="de", path=str(path), **settings)


QUOTES = 'ka\tAK\n"lo\tOL\nmi "x"\tIM\ntu"\tUT\n'


def test_quotes_are_text(tmp_path: Path) -> None:
    """A09: four rows, four pairs, quotes kept."""
    corpus = tsv(tmp_path / "q.tsv", QUOTES)
    assert list(corpus.pairs()) == [("ka", "AK"), ('"lo', "OL"), ('mi "x"', "IM"), ('tu"', "UT")]
    assert corpus.count() == 4


@pytest.mark.parametrize("row", ["ka\tAK\tx", "ka", "", '"'])
def test_a_row_with_other_columns_is_told_of(tmp_path: Path, row: str) -> None:
    """A09: no row is lost or cut without a word."""
    count = row.count("\t") + 1
    with pytest.raises(UserError, match=rf"q\.tsv, row 5 has {count} columns?, and row 1 has 2"):
        list(tsv(tmp_path / "q.tsv", f"{QUOTES}{row}\nmi\tIM\n").pairs())


def test_quoting_where_it_is_asked_for(tmp_path: Path) -> None:
    """A09: RFC 4180; a quote in the midst of a cell, or one that is never closed, is an error and swallows nothing."""
    text = 'en,de\r\n"ka, ""lo""\nmi",AK\r\n"",x\r\n re ,"a\n"\r\n'
    corpus = tsv(tmp_path / "a.csv", text, separator=",", quoting=True, source_column="en", target_column="de")
    assert list(corpus.pairs()) == [('ka, "lo" mi', "AK"), ("", "x"), (" re ", "a")]
    assert (corpus.count(), list(corpus.pairs(2))) == (3, [(" re ", "a")])
    with pytest.raises(UserError, match=r"q\.tsv, row 2: "):
        list(tsv(tmp_path / "q.tsv", QUOTES, quoting=True).pairs())
    with pytest.raises(UserError, match=r"q\.tsv, row 2: unexpected end of data"):
        list(tsv(tmp_path / "q.tsv", 'a\tb\n"c\td\n', quoting=True).pairs())
    with pytest.raises(UserError, match=r"q\.tsv, row 2 has 0 columns, and row 1 has 2"):
        list(tsv(tmp_path / "q.tsv", "a\tb\n\nc\td\n", quoting=True).pairs())


@pytest.mark.parametrize("quoting", [False, True])
def test_texts_that_look_like_something_else(tmp_path: Path, quoting: bool) -> None:
    """A10."""
    rows = [("null", "zero"), ("NA", "sodium"), ("None", ""), ("007", "agent"), ("1e3", "x"), ("true", "2020-01-01")]
    text = "".join(f"{source}\t{target}\n" for source, target in rows)
    assert list(tsv(tmp_path / "a.tsv", text, quoting=quoting).pairs()) == rows


@pytest.mark.parametrize("content", ["a\tka\tlo\n1\t2\t3\n", "\ufeffa\tka\tlo\r\n1\t2\t3\r\n", "a\tka\tlo\r\n1\t2\t3"])
def test_columns_by_number_and_by_name(tmp_path: Path, content: str) -> None:
    """A05: CRLF, a byte order mark, no line break at the end."""
    by_number = tsv(tmp_path / "a.tsv", content, source_column=3, target_column=1)
    assert list(by_number.pairs()) == [("lo", "a"), ("3", "1")]
    by_name = tsv(tmp_path / "a.tsv", content, source_column="lo", target_column="a")
    assert (list(by_name.pairs()), by_name.count()) == ([("3", "1")], 1)


def test_unicode_separators_end_no_row(tmp_path: Path) -> None:
    """A04."""
    assert list(tsv(tmp_path / "a.tsv", "ka\u2028lo\tA\x85B\nfa\x0cne\tC\rD\n").pairs()) == [
        ("ka\u2028lo", "A\x85B"),
        ("fa\x0cne", "C\rD"),
    ]


def test_columns_that_are_not_there_are_told_of_at_once(tmp_path: Path) -> None:
    """A11."""
    with pytest.raises(UserError, match=r"a\.tsv has 2 columns in row 1, and column 3 is asked for"):
        tsv(tmp_path / "a.tsv", QUOTES, target_column=3).pairs()
    with pytest.raises(UserError, match=r"a\.tsv has no column 'fr'; there are: en, de"):
        tsv(tmp_path / "a.tsv", "en\tde\na\tb\n", source_column="fr", target_column="de").pairs()
    with pytest.raises(UserError, match=r"a\.tsv has more than one column 'en'"):
        tsv(tmp_path / "a.tsv", "en\tde\ten\n", source_column="en", target_column="de").pairs()
    with pytest.raises(UserError, match=r"a\.tsv is empty, and its first row is to name the columns"):
        tsv(tmp_path / "a.tsv", "", source_column="en", target_column="de").pairs()
    assert list(tsv(tmp_path / "a.tsv", "").pairs()) == []


def test_invalid_utf8_names_file_and_line(tmp_path: Path) -> None:
    """A08."""
    for quoting in (False, True):
        with pytest.raises(UserError, match=r"a\.tsv, line 2: not valid UTF-8"):
            list(tsv(tmp_path / "a.tsv", b"ka\tAK\ncaf\xe9\tB\n", quoting=quoting).pairs())


@pytest.mark.parametrize("quoting", [False, True])
@pytest.mark.parametrize("start", range(5))
def test_several_files_each_with_its_header_from_any_row_on(tmp_path: Path, start: int, quoting: bool) -> None:
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(b"de\ten\nC\t3\nD\t4\n"))
    tsv(tmp_path / "a.tsv", "en\tde\n1\tA\n2\tB\n")
    names = [f"{tmp_path}/a.tsv", f"{tmp_path}/b.tsv.gz"]
    settings = {"source_column": "en", "target_column": "de", "quoting": quoting}
    corpus = Tsv(source_language="en", target_language="de", path=names, **settings)  # type: ignore[arg-type]
    assert list(corpus.pairs(start)) == list(zip("1234", "ABCD", strict=True))[start:]
    assert corpus.count() == 4


def test_a_pipe_cannot_be_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.tsv")
    with pytest.raises(UserError, match="pipe or device"):
        Tsv(source_language="en", target_language="de", path=f"{tmp_path}/a.tsv").pairs()
