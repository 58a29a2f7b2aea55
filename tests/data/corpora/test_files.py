"""Plain files: line i of one side is line i of the other, over all the files of a side."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from nmt.data.corpora.files import Files
from nmt.errors import UserError


def files(folder: Path, source: str | list[str], target: str | list[str]) -> Files:
    def placed(names: str | list[str]) -> str | list[str]:
        return f"{folder}/{names}" if isinstance(names, str) else [f"{folder}/{name}" for name in names]

    return Files(source_language="en", target_language="de", source=placed(source), target=placed(target))


def write(folder: Path, **contents: bytes) -> None:
    """Files `a_src` as a.src."""
    for name, content in contents.items():
        (folder / name.replace("_", ".")).write_bytes(content)


def test_unicode_separators_end_no_line(tmp_path: Path) -> None:
    """A04."""
    source = "ka\u2028lo\nmi\u2029tu\nre\x85so\nfa\x0cne\nbi\rdo\n"
    write(tmp_path, a_src=source.encode(), a_trg=b"A\nB\nC\nD\nE\n")
    pairs = list(files(tmp_path, "a.src", "a.trg").pairs())
    assert pairs == list(zip(source.split("\n")[:-1], "ABCDE", strict=True))


def test_windows_files_are_like_unix_files(tmp_path: Path) -> None:
    """A05: CRLF and a byte order mark, on one side or on both."""
    write(tmp_path, a_src=b"ka lo\n\nmi\n", b_src=b"\xef\xbb\xbfka lo\r\n\r\nmi\r\n", a_trg=b"A\nB\nC\n")
    plain, windows = (list(files(tmp_path, name, "a.trg").pairs()) for name in ("a.src", "b.src"))
    assert plain == windows == [("ka lo", "A"), ("", "B"), ("mi", "C")]


def test_unequal_counts_are_told_before_any_pair(tmp_path: Path) -> None:
    """A07: file by file, though the sums are equal; both files and both counts."""
    write(tmp_path, a_src=b"ka\n" * 600, b_src=b"ka\n" * 3, a_trg=b"AK\n" * 599, b_trg=b"AK\n" * 4)
    with pytest.raises(UserError, match=r"a\.src has 600 lines but .*a\.trg has 599"):
        files(tmp_path, "a.src", "a.trg").pairs()
    with pytest.raises(UserError, match=r"b\.src has 3 lines but .*b\.trg has 4"):
        files(tmp_path, ["b.src", "a.src"], ["b.trg", "a.trg"]).pairs()


def test_invalid_utf8_names_file_and_line(tmp_path: Path) -> None:
    """A08; the line is that of the file, wherever reading begins."""
    write(tmp_path, a_src=b"ka\nlo\n", b_src=b"mi\nre caf\xe9\nka\n", a_trg=b"A\nB\n", b_trg=b"C\nD\nE\n")
    corpus = files(tmp_path, ["a.src", "b.src"], ["a.trg", "b.trg"])
    for start in (0, 2, 3):
        with pytest.raises(UserError, match=r"b\.src, line 2: not valid UTF-8 \(byte 0xe9\)"):
            list(corpus.pairs(start))
    assert list(corpus.pairs(4)) == [("ka", "E")]


@pytest.mark.parametrize("start", range(7))
def test_several_files_a_side_from_any_pair_on(tmp_path: Path, start: int) -> None:
    write(tmp_path, a_src=b"1\n2\n3", b_src=b"", c_src=b"4\n5\n", a_trg=b"A\nB\nC\n", b_trg=b"", c_trg=b"D\nE")
    corpus = files(tmp_path, ["a.src", "b.src", "c.src"], ["a.trg", "b.trg", "c.trg"])
    assert list(corpus.pairs(start)) == list(zip("12345", "ABCDE", strict=True))[start:]
    assert corpus.count() == 5
    assert corpus.name == f"{tmp_path}/a.src and 2 more, {tmp_path}/a.trg and 2 more"


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_packed_files(tmp_path: Path, suffix: str, pack: object) -> None:
    assert callable(pack)
    packed = pack(b"\xef\xbb\xbfka\r\n" + b"lo mi\n" * 5000)
    write(tmp_path, **{f"a_src_{suffix}": packed, "a_trg": b"A\n" * 5001, f"cut_src_{suffix}": packed[:-9]})
    pairs = list(files(tmp_path, f"a.src.{suffix}", "a.trg").pairs())
    assert pairs == [("ka", "A"), *[("lo mi", "A")] * 5000]
    with pytest.raises(UserError, match=rf"cut\.src\.{suffix}: this is no whole \.{suffix} archive"):
        files(tmp_path, f"cut.src.{suffix}", "a.trg").pairs()
    write(tmp_path, **{f"text_{suffix}": b"ka lo\n"})
    with pytest.raises(UserError, match=rf"text\.{suffix}: this is no whole \.{suffix} archive"):
        files(tmp_path, f"text.{suffix}", "a.trg").pairs()


def test_two_archives_in_one_file(tmp_path: Path) -> None:
    write(tmp_path, a_gz=gzip.compress(b"ka\n") + gzip.compress(b"lo\n"), a_trg=b"A\nB\n")
    assert list(files(tmp_path, "a.gz", "a.trg").pairs()) == [("ka", "A"), ("lo", "B")]


def test_what_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, a_src=b"ka\n")
    with pytest.raises(UserError, match=r"gone\.trg: No such file"):
        files(tmp_path, "a.src", "gone.trg").pairs()
    with pytest.raises(ValueError, match=r"source names 2 files but target 1: file i"):
        files(tmp_path, ["a.src", "b.src"], "a.trg")
