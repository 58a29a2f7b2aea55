import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nmt.align.export import FORMATS, read_export, read_header, read_record, write_export
from nmt.align.record import Record, View, find_export, header_views, make_header
from nmt.data.pharaoh import read_links
from nmt.errors import UserError
from tests.align.conftest import MakeRecord

PAIRS = [
    ("ka lo", "OL  AK"),
    ("", ""),
    ("   ", "x y"),
    ("mi </s> \u2028x\x85y\r", '漢 "ك\\ \x0c\x00'),
    ("tu", ""),
]
VIEWS = [View("attention", 5, None, 1), View("erasure", 0, None, 0), View("erasure", 0, None, 0, raw=True)]
HEADER = make_header(run="toy", views=VIEWS, links="argmax", source_tokenizer="5" * 64, target_tokenizer="7" * 64)


@pytest.fixture
def records(make_record: MakeRecord) -> list[Record]:
    return [make_record(index, *pair, len(VIEWS)) for index, pair in enumerate(PAIRS)]


def parts(record: Record) -> tuple[object, ...]:
    return record.index, record.source, record.target, record.source_pieces, record.target_pieces, record.links


def assert_same(found: list[Record], expected: list[Record], views: int) -> None:
    assert list(map(parts, found)) == list(map(parts, expected))
    for one, other in zip(found, expected, strict=True):
        assert one.values.dtype == np.float32
        np.testing.assert_array_equal(one.values, other.values[:views])


@pytest.mark.parametrize(("format", "views"), [("npz", 3), ("jsonl", 1)])
def test_what_is_read_is_what_was_written(format: str, views: int, tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "a file, without a suffix"
    assert write_export(format, path, iter(records), HEADER) == len(records)
    assert_same(list(read_export(path)), records, views)
    assert_same([read_record(path, 4)], [records[3]], views)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_records_give_the_same_bytes(format: str, tmp_path: Path, records: list[Record]) -> None:
    for name in ("one", "two"):
        write_export(format, tmp_path / name, records, HEADER)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_npz_opens_in_plain_numpy(tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "a.npz"
    write_export("npz", path, records, HEADER)
    with np.load(path, allow_pickle=False) as arrays:
        header = json.loads(arrays["header"].tobytes())
        assert header == {"format": "nmt-alignment", "version": 2, "pairs": 5, **HEADER} == read_header(path)
        assert header_views(header) == VIEWS
        start, end = arrays["weight_offsets"][3:5]
        values = arrays["weights"][start:end].reshape(len(VIEWS), *arrays["shapes"][3])
        np.testing.assert_array_equal(values, records[3].values)
        text = arrays["text"].tobytes()
        start, end = arrays["text_offsets"][7:9]
        assert text[start:end].decode("utf-8") == PAIRS[3][1]
        start, end = arrays["piece_offsets"][7:9]
        assert tuple(map(tuple, arrays["pieces"][start:end].reshape(3, -1))) == records[3].target_pieces


@pytest.mark.parametrize("format", ["npz", "jsonl"])
def test_no_pairs_at_all(format: str, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    assert write_export(format, path, [], HEADER) == 0
    assert list(read_export(path)) == []
    with pytest.raises(UserError, match="holds no lines"):
        read_record(path, 1)


def test_jsonl_has_an_object_a_line_for_tools_that_split_lines_their_own_way(
    tmp_path: Path, records: list[Record]
) -> None:
    path = tmp_path / "a.jsonl"
    write_export("jsonl", path, records, HEADER)
    lines = path.read_bytes().decode("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    assert [entry["index"] for entry in entries] == [0, 1, 2, 3, 4]  # CASES G12
    assert entries[3]["source"] == PAIRS[3][0]
    names = ["index", "source", "target", "source_words", "target_words", "weights", "links"]
    assert list(entries[0]) == [*names, "source_pieces", "target_pieces", "piece_weights"]
    assert entries[0]["target_pieces"] == [[0, 2, 0], [4, 6, 1]]
    np.testing.assert_array_equal(np.array(entries[0]["weights"], np.float32), records[0].matrix.weights)
    assert entries[1]["weights"] == [[0.0]]


def test_pharaoh_has_a_line_a_pair_and_an_empty_one_for_no_links(tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "a.links"
    write_export("pharaoh", path, records, HEADER)
    lines = path.read_text(encoding="utf-8").split("\n")
    assert len(lines) == len(records) + 1  # CASES H04: LF at the end, and nothing after it
    assert [line for line, record in zip(lines, records, strict=False) if not record.links] == ["", "", ""]
    assert [links.sure for links in read_links(path)] == [record.links for record in records]


def test_nematus_text(tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "a.soft"
    write_export("nematus", path, records[:2], HEADER)
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    head, *rows = blocks[0].split("\n")
    assert head == "0 ||| OL AK ||| 0 ||| ka lo ||| 3 3"
    numbers = np.array([row.split(" ") for row in rows], dtype=np.float32)
    np.testing.assert_array_equal(numbers, records[0].matrix.weights)
    assert blocks[1:] == ["1 |||  ||| 0 |||  ||| 1 1\n0.0", ""]


@pytest.mark.parametrize("format", ["npz", "jsonl"])
def test_a_file_cut_short_is_refused_wherever_it_is_cut(format: str, tmp_path: Path, records: list[Record]) -> None:
    path, part = tmp_path / "whole", tmp_path / "part"
    write_export(format, path, records, HEADER)
    content = path.read_bytes()
    line_ends = {end for end, byte in enumerate(content, start=1) if byte == 10}
    whole_lines = line_ends | {end - 1 for end in line_ends} if format == "jsonl" else set()
    for end in range(1, len(content), 7):
        if end not in whole_lines:
            part.write_bytes(content[:end])
            with pytest.raises(UserError, match="part"):
                list(read_export(part))


def test_damage_inside_the_weights_is_noticed(tmp_path: Path, make_record: MakeRecord) -> None:
    path = tmp_path / "a.npz"
    words = " ".join(map(str, range(40)))
    write_export("npz", path, [make_record(0, words, words, len(VIEWS))], HEADER)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("weights.npy").header_offset + 500
    content[place] ^= 255
    path.write_bytes(content)
    with pytest.raises(UserError, match="damaged"):
        list(read_export(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"just text\n", "line 1: not an alignment export"),
        (b'{"index": 0}\n', "line 1"),
        (b"[1, 2]\n", "line 1"),
        (
            b'{"index":0,"source":"a","target":"b","links":[],'
            b'"source_pieces":[[0,1,0]],"target_pieces":[[0,1,0]],"piece_weights":[[1]]}',
            "line 1",
        ),
        (b"PK\x03\x04nothing", "not an alignment export"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_foreign_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        list(read_export(path))


def test_another_npz_and_another_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, weights=np.zeros(3))
    with pytest.raises(UserError, match="not an alignment export"):
        list(read_export(path))
    header = np.frombuffer(b'{"format": "nmt-alignment", "version": 1}', np.uint8)
    np.savez(path, header=header)
    with pytest.raises(UserError, match="version 1; this nmt reads 2"):
        read_header(path)


def test_a_line_beyond_the_end_is_refused(tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "a.npz"
    write_export("npz", path, records, HEADER)
    for line in (0, 6):
        with pytest.raises(UserError, match=f"no line {line}; it holds the lines 1 to 5"):
            read_record(path, line)


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_that_fails_leaves_nothing_and_harms_nothing(
    format: str, tmp_path: Path, records: list[Record]
) -> None:
    def failing() -> Iterator[Record]:
        yield records[0]
        raise RuntimeError("the model broke")

    path = tmp_path / "out"
    path.write_bytes(b"earlier")
    with pytest.raises(RuntimeError):
        write_export(format, path, failing(), HEADER)
    assert os.listdir(tmp_path) == ["out"]
    assert path.read_bytes() == b"earlier"


def test_output_places(tmp_path: Path, records: list[Record]) -> None:
    write_export("npz", tmp_path / "new" / "folder" / "a.npz", records, HEADER)
    assert len(list(read_export(tmp_path / "new" / "folder" / "a.npz"))) == 5
    with pytest.raises(UserError, match="is a directory"):
        write_export("pharaoh", tmp_path, records, HEADER)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"):
        write_export("pharaoh", tmp_path / "file" / "a", records, HEADER)
    with pytest.raises(UserError, match="unknown export format 'csv'; there are pharaoh, jsonl, npz, nematus"):
        write_export("csv", tmp_path / "a", records, HEADER)


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path, records: list[Record]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_export("pharaoh", pipe, records, HEADER)
        assert os.read(reader, 1000).count(b"\n") == 5
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_run_stands_for_the_export_it_holds(tmp_path: Path, records: list[Record]) -> None:
    with pytest.raises(UserError, match=r"holds no alignments/test\.npz"):
        find_export(tmp_path)
    export = tmp_path / "alignments" / "test.npz"
    write_export("npz", export, records, HEADER)
    assert find_export(tmp_path) == find_export(export) == export
    with pytest.raises(UserError, match="there is no such file"):
        find_export(tmp_path / "gone.npz")
