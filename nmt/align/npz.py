"""The npz form of an alignment export: a zip of plain arrays that numpy opens without pickle.

For N pairs of V views; pair i has T_i target and S_i source pieces:

header          uint8, UTF-8 JSON: `format`, `version`, `pairs` (N) and the keys of nmt/align/record.py:make_header
index           int64 [N], the pair's line from 0
shapes          int64 [N, 2], T_i + 1 and S_i + 1
weights         float32, all values end to end, view by view, row by row; last row and column EOS
weight_offsets  int64 [N + 1], pair i has weights[weight_offsets[i]:weight_offsets[i + 1]].reshape(V, *shapes[i])
text            uint8, UTF-8 of source 0, target 0, source 1, ... as given; words are the fields between U+0020
text_offsets    int64 [2 N + 1] in bytes: source i starts at text_offsets[2 i], its target at text_offsets[2 i + 1]
pieces          int32, for source 0, target 0, source 1, ... first each piece's word in its line, then the characters
                of the line where each begins, then where each ends
piece_offsets   int64 [2 N + 1]: pieces[piece_offsets[k]:piece_offsets[k + 1]].reshape(3, -1) are those of text k
links           int64 [M, 2], source and target word from 0, the links of all pairs end to end
link_offsets    int64 [N + 1]

Offsets and links are held in memory; weights, text and pieces never are.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nmt.align.record import Header, Record, header_views
from nmt.data.files import open_whole
from nmt.data.words import Pieces
from nmt.errors import UserError

FORMAT, VERSION = "nmt-alignment", 2


def write_npz(path: Path, records: Iterable[Record], header: Header) -> int:
    """Write the records as they come and return how many there were."""
    with ExitStack() as open_files:
        stream = open_files.enter_context(open_whole(path))
        weights, text, pieces = (
            open_files.enter_context(tempfile.TemporaryFile(dir=path.resolve().parent)) for _ in range(3)
        )
        columns = _Columns(len(header_views(header)), weights, text, pieces)
        for record in records:
            columns.add(record)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            columns.save(archive, header)
    return len(columns.index)


def read_npz(path: Path) -> Iterator[Record]:
    """The records one by one; UserError where the file is foreign or damaged."""
    with _opened(path) as archive:
        views = len(header_views(_read_header(path, archive)))
        shapes, index = _read_array(archive, "shapes").tolist(), _read_array(archive, "index").tolist()
        lengths = np.diff(_read_array(archive, "text_offsets")).reshape(-1, 2).tolist()
        links, link_offsets = _read_array(archive, "links"), _read_array(archive, "link_offsets")
        with (
            _blob(archive, "weights") as weights,
            _blob(archive, "text") as text,
            _blob(archive, "pieces") as pieces,
        ):
            for i, (rows, columns) in enumerate(shapes):
                source, target = (_take(text, length).decode("utf-8") for length in lengths[i])
                source_pieces, target_pieces = _take_pieces(pieces, columns - 1), _take_pieces(pieces, rows - 1)
                values = np.frombuffer(_take(weights, 4 * views * rows * columns), "<f4").reshape(views, rows, columns)
                pairs = frozenset((s, t) for s, t in links[link_offsets[i] : link_offsets[i + 1]].tolist())
                yield Record(index[i], source, target, source_pieces, target_pieces, values, pairs)


def read_npz_header(path: Path) -> Header:
    """The header alone."""
    with _opened(path) as archive:
        return _read_header(path, archive)


class _Columns:
    """The arrays of the file while it grows; all records have `views` views."""

    def __init__(self, views: int, weights: IO[bytes], text: IO[bytes], pieces: IO[bytes]) -> None:
        self.index, self.shapes, self.links = array("q"), array("q"), array("q")
        self.weight_offsets, self.text_offsets, self.piece_offsets, self.link_offsets = (
            array("q", [0]) for _ in range(4)
        )
        self.views, self.weights, self.text, self.pieces = views, weights, text, pieces

    def add(self, record: Record) -> None:
        assert len(record.values) == self.views, "the header says what each of the views is"
        self.index.append(record.index)
        self.shapes.extend(record.values.shape[1:])
        self.weights.write(np.ascontiguousarray(record.values, dtype="<f4").tobytes())
        self.weight_offsets.append(self.weight_offsets[-1] + record.values.size)
        for line in (record.source, record.target):
            self.text_offsets.append(self.text_offsets[-1] + self.text.write(line.encode("utf-8")))
        for pieces in (record.source_pieces, record.target_pieces):
            numbers = np.array(pieces, dtype="<i4")
            self.pieces.write(numbers.tobytes())
            self.piece_offsets.append(self.piece_offsets[-1] + numbers.size)
        for link in sorted(record.links):
            self.links.extend(link)
        self.link_offsets.append(len(self.links) // 2)

    def save(self, archive: zipfile.ZipFile, header: Header) -> None:
        whole = {"format": FORMAT, "version": VERSION, "pairs": len(self.index), **header}
        _save_array(archive, "header", np.frombuffer(json.dumps(whole, ensure_ascii=False).encode("utf-8"), np.uint8))
        for name in ("index", "weight_offsets", "text_offsets", "piece_offsets", "link_offsets"):
            _save_array(archive, name, np.array(getattr(self, name), dtype="<i8"))
        for name in ("shapes", "links"):
            _save_array(archive, name, np.array(getattr(self, name), dtype="<i8").reshape(-1, 2))
        _save_blob(archive, "weights", self.weights, "<f4", self.weight_offsets[-1])
        _save_blob(archive, "text", self.text, "|u1", self.text_offsets[-1])
        _save_blob(archive, "pieces", self.pieces, "<i4", self.piece_offsets[-1])


def _save_array(archive: zipfile.ZipFile, name: str, values: NDArray[np.generic]) -> None:
    with _member(archive, name) as stream:
        npy.write_array(stream, values, allow_pickle=False)


def _save_blob(archive: zipfile.ZipFile, name: str, blob: IO[bytes], kind: str, length: int) -> None:
    """A flat array whose bytes lie in a file already."""
    blob.seek(0)
    with _member(archive, name) as stream:
        npy.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": (length,)})
        shutil.copyfileobj(blob, stream)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Without a clock reading, so that the same export has the same bytes."""
    info = zipfile.ZipInfo(f"{name}.npy")
    info.compress_type = zipfile.ZIP_DEFLATED
    return archive.open(info, "w", force_zip64=True)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except UserError:
        raise
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, IndexError, EOFError, TypeError) as error:
        raise UserError(f"{path}: not an alignment export of ours, or damaged") from error


def _read_header(path: Path, archive: zipfile.ZipFile) -> Header:
    header: Header = json.loads(_read_array(archive, "header").tobytes().decode("utf-8"))
    if header["format"] != FORMAT:
        raise ValueError(header["format"])
    if header["version"] != VERSION:
        raise UserError(f"{path}: an alignment export of version {header['version']}; this nmt reads {VERSION}")
    return header


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[np.int64]:
    with archive.open(f"{name}.npy") as stream:
        values: NDArray[np.int64] = npy.read_array(stream, allow_pickle=False)
    return values


@contextmanager
def _blob(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    """The bytes of a flat array, after its npy header."""
    with closing(archive.open(f"{name}.npy")) as stream:
        npy.read_magic(stream)
        npy.read_array_header_1_0(stream)
        yield stream


def _take_pieces(stream: IO[bytes], count: int) -> Pieces:
    word, begin, end = np.frombuffer(_take(stream, 12 * count), "<i4").reshape(3, count).tolist()
    return Pieces(tuple(word), tuple(begin), tuple(end))


def _take(stream: IO[bytes] | BinaryIO, size: int) -> bytes:
    taken = stream.read(int(size))
    if len(taken) != size:
        raise EOFError
    return taken
