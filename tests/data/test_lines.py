"""Lines end at LF alone, pairs stay pairs, and whatever is wrong with a file is said with its name and line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.lines import count_lines, hub_pairs, is_blank, read_lines, read_pairs
from nmt.errors import UserError


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


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


ROWS = [("null", "zero"), ("NA", "sodium"), ("007", "agent"), ("1e3", "x"), ("true", "y"), ("2020-01-01", "z")]


def hub_folder(path: Path, rows: list[object]) -> str:
    path.mkdir()
    (path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def pairs_of(path: str, **changes: str) -> list[tuple[str, str]]:
    settings = {"split": "train", "source_language": "en", "target_language": "no"} | changes
    return list(hub_pairs(path, **settings))  # type: ignore[arg-type]


def test_both_layouts_give_the_text_as_it_is(tmp_path: Path) -> None:
    flat: list[object] = [{"en": source, "no": target} for source, target in ROWS]
    nested: list[object] = [{"translation": row} for row in flat]
    assert pairs_of(hub_folder(tmp_path / "flat", flat)) == ROWS
    assert pairs_of(hub_folder(tmp_path / "nested", nested)) == ROWS


def test_parquet_with_the_declared_translation_feature(tmp_path: Path) -> None:
    import datasets

    features = datasets.Features(translation=datasets.Translation(["en", "no"]))
    rows = {"translation": [{"en": source, "no": target} for source, target in ROWS]}
    (tmp_path / "set").mkdir()
    datasets.Dataset.from_dict(rows, features=features).to_parquet(str(tmp_path / "set" / "train.parquet"))
    assert pairs_of(str(tmp_path / "set")) == ROWS


def test_a_line_break_in_the_hub_does_not_make_two_lines(tmp_path: Path) -> None:
    assert pairs_of(hub_folder(tmp_path / "a", [{"en": "ka\nlo\r\n", "no": "a"}])) == [("ka lo", "a")]


def test_a_missing_language_names_those_there_are(tmp_path: Path) -> None:
    rows = [{"en": "a", "no": "b"}]
    with pytest.raises(UserError, match=r"no 'de' in data set .*; it has: en, no"):
        pairs_of(hub_folder(tmp_path / "flat", list(rows)), target_language="de")
    with pytest.raises(UserError, match=r"no 'de' in column 'translation' of data set .*; it has: en, no"):
        pairs_of(hub_folder(tmp_path / "nested", [{"translation": row} for row in rows]), target_language="de")


@pytest.mark.parametrize("wrong", [{"en": "a"}, {"en": "a", "no": 7}, {"en": "a", "no": None}])
def test_an_entry_without_text_names_the_row(tmp_path: Path, wrong: dict[str, object]) -> None:
    good = {"en": "a", "no": "b"}
    with pytest.raises(UserError, match=r"row 2: 'no' is .*not text"):
        pairs_of(hub_folder(tmp_path / "a", [{"translation": good}, {"translation": wrong}]))


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    path = hub_folder(tmp_path / "a", [{"en": "a", "no": "b"}])
    with pytest.raises(UserError, match=r"split 'tarin'.*train"):
        pairs_of(path, split="tarin")
    with pytest.raises(UserError, match=r"gone"):
        pairs_of(str(tmp_path / "gone"))


def test_real_files_have_the_published_sizes(nmt_data: Path) -> None:
    folder = nmt_data / "multi30k"
    assert [count_lines(folder / f"{part}.en") for part in ("train", "val", "test2016")] == [29000, 1014, 1000]
    pairs = list(read_pairs(folder / "val.en", folder / "val.de"))
    raw = (folder / "val.de").read_bytes().split(b"\n")
    place = random.randrange(len(pairs))
    assert pairs[place][1] == raw[place].decode()
