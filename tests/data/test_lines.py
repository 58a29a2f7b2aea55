"""Lines end at LF alone, pairs stay pairs, and whatever is wrong with a file is said with its name and line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.lines import (
    count_lines,
    decode_lines,
    files_after,
    is_blank,
    one_line,
    open_binary,
    read_lines,
    read_pairs,
)
from nmt.errors import UserError


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


PACK = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
SEPARATED = "ka\u2028lo\nmi\u2029tu\nre\x85so\nfa\x0cne\nbi\rdo\n"


def test_lines_end_at_lf_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "u.src", SEPARATED.encode())
    assert list(read_lines(path)) == ["ka\u2028lo", "mi\u2029tu", "re\x85so", "fa\x0cne", "bi\rdo"]
    assert count_lines(path) == 5


def test_windows_files_read_like_unix_files(tmp_path: Path) -> None:
    plain = write(tmp_path / "a", b"ka lo\n\nmi\n")
    for content in (b"ka lo\r\n\r\nmi\r\n", b"\xef\xbb\xbfka lo\n\nmi\n", b"\xef\xbb\xbfka lo\r\n\r\nmi\r"):
        assert list(read_lines(write(tmp_path / "b", content))) == list(read_lines(plain))


def test_only_the_first_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    bom = "\ufeff"
    assert list(read_lines(write(tmp_path / "a", f"{bom}ka\n{bom}lo\n".encode()))) == ["ka", f"{bom}lo"]


def test_a_file_of_lone_carriage_returns_is_one_line(tmp_path: Path) -> None:
    assert list(read_lines(write(tmp_path / "a", b"ka\rlo\rmi\r"))) == ["ka\rlo\rmi"]


@pytest.mark.parametrize(
    ("content", "lines"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"\na", 2)]
)
def test_a_last_line_without_lf_counts(tmp_path: Path, content: bytes, lines: int) -> None:
    path = write(tmp_path / "a", content)
    assert count_lines(path) == len(list(read_lines(path))) == lines


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_reading_undoes_writing(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = write(tmp_path_factory.mktemp("a") / "a", "".join(line + "\n" for line in lines).encode())
    kept = [line.removesuffix("\r") for line in lines]
    if kept:
        kept[0] = kept[0].removeprefix("\ufeff")
    assert list(read_lines(path)) == kept
    assert count_lines(path) == len(lines)


@pytest.mark.parametrize(("content", "line"), [(b"ka caf\xe9\nlo\n", 1), (b"ka\nlo\xff\n", 2), (b"ka\nl\xc3", 2)])
def test_invalid_utf8_names_file_and_line(tmp_path: Path, content: bytes, line: int) -> None:
    path = write(tmp_path / "bad.src", content)
    with pytest.raises(UserError, match=rf"bad\.src, line {line}: not valid UTF-8"):
        list(read_lines(path))


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.src: No such file"):
        list(read_lines(tmp_path / "gone.src"))
    with pytest.raises(UserError, match=r"Is a directory"):
        count_lines(tmp_path)


def test_unequal_counts_name_both_files_and_counts_before_any_pair(tmp_path: Path) -> None:
    long, short = write(tmp_path / "a.src", b"ka\n" * 600), write(tmp_path / "a.trg", b"ak\n" * 599)
    with pytest.raises(UserError, match=r"a\.src has 600 lines but .*a\.trg has 599"):
        read_pairs(long, short)


def test_pairs_join_equal_lines(tmp_path: Path) -> None:
    source, target = write(tmp_path / "a", b"ka\n\nlo"), write(tmp_path / "b", b"\xef\xbb\xbfAK\r\nXX\r\n\r\n")
    assert list(read_pairs(source, target)) == [("ka", "AK"), ("", "XX"), ("lo", "")]


def test_blank_means_whitespace_only() -> None:
    assert all(map(is_blank, ["", " ", "\t \u00a0", "\u3000", "\r"]))
    assert not any(map(is_blank, ["a", " . ", "\u200b"]))


@pytest.mark.parametrize("start", range(5))
def test_reading_from_any_line_on(tmp_path: Path, start: int) -> None:
    """Lines that are passed over are not decoded, and errors still count them."""
    path = write(tmp_path / "a", b"\xef\xbb\xbfka\n\xef\xbb\xbflo\n\nmi")
    assert list(read_lines(path, start)) == ["ka", "\ufefflo", "", "mi"][start:]
    wrong = write(tmp_path / "b", b"\xff\nka\nlo\nmi\xe9\n")
    if start:
        with pytest.raises(UserError, match=r"b, line 4: not valid UTF-8") if start < 4 else nullcontext():
            list(read_lines(wrong, start))


@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_are_read_as_what_is_in_them(tmp_path: Path, suffix: str) -> None:
    text = b"\xef\xbb\xbfka\r\nlo\n" * 100_000
    path = write(tmp_path / f"a{suffix}", PACK[suffix](text))
    assert count_lines(path) == 200_000
    assert list(read_lines(path)) == list(read_lines(write(tmp_path / "a", text)))
    with open_binary(path) as file:
        assert next(decode_lines(file, "a")) == "ka"


@pytest.mark.parametrize("suffix", PACK)
def test_a_damaged_archive_is_named(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(PACK[suffix](random.randbytes(100_000)))
    for content in (packed[:-1], packed[:50], packed[1:], b"ka lo\n", packed[:9000] + b"ka lo" + packed[9005:]):
        path = write(tmp_path / f"a{suffix}", bytes(content))
        with pytest.raises(
            UserError, match=rf"a{re.escape(suffix)}: this is no whole {re.escape(suffix)} archive \(\w"
        ):
            count_lines(path)


def test_a_missing_archive_and_a_folder_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "b.gz").mkdir()
    for name, reason in (("a.gz", "No such file"), ("a.xz", "No such file"), ("b.gz", "Is a directory")):
        with pytest.raises(UserError, match=rf"{name}: {reason}"):
            count_lines(tmp_path / name)


def test_a_pipe_is_not_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe: this is a pipe or device, and it would be read twice"):
        read_pairs(tmp_path / "pipe", tmp_path / "pipe")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ka", "ka"),
        ("ka\n", "ka"),
        ("ka\r\n", "ka"),
        ("ka\r", "ka"),
        ("ka\nlo\r\nmi\n\n", "ka lo mi "),
        ("ka\rlo\u2028mi\x85", "ka\rlo\u2028mi\x85"),
        ("\n", ""),
        ("\r\r", "\r"),
    ],
)
def test_a_text_becomes_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize("start", range(8))
def test_files_that_are_left_after_some_lines(tmp_path: Path, start: int) -> None:
    files = [write(tmp_path / "a", b"h\n1\n2\n"), write(tmp_path / "b", b"h\n"), write(tmp_path / "c", b"h\n3\n4\n5")]
    left = [line for file, passed in files_after(files, start, header=1) for line in read_lines(file, passed)]
    assert left == ["1", "2", "3", "4", "5"][start:]


def test_real_files_have_the_published_sizes(nmt_data: Path) -> None:
    folder = nmt_data / "multi30k"
    assert [count_lines(folder / f"{part}.en") for part in ("train", "val", "test2016")] == [29000, 1014, 1000]
    pairs = list(read_pairs(folder / "val.en", folder / "val.de"))
    raw = (folder / "val.de").read_bytes().split(b"\n")
    place = random.randrange(len(pairs))
    assert pairs[place][1] == raw[place].decode()
