"""Encoded pairs on disk, memory-mapped: a corpus larger than the memory can be trained on.

A store is a folder of flat little-endian arrays, a file each, and `header.json`, which is written last and says what
the others hold. N pairs are

    index, corpus      [N]      the pair's number in the corpus, and the member of a mixture that it is from
    source_lengths, target_lengths [N]  pieces of each side, and EOS
    ids                [...]    of each pair its source's pieces, then its target's, without BOS and EOS
    links              [...]    where attention is to be guided: links of pieces, as s, t, s, t, ...
    text               [...]    where pieces are drawn anew at every use: both lines in UTF-8

and a pair's part of `ids` lies between two neighbours of `ids_offsets` [N + 1]; so with the others, `text` having two
rows a pair. Nothing here is as large as the corpus but the files.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nmt.data.batch import Batch, batch_pairs
from nmt.data.filters import Report
from nmt.data.pairs import IdPair, TextPair
from nmt.errors import UserError

FORMAT = 1  # of the files; a store of another one is made anew
HEADER = "header.json"
ROWS = 4096  # pairs that are in memory while a store is written
RAGGED = ("ids", "links", "text")  # arrays whose rows differ in length
KNOWN_BY = ("ids", "source_lengths", "target_lengths", "corpus", "links")  # what the fingerprint is of

Integers = NDArray[Any]


class Unwritable(UserError):
    """A store's folder or file that can't be made: no room, no right, no such disk."""


def write_store(
    pairs: Iterable[IdPair],
    directory: Path,
    *,
    report: Report,
    linked: bool,
    texts: bool = False,
    vocabulary: int | None = None,
) -> PairStore:
    """Write the pairs as they come into `directory`, which is made here, and open them; nothing of it is left after an
    exception.

    report: what `pairs` counts while it is read, by the corpora that they are from; it is kept with them.
    linked, texts: whether links of pieces, and both lines of each pair, are kept. vocabulary: how many ids there are;
    where two bytes hold one, they do. UserError: there are no pairs. Unwritable.
    """
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise _unwritable(directory, error) from error
    try:
        with _Writer(directory, _dtypes(len(report.names), vocabulary, linked, texts)) as writer:
            source = iter(pairs)
            while block := list(islice(source, ROWS)):
                writer.add(block)
            if not writer.count:
                raise UserError(f"no pairs to use in {'; '.join(report.describe().splitlines())}")
            writer.finish({"report": report.as_dict()})
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return PairStore(directory)


class PairStore:
    """The pairs of one folder, by row.

    index [N] int64, corpus [N] uint8 or uint16, source_lengths, target_lengths [N] int32 (EOS counted) are views of the
    files. longest: the greatest of either length. report: what was left out, and why.
    """

    def __init__(self, directory: Path) -> None:
        """UserError: not a store of this format, or files of it are missing or of another size."""
        self._header = _read_header(directory)
        arrays = {
            name: _open(directory / name, about["dtype"], about["count"])
            for name, about in self._header["arrays"].items()
        }
        self._arrays = arrays
        self.index = arrays["index"]
        self.corpus = arrays["corpus"]
        self.source_lengths = arrays["source_lengths"]
        self.target_lengths = arrays["target_lengths"]
        self.longest: tuple[int, int] = tuple(self._header["longest"])
        self.report = Report.from_dict(self._header["report"])
        self._ragged = {name: _Ragged(arrays[name], arrays[f"{name}_offsets"]) for name in RAGGED if name in arrays}

    def __len__(self) -> int:
        return len(self.index)

    @property
    def linked(self) -> bool:
        """Whether it has links."""
        return "links" in self._ragged

    def rename(self, part: str, names: Sequence[str]) -> None:
        """What people call it now: a store that was kept may have been made of the same text under other names."""
        self.report.part, self.report.names = part, tuple(names)

    def fingerprint(self) -> str:
        """What the pairs are known by: a digest of all their ids, and of their links where there are any."""
        arrays = self._header["arrays"]
        return _digest_of([arrays[name]["sha256"] for name in KNOWN_BY if name in arrays])

    def verify(self) -> None:
        """Read all files. UserError: one does not hold what was written."""
        for name, array in self._arrays.items():
            if hashlib.sha256(array.data).hexdigest() != self._header["arrays"][name]["sha256"]:
                raise UserError(f"{name} of a store of encoded pairs does not hold what was written to it")

    def pairs(self, rows: Sequence[int]) -> list[IdPair]:
        """The pairs of these rows, in this order."""
        at = np.asarray(rows, dtype=np.int64)
        both = self._ragged["ids"].rows(at)
        links: Iterable[Collection[int]] = self._ragged["links"].rows(at) if self.linked else [()] * len(both)
        cuts = (self.source_lengths[at] - 1).tolist()
        own = zip(self.index[at].tolist(), both, cuts, links, self.corpus[at].tolist(), strict=True)
        return [IdPair(index, ids[:cut], ids[cut:], link, corpus) for index, ids, cut, link, corpus in own]

    def texts(self, rows: Sequence[int]) -> list[TextPair]:
        """The same pairs as they were before they were cut into pieces, without links."""
        at = np.asarray(rows, dtype=np.int64)
        text = self._ragged["text"]
        sources, targets = ([raw.decode("utf-8") for raw in text.raw_rows(2 * at + side)] for side in range(2))
        own = zip(self.index[at].tolist(), sources, targets, self.corpus[at].tolist(), strict=True)
        return [TextPair(index, source, target, corpus=corpus) for index, source, target, corpus in own]

    def batch(self, rows: Sequence[int]) -> Batch:
        """The pairs of these rows, in this order."""
        return batch_pairs(self.pairs(rows), linked=self.linked)


class _Ragged:
    """Rows of different lengths: the values of all, and where each begins [rows + 1]."""

    def __init__(self, values: Integers, offsets: Integers) -> None:
        self._values = values
        self._offsets = offsets

    def rows(self, at: Integers) -> list[list[int]]:
        return [self._values[begin:end].tolist() for begin, end in self._bounds(at)]

    def raw_rows(self, at: Integers) -> list[bytes]:
        return [self._values[begin:end].tobytes() for begin, end in self._bounds(at)]

    def _bounds(self, at: Integers) -> Iterator[tuple[int, int]]:
        return zip(self._offsets[at].tolist(), self._offsets[at + 1].tolist(), strict=True)


class _Writer:
    """The files of a store that is being written."""

    def __init__(self, directory: Path, dtypes: dict[str, str]) -> None:
        self.count = 0
        self._directory = directory
        self._longest = [0, 0]
        self._files = {name: _File(directory / name, dtype) for name, dtype in dtypes.items()}
        for name, file in self._files.items():
            if name.endswith("_offsets"):
                file.append([0])

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def add(self, block: Sequence[IdPair]) -> None:
        """These pairs, after those before."""
        self.count += len(block)
        self._append("index", [pair.index for pair in block])
        self._append("corpus", [pair.corpus for pair in block])
        lengths = [len(pair.source) + 1 for pair in block], [len(pair.target) + 1 for pair in block]
        self._append("source_lengths", lengths[0])
        self._append("target_lengths", lengths[1])
        self._longest = [max(before, *own) for before, own in zip(self._longest, lengths, strict=True)]
        self._append_rows("ids", [[*pair.source, *pair.target] for pair in block])
        if "links" in self._files:
            self._append_rows("links", [pair.links for pair in block])
        if "text" in self._files:
            self._append_rows("text", [line.encode("utf-8") for pair in block for line in _text(pair)])

    def finish(self, about: dict[str, Any]) -> None:
        """The header, and with it the store, is there from now on."""
        for file in self._files.values():
            file.close()
        arrays = {name: file.about() for name, file in self._files.items()}
        header = {"format": FORMAT, "pairs": self.count, "longest": self._longest, **about, "arrays": arrays}
        text = json.dumps(header, ensure_ascii=False, indent=1)
        try:
            (self._directory / HEADER).write_text(text, encoding="utf-8")
        except OSError as error:
            raise _unwritable(self._directory, error) from error

    def _append(self, name: str, values: ArrayLike) -> None:
        self._files[name].append(values)

    def _append_rows(self, name: str, rows: Sequence[Any]) -> None:
        values, offsets = self._files[name], self._files[f"{name}_offsets"]
        ends = values.count + np.cumsum([len(row) for row in rows])
        values.append(np.fromiter(chain.from_iterable(rows), dtype=values.dtype, count=int(ends[-1]) - values.count))
        offsets.append(ends)


class _File:
    """A flat array that grows; what is known of it is kept."""

    def __init__(self, path: Path, dtype: str) -> None:
        self.dtype = np.dtype(dtype)
        self.count = 0
        self._path = path
        self._digest = hashlib.sha256()
        try:
            self._file = path.open("xb")
        except OSError as error:
            raise _unwritable(path, error) from error

    def append(self, values: ArrayLike) -> None:
        raw = np.ascontiguousarray(values, dtype=self.dtype)
        self.count += raw.size
        self._digest.update(raw.data)
        try:
            self._file.write(raw.data)
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def about(self) -> dict[str, Any]:
        return {"dtype": self.dtype.str, "count": self.count, "sha256": self._digest.hexdigest()}


def _dtypes(corpora: int, vocabulary: int | None, linked: bool, texts: bool) -> dict[str, str]:
    """Of every array that there is to be."""
    found = {"index": "<i8", "corpus": "|u1" if corpora <= 1 << 8 else "<u2"}
    found |= {"source_lengths": "<i4", "target_lengths": "<i4"}
    found["ids"] = "<u2" if vocabulary is not None and vocabulary <= 1 << 16 else "<i4"
    found |= {"links": "<i4"} if linked else {}
    found |= {"text": "|u1"} if texts else {}
    return found | {f"{name}_offsets": "<i8" for name in RAGGED if name in found}


def _text(pair: IdPair) -> tuple[str, str]:
    assert pair.text is not None, "a store of texts needs pairs that have theirs"
    return pair.text.source, pair.text.target


def _read_header(directory: Path) -> dict[str, Any]:
    try:
        header = json.loads((directory / HEADER).read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{directory}: this is no whole store of encoded pairs") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UserError(f"{directory}: this store of encoded pairs is not of format {FORMAT}")
    return header


def _open(path: Path, dtype: str, count: int) -> Integers:
    """A view of the file; of one without content, which can't be mapped, an empty array."""
    if not path.is_file() or path.stat().st_size != count * np.dtype(dtype).itemsize:
        raise UserError(f"{path}: missing or cut off")
    return np.asarray(np.memmap(path, dtype=dtype, mode="r")) if count else np.empty(0, dtype=dtype)


def _digest_of(digests: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _unwritable(path: Path, error: OSError) -> Unwritable:
    return Unwritable(f"{path}: cannot be written: {error.strerror or error}")
