"""Encoded pairs on disk, memory-mapped: a corpus larger than the memory can be trained on.

One Arrow file, a row a pair: `source` and `target` (piece ids without BOS and EOS, int32), `index`
(the pair's line from 0 in the corpus), and, where attention is to be guided, `links` (of pieces, as s, t, s, t, ...).
Nothing is looked up in a cache: a store holds what its own call encoded.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

import numpy as np

from nmt.data.batch import Batch, Ints, make_batch
from nmt.data.filters import Report, drop_blanks, drop_unfit
from nmt.data.pairs import IdPair, TextPair, WordLinks
from nmt.data.tokenizer import Tokenizer
from nmt.data.words import line_pieces
from nmt.errors import UserError

FILE = "pairs.arrow"
ROWS = 10_000  # pairs that are in memory while a store is written, and a record batch of the file


def encode_pairs(
    pairs: Iterable[tuple[str, str]],
    source: Tokenizer,
    target: Tokenizer,
    *,
    directory: Path,
    max_length: int | None,
    report: Report,
    links: Iterable[WordLinks] | None = None,
) -> PairStore:
    """Encode the pairs one after another into `directory`, which holds one store: a former one is replaced.

    Dropped and counted in `report`: pairs with a blank side, and pairs with more than `max_length` pieces (EOS not
    counted) on either side; None for data that must stay whole (development, test). `index` counts `pairs` as they
    come, dropped ones too. `links`: each pair's word links, which lie inside it; a link of two words becomes one of
    every piece of the one with every piece of the other. UserError: nothing is left.
    """
    encoded = (_encode(pair, source, target) for pair in drop_blanks(pairs, report, links))
    directory.mkdir(parents=True, exist_ok=True)
    path, temporary = directory / FILE, directory / f".{FILE}.{os.getpid()}"
    try:
        _write(drop_unfit(encoded, max_length, report), temporary, linked=links is not None)
        if not report.kept:
            raise UserError(f"no pairs to use in {report.describe()}")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return PairStore(path=path)


class PairStore:
    """The pairs of one file, by row.

    `source_lengths`, `target_lengths` [rows] int64: pieces and EOS; `index` [rows] int64: lines from 0 in the corpus.
    """

    def __init__(self, *, path: Path) -> None:
        """`path` is an Arrow file that `encode_pairs` wrote."""
        import pyarrow.ipc

        with pyarrow.memory_map(str(path)) as file:
            table = pyarrow.ipc.open_file(file).read_all()
        self._source = _Column(table.column("source"))
        self._target = _Column(table.column("target"))
        self._links = _Column(table.column("links")) if "links" in table.column_names else None
        self.index: Ints = table.column("index").to_numpy()
        self.source_lengths: Ints = self._source.lengths() + 1
        self.target_lengths: Ints = self._target.lengths() + 1

    def __len__(self) -> int:
        return len(self.index)

    def fingerprint(self) -> str:
        """What the pairs are known by: a digest of all their ids, and of their links where there are any."""
        digest = hashlib.sha256()
        for column in (self._source, self._target, self._links):
            for part in () if column is None else column.parts():
                digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()

    def batch(self, rows: Sequence[int]) -> Batch:
        """The pairs of these rows, in this order."""
        index = self.index[np.asarray(rows, dtype=np.int64)]
        return make_batch(
            [self._source.row(row) for row in rows],
            [self._target.row(row) for row in rows],
            index.tolist(),
            None if self._links is None else [self._links.row(row) for row in rows],
        )


class _Column:
    """The lists of one column as views of the mapped file; a slice of numpy costs a tenth of Arrow's own look-up."""

    def __init__(self, column: Any) -> None:
        self._values = [chunk.values.to_numpy() for chunk in column.chunks]
        self._offsets = [chunk.offsets.to_numpy() for chunk in column.chunks]

    def lengths(self) -> Ints:
        return np.concatenate([np.diff(offsets) for offsets in self._offsets]).astype(np.int64)

    def parts(self) -> Iterator[Any]:
        """All offsets and values, an array at a time."""
        yield from self._offsets
        yield from self._values

    def row(self, row: int) -> list[int]:
        chunk, place = divmod(row, ROWS)
        begin, end = self._offsets[chunk][place : place + 2]
        return self._values[chunk][begin:end].tolist()  # type: ignore[no-any-return]


def _encode(pair: TextPair, source: Tokenizer, target: Tokenizer) -> IdPair:
    links = piece_links(pair, source, target) if pair.links else ()
    return IdPair(pair.index, source.encode(pair.source), target.encode(pair.target), links)


def piece_links(pair: TextPair, source: Tokenizer, target: Tokenizer) -> list[int]:
    """The pair's word links as links of pieces, s, t, s, t, ..., in order; those of a word without pieces are lost."""
    pieces = [pieces_of_words(tokenizer, line) for tokenizer, line in ((source, pair.source), (target, pair.target))]
    own = (product(pieces[0].get(s, ()), pieces[1].get(t, ())) for s, t in pair.links)
    return [place for link in sorted(chain.from_iterable(own)) for place in link]


def pieces_of_words(tokenizer: Tokenizer, line: str) -> dict[int, list[int]]:
    """The places of each word's pieces in `tokenizer.encode(line)`."""
    places: dict[int, list[int]] = {}
    for place, word in enumerate(line_pieces(tokenizer, line).word):
        places.setdefault(word, []).append(place)
    return places


def _write(pairs: Iterator[IdPair], path: Path, *, linked: bool) -> None:
    import pyarrow.ipc

    ids = pyarrow.list_(pyarrow.int32())
    schema = pyarrow.schema(
        {"index": pyarrow.int64(), "source": ids, "target": ids} | ({"links": ids} if linked else {})
    )
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, schema) as writer:
        while rows := list(islice(pairs, ROWS)):
            columns = {name: [getattr(row, name) for row in rows] for name in schema.names}
            writer.write_batch(pyarrow.record_batch(columns, schema))
