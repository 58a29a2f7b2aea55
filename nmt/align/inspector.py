"""One offline HTML page of all sentences of an export, or of two: no server, no request, opened by double click.

nmt/align/page/ holds the page: page.html with a place for its style, its scripts and the data, which are

data       JSON: `version` 2; `exports`, one or two, each with its `header` and its `views` (method, layer, head, shift,
           raw, label); `bleu`, `gold`: whether sentences have them; `limits` of nmt/align/signs.py
sentences  JSON, a list for each block of sentences: `line` from 1, `source`, `reference` (or null), `agreement` of the
           two exports' links (or null) and for each export in `sides`: `target`; `sourcePieces`, `targetPieces`, the
           text of each piece, and `sourceWords`, `targetWords`, its word; `links` [source, target] of words; `gold`
           [source, target, 1 for a sure one] (or null); `bleu`, `aer` (or null); `signs`, for each view [entropy or
           null, words never read, read again and again, rows near uniform]; `at` and, where not all are 0, `scales`
weights    base64 of a zlib stream for each block: each sentence's exports' views, each over pieces and then over
           words, [T + 1, S + 1] row by row; over words only where some word is not one piece. A side begins at byte
           `at`. Scale 0: a byte a value, round(255 value). Another scale, of values outside [0, 1]: two bytes,
           little-endian, round(32767 value / scale). `scales` holds [over pieces, over words] for each view.

Letters: V views, T target and S source words or pieces.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sacrebleu import BLEU

from nmt.align.aer import aer
from nmt.align.matrix import merge_weights
from nmt.align.record import Header, Record, header_views
from nmt.align.signs import REPEATED, UNIFORM, UNREAD, signs
from nmt.data.files import open_whole
from nmt.data.pharaoh import Links, check_inside
from nmt.errors import UserError

SCRIPTS = (
    *("base", "data", "state", "colours", "signs", "figure", "matrix", "ribbon", "table", "heads", "download", "list"),
    *("panel", "page"),
)
BLOCK_BYTES, BLOCK_SENTENCES = 1 << 19, 256  # a block ends with the sentence that reaches either
HAIR = 1e-4  # above 1 or under 0 a sum of float32 may come to so much

Values = NDArray[np.float64]


class Side(NamedTuple):
    """One export: its name in messages, its header, its records in order."""

    name: str
    header: Header
    records: Iterable[Record]


class _Sentence(NamedTuple):
    entry: dict[str, Any]
    weights: bytes


def write_inspector(
    records: Iterable[Record],
    path: Path,
    header: Header,
    *,
    name: str = "the first export",
    other: Side | None = None,
    gold: Sequence[Links] | None = None,
    references: Sequence[str] | None = None,
) -> None:
    """Write the page. A weight shown there is within 1/510 of the record's.

    name: the export's in messages. other: a second one, to be shown beside it. gold, references: of each line.
    UserError: exports of other lines than each other; gold or references of another number of lines than the exports;
    a gold link to a word that is not there.
    """
    sides = [Side(name, header, records), *([other] if other else [])]
    if gold is not None and references is not None and len(gold) != len(references):
        raise UserError(f"there are {len(gold)} lines of gold links but {len(references)} references")
    with open_whole(path) as stream, tempfile.TemporaryFile() as weights:
        for part in _template():
            if part == "DATA":
                _put(stream, _script_safe(_data(sides, bleu=references is not None, gold=gold is not None)))
            elif part == "SENTENCES":
                _write_blocks(_sentences(sides, gold, references), stream, weights)
            elif part == "WEIGHTS":
                weights.seek(0)
                shutil.copyfileobj(weights, stream)
            else:
                _put(stream, part)


def _template() -> Iterator[str]:
    """The page in parts, with DATA, SENTENCES and WEIGHTS where those go: text of the data is never searched."""
    folder = files("nmt.align").joinpath("page")
    for part in re.split(r"\{\{(\w+)\}\}", folder.joinpath("page.html").read_text(encoding="utf-8")):
        if part == "STYLE":
            yield folder.joinpath("page.css").read_text(encoding="utf-8")
        elif part == "SCRIPT":
            yield "\n".join(folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
        else:
            yield part


def _data(sides: Sequence[Side], *, bleu: bool, gold: bool) -> dict[str, object]:
    return {
        "version": 2,
        "exports": [{"header": dict(side.header), "views": _views(side.header)} for side in sides],
        "limits": {"unread": UNREAD, "repeated": REPEATED, "uniform": UNIFORM},
        "bleu": bleu,
        "gold": gold,
    }


def _views(header: Header) -> list[dict[str, object]]:
    """A jsonl export has no header and one view."""
    if "views" not in header:
        return [{"method": "weights", "layer": 0, "head": None, "shift": 0, "raw": False, "label": "weights"}]
    return [{**view.as_dict(), "label": str(view)} for view in header_views(header)]


def _write_blocks(sentences: Iterable[_Sentence], stream: IO[bytes], weights: IO[bytes]) -> None:
    for number, block in enumerate(_blocks(sentences)):
        entries = [sentence.entry for sentence in block]
        _put(stream, f'<script type="application/json" class="sentences">{_script_safe(entries)}</script>\n')
        packed = base64.b64encode(zlib.compress(b"".join(sentence.weights for sentence in block))).decode("ascii")
        _put(weights, f'<script type="application/octet-stream" id="weights-{number}">{packed}</script>\n')


def _blocks(sentences: Iterable[_Sentence]) -> Iterator[list[_Sentence]]:
    """Blocks of sentences, each side's `at` set to where it begins in its block."""
    block: list[_Sentence] = []
    size = 0
    for sentence in sentences:
        for side in sentence.entry["sides"]:
            side["at"] += size
        block.append(sentence)
        size += len(sentence.weights)
        if size >= BLOCK_BYTES or len(block) >= BLOCK_SENTENCES:
            yield block
            block, size = [], 0
    if block:
        yield block


def _sentences(
    sides: Sequence[Side], gold: Sequence[Links] | None, references: Sequence[str] | None
) -> Iterator[_Sentence]:
    lines = 0
    for records in _same_lines(sides):
        lines = max(lines, records[0].index + 1)
        yield _sentence(records, _of_line(gold, lines, "gold links"), _of_line(references, lines, "references"))
    for given, what in ((gold, "gold links"), (references, "references")):
        if given is not None and len(given) != lines:
            raise UserError(f"there are {len(given)} lines of {what} but the export has {lines}")


def _same_lines(sides: Sequence[Side]) -> Iterator[list[Record]]:
    """What the exports have of each line. UserError names the first that is not of the same source in both."""
    first, second = sides[0].name, sides[-1].name
    rule = "two exports must be of the same lines"
    for number, records in enumerate(zip_longest(*(side.records for side in sides)), start=1):
        if None in records:
            ended, longer = (first, second) if records[0] is None else (second, first)
            raise UserError(f"{ended} ends before line {number}, which {longer} has: {rule}")
        if records[0].source != records[-1].source or records[0].index != records[-1].index:
            raise UserError(
                f"line {number} is {records[0].source!r} in {first} but {records[-1].source!r} in {second}: {rule}"
            )
        yield list(records)


def _of_line(given: Sequence[Any] | None, line: int, what: str) -> Any:
    if given is None:
        return None
    if line > len(given):
        raise UserError(f"there are {len(given)} lines of {what}: none for line {line} of the export")
    return given[line - 1]


def _sentence(records: Sequence[Record], gold: Links | None, reference: str | None) -> _Sentence:
    """Gold is of the first export's words; another has it where its target is of the same."""
    weights, entries = b"", []
    for record in records:
        packed, entry = _side(record, gold if record.target_words == records[0].target_words else None, reference)
        entries.append({**entry, "at": len(weights)})
        weights += packed
    entry = {
        "line": records[0].index + 1,
        "source": records[0].source,
        "reference": reference,
        "agreement": _agreement(*records) if len(records) > 1 else None,
        "sides": entries,
    }
    return _Sentence(entry, weights)


def _agreement(one: Record, two: Record) -> float | None:
    """Dice's coefficient of the links; None where they are not of the same words."""
    if one.target_words != two.target_words:
        return None
    total = len(one.links) + len(two.links)
    return round(2 * len(one.links & two.links) / total, 4) if total else 1.0


def _side(record: Record, gold: Links | None, reference: str | None) -> tuple[bytes, dict[str, object]]:
    """What the page holds of a record: its values, and the rest."""
    pieces = record.pieces(0)
    over_pieces, over_words = _quantised(record.values), _quantised(_over_words(record))
    both = list(zip(over_pieces, over_words, strict=True))
    stored = over_pieces if _words_are_pieces(record) else [part for parts in both for part in parts]
    entry: dict[str, object] = {
        "target": record.target,
        "sourcePieces": pieces.source_words,
        "targetPieces": pieces.target_words,
        "sourceWords": record.source_pieces.word,
        "targetWords": record.target_pieces.word,
        "links": sorted(record.links),
        "gold": None if gold is None else _gold(record, gold),
        "aer": None if gold is None else round(aer([gold], [record.links]).aer, 4),
        "bleu": None if reference is None else round(_BLEU.sentence_score(record.target, [reference]).score, 2),
        "signs": _signs(np.stack([words.values for words in over_words])),
    }
    scales = [(one.scale, two.scale) for one, two in both]
    return b"".join(part.packed for part in stored), entry | ({"scales": scales} if np.any(scales) else {})


_BLEU = BLEU(effective_order=True)


def _over_words(record: Record) -> NDArray[np.float32]:
    """[V, T + 1, S + 1], of the exact values: a sum of rounded ones would be off by more than one rounding."""
    maps = record.source_pieces.word, record.target_pieces.word
    return merge_weights(record.values, *maps, len(record.source_words), len(record.target_words))


def _words_are_pieces(record: Record) -> bool:
    sides = ((record.source_pieces, record.source_words), (record.target_pieces, record.target_words))
    return all(pieces.word == tuple(range(len(words))) for pieces, words in sides)


def _gold(record: Record, gold: Links) -> list[tuple[int, int, int]]:
    check_inside(gold, len(record.source_words), len(record.target_words), f"gold links, line {record.index + 1}")
    return [(s, t, int((s, t) in gold.sure)) for s, t in sorted(gold.possible)]


class _Quantised(NamedTuple):
    """packed: the bytes that the page holds; scale: 0 for a byte a value; values: what the page reads in them."""

    packed: bytes
    scale: float
    values: Values


def _quantised(stack: NDArray[np.floating]) -> list[_Quantised]:
    """Of each matrix of [V, T + 1, S + 1]."""
    within = (stack.min(axis=(1, 2)) >= -HAIR) & (stack.max(axis=(1, 2)) <= 1 + HAIR)
    levels = np.rint(np.clip(stack, 0, 1) * 255).astype(np.uint8)
    values = levels / 255
    return [
        _Quantised(levels[view].tobytes(), 0, values[view]) if plain else _finely_quantised(stack[view])
        for view, plain in enumerate(within)
    ]


def _finely_quantised(values: NDArray[np.floating]) -> _Quantised:
    scale = float(np.abs(values).max())
    steps = np.rint(values / scale * 32767).astype("<i2")
    return _Quantised(steps.tobytes(), scale, steps / 32767 * scale)


def _signs(values: Values) -> list[tuple[float | None, int, int, int]]:
    """Of what the page will show, so that its marks and its counts agree. values: [V, T + 1, S + 1]."""
    found = signs(values)
    return [
        (None if np.isnan(entropy) else round(float(entropy), 4), int(unread), int(repeated), int(uniform))
        for entropy, unread, repeated, uniform in zip(*found, strict=True)
    ]


def _put(stream: IO[bytes], text: str) -> None:
    stream.write(text.encode("utf-8"))


def _script_safe(data: object) -> str:
    """JSON in which no text can end or open a tag or a comment of the page around it."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
