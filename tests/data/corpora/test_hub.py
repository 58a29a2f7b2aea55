"""Data sets of the hub's formats: text as it is stored, and whatever is no text is refused by its row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nmt.data.corpora.hub import Hub
from nmt.errors import UserError

pytestmark = pytest.mark.usefixtures("own_cache")
ROWS = [("null", "zero"), ("NA", "sodium"), ("007", "agent"), ("1e3", "x"), ("true", "y"), ("2020-01-01", "z")]


def hub_folder(path: Path, *files: Sequence[object]) -> str:
    """A folder in the hub's layout with JSON lines of the split `train`."""
    path.mkdir()
    for number, rows in enumerate(files):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (path / f"train-{number}.jsonl").write_text(text, encoding="utf-8")
    return str(path)


def hub(path: str | Path, **changes: Any) -> Hub:
    settings = {"split": "train", "source_language": "en", "target_language": "no"} | changes
    return Hub(path=str(path), **settings)


def columns(rows: list[tuple[str, str]]) -> dict[str, list[str]]:
    return {"en": [source for source, _ in rows], "no": [target for _, target in rows]}


def saved_rows(rows: list[tuple[str, str]]) -> Any:
    import datasets

    features = datasets.Features(translation=datasets.Translation(["en", "no"]))
    entries = [{"en": source, "no": target} for source, target in rows]
    return datasets.Dataset.from_dict({"translation": entries}, features=features)


@pytest.mark.parametrize("stream", [False, True])
def test_both_layouts_give_the_text_as_it_is(tmp_path: Path, stream: bool) -> None:
    """A10: null, NA, 007, 1e3, true and a date are texts; and the language `no` is one."""
    flat = [{"en": source, "no": target} for source, target in ROWS]
    for name, rows in (("flat", flat), ("nested", [{"translation": row} for row in flat])):
        assert list(hub(hub_folder(tmp_path / name, rows), stream=stream).pairs()) == ROWS


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("start", [0, 2, 6, 9])
def test_a_parquet_file_from_any_row_on(tmp_path: Path, start: int, stream: bool) -> None:
    saved_rows(ROWS).to_parquet(str(tmp_path / "a.parquet"))
    corpus = hub(tmp_path / "a.parquet", split="validation", stream=stream)
    assert list(corpus.pairs(start)) == ROWS[start:]
    assert corpus.count() == 6


def test_an_arrow_file_and_what_save_to_disk_made(tmp_path: Path) -> None:
    import datasets

    rows = saved_rows(ROWS)
    rows.save_to_disk(tmp_path / "one")
    datasets.DatasetDict(train=rows, validation=rows.select(range(3))).save_to_disk(tmp_path / "two")
    (file,) = (tmp_path / "one").glob("*.arrow")
    for path in (file, tmp_path / "one", tmp_path / "two"):
        assert list(hub(path).pairs(1)) == ROWS[1:]
        assert list(hub(path, split="train[1:3]").pairs()) == ROWS[1:3]
    assert hub(tmp_path / "two", split="validation").count() == 3
    assert hub(tmp_path / "two", split="train+validation").count() == 9
    with pytest.raises(UserError, match=r"split 'test': Unknown split \"test\".*'train', 'validation'"):
        hub(tmp_path / "two", split="test").pairs()


def test_columns_of_other_names(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["ka"], "b": ["AK"], "picture": [7]}), tmp_path / "flat.parquet")
    assert list(hub(tmp_path / "flat.parquet", source_column="a", target_column="b").pairs()) == [("ka", "AK")]
    pq.write_table(pa.table({"text": [{"a": "ka", "no": "AK"}]}), tmp_path / "nested.parquet")
    assert list(hub(tmp_path / "nested.parquet", column="text", source_column="a").pairs()) == [("ka", "AK")]
    with pytest.raises(UserError, match=r"no 'en' in data set .*; it has: a, b, picture"):
        hub(tmp_path / "flat.parquet").pairs()


def test_chosen_files_of_a_folder(tmp_path: Path) -> None:
    path = hub_folder(tmp_path / "a", [{"en": "ka", "no": "AK"}], [{"en": "lo", "no": "OL"}])
    assert list(hub(path).pairs()) == [("ka", "AK"), ("lo", "OL")]
    assert list(hub(path, data_files="train-1.jsonl").pairs()) == [("lo", "OL")]
    assert list(hub(path, data_files={"odd": ["train-1.jsonl"]}, split="odd").pairs()) == [("lo", "OL")]


def test_a_line_break_in_the_hub_does_not_make_two_lines(tmp_path: Path) -> None:
    assert list(hub(hub_folder(tmp_path / "a", [{"en": "ka\nlo\r\nmi\r\n", "no": "a"}])).pairs()) == [("ka lo mi", "a")]


def test_a_missing_language_names_those_there_are(tmp_path: Path) -> None:
    rows = [{"en": "a", "no": "b"}]
    with pytest.raises(UserError, match=r"no 'de' in data set .*; it has: en, no"):
        hub(hub_folder(tmp_path / "flat", rows), target_language="de").pairs()
    nested = hub_folder(tmp_path / "nested", [{"translation": row} for row in rows])
    with pytest.raises(UserError, match=r"no 'de' in column 'translation' of data set .*; it has: en, no"):
        hub(nested, target_language="de").pairs()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wrong", [{"en": "a"}, {"en": "a", "no": 7}, {"en": "a", "no": None}])
def test_an_entry_without_text_names_the_row(tmp_path: Path, wrong: object, stream: bool) -> None:
    path = hub_folder(tmp_path / "a", [{"translation": {"en": "a", "no": "b"}}, {"translation": wrong}])
    with pytest.raises(UserError, match=r"row 2: 'no' is .*not text"):
        list(hub(path, stream=stream).pairs())
    with pytest.raises(UserError, match=r"row 2: 'no' is .*not text"):
        hub(path, stream=stream).pairs(1)


def test_what_was_inferred_as_a_number_is_refused(tmp_path: Path) -> None:
    """A10: a column that is all numbers comes as numbers, and one that is all dates as times."""
    for name, value in (("numbers", 7), ("dates", "2020-01-01")):
        with pytest.raises(UserError, match=r"row 1: 'no' is .*which is not text"):
            hub(hub_folder(tmp_path / name, [{"en": "a", "no": value}] * 2)).pairs()


def test_a_date_that_was_made_a_time_and_a_text_again_is_refused(tmp_path: Path) -> None:
    """A10: a second file that is all dates would come as other texts than it has."""
    path = hub_folder(tmp_path / "a", [{"en": "a", "no": "b"}], [{"en": "a", "no": "2020-01-01"}])
    with pytest.raises(UserError, match=r"row 2: 'no' is '2020-01-01 00:00:00', which .* makes of dates"):
        list(hub(path).pairs())


def test_csv_files_are_refused_because_their_texts_would_change(tmp_path: Path) -> None:
    """A10, A09: `datasets` has kinds guessed and quotes read."""
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.csv").write_text("en,no\n007,agent\n")
    with pytest.raises(UserError, match=r"consists of CSV files.*data=tsv"):
        hub(tmp_path / "set").pairs()


def test_invalid_utf8_is_told(tmp_path: Path) -> None:
    """A08."""
    wrong = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    pq.write_table(pa.table({"en": wrong, "no": ["a"]}), tmp_path / "a.parquet")
    with pytest.raises(UserError, match=r"a\.parquet', split 'train': .*utf-8"):
        hub(tmp_path / "a.parquet").pairs()


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    path = hub_folder(tmp_path / "a", [{"en": "a", "no": "b"}])
    with pytest.raises(UserError, match=r"split 'tarin'.*train"):
        hub(path, split="tarin").pairs()
    with pytest.raises(UserError, match=r"gone"):
        hub(tmp_path / "gone").pairs()
    (tmp_path / "bad.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(UserError, match=r"bad\.parquet', split 'train': .*[Pp]arquet"):
        hub(tmp_path / "bad.parquet").pairs()
    pq.write_table(
        pa.table({"en": pa.array([], pa.string()), "no": pa.array([], pa.string())}), tmp_path / "no.parquet"
    )
    with pytest.raises(UserError, match=r"no\.parquet', split 'train': "):  # the library reads no empty files
        hub(tmp_path / "no.parquet").pairs()
    (tmp_path / "a.jsonl").write_text('{"en": "a", "no": "b"}\n')
    with pytest.raises(UserError, match=r"a\.jsonl: single files .*data=jsonl"):
        hub(tmp_path / "a.jsonl").pairs()
    with pytest.raises(UserError, match=r"is a file, and has no revision to choose"):
        hub(tmp_path / "bad.parquet", revision="main").pairs()


def test_a_data_set_with_a_script_names_the_way_out(tmp_path: Path) -> None:
    """`datasets` runs no scripts any more."""
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "old.py").write_text("import datasets\n")
    hub = Hub(source_language="en", target_language="no", path=str(folder), split="train")
    with pytest.raises(UserError, match=r"scripts are no longer supported.*revision=refs/convert/parquet"):
        hub.pairs()
