"""The text formats of an alignment export, a pair at a time.

jsonl, one object a line: `index` line from 0; `source`, `target` the lines as given; `source_words`, `target_words`
their words; `weights` of view 0, rows of [T + 1, S + 1], last row and column EOS; `links` sorted [source, target]
pairs from 0; `source_pieces`, `target_pieces` a [begin, end, word] for each piece, characters of the line and the
word's number from 0; `piece_weights` as `weights`, over pieces. Numbers have enough digits to give back the float32.

nematus: `index ||| target ||| score ||| source ||| S+1 T+1`, then a line of S+1 weights for each of the T+1 target
positions, then an empty line. The score is 0: the text was given, not searched for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nmt.align.matrix import Weights
from nmt.align.record import Record
from nmt.data.lines import read_lines
from nmt.data.pharaoh import format_links
from nmt.data.words import Pieces
from nmt.errors import UserError

# JSON leaves these alone, but tools that split lines by Unicode would cut an object in two there.
_ESCAPED_SEPARATORS = {ord(c): f"\\u{ord(c):04x}" for c in "\x85\u2028\u2029"}


def pharaoh_line(record: Record) -> str:
    """Links, or nothing, and LF."""
    return format_links(record.links) + "\n"


def nematus_block(record: Record) -> str:
    """The header line, the rows, an empty line."""
    matrix = record.matrix
    head = (record.index, " ".join(matrix.target_words), 0, " ".join(matrix.source_words))
    sizes = f"{len(matrix.source_words) + 1} {len(matrix.target_words) + 1}"
    rows = "".join(" ".join(row) + "\n" for row in _shortest(matrix.weights))
    return " ||| ".join([*map(str, head), sizes]) + "\n" + rows + "\n"


def jsonl_line(record: Record) -> str:
    """One JSON object and LF."""
    entry = {
        "index": record.index,
        "source": record.source,
        "target": record.target,
        "source_words": record.source_words,
        "target_words": record.target_words,
        "weights": _numbers(record.matrix.weights),
        "links": sorted(record.links),
        "source_pieces": _spans(record.source_pieces),
        "target_pieces": _spans(record.target_pieces),
        "piece_weights": _numbers(record.values[0]),
    }
    return json.dumps(entry, ensure_ascii=False).translate(_ESCAPED_SEPARATORS) + "\n"


def parse_jsonl(path: Path) -> Iterator[Record]:
    """The records of a file of `jsonl_line`s; UserError with the line number where one is something else."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield _record(json.loads(line))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise UserError(f"{path}, line {number}: not an alignment export of ours, or cut short") from error


def _record(entry: dict[str, Any]) -> Record:
    source_pieces, target_pieces = _pieces(entry["source_pieces"]), _pieces(entry["target_pieces"])
    shape = (1, len(target_pieces.word) + 1, len(source_pieces.word) + 1)
    return Record(
        index=int(str(entry["index"])),
        source=str(entry["source"]),
        target=str(entry["target"]),
        source_pieces=source_pieces,
        target_pieces=target_pieces,
        values=np.array(entry["piece_weights"], dtype=np.float32).reshape(shape),
        links=frozenset((int(s), int(t)) for s, t in entry["links"]),
    )


def _spans(pieces: Pieces) -> list[tuple[int, int, int]]:
    return list(zip(pieces.begin, pieces.end, pieces.word, strict=True))


def _pieces(spans: Sequence[Sequence[int]]) -> Pieces:
    begin, end, word = (tuple(int(span[part]) for span in spans) for part in range(3))
    return Pieces(word, begin, end)


def _numbers(weights: Weights) -> list[list[float]]:
    return [[float(weight) for weight in row] for row in _shortest(weights)]


def _shortest(weights: Weights) -> list[list[str]]:
    """Each weight with the fewest digits that give back the same float32."""
    rows: list[list[str]] = weights.astype(str).tolist()
    return rows
