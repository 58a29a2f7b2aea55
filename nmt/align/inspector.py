"""One offline HTML page of all sentences of an export: no server, no request, opened by double click.

The page (nmt/align/inspector.html) carries its data as JSON:

version   1
systems   a list, for pages that compare several exports; each has
  header     the export's header
  sentences  a list of `index` (line from 0), `source` and `target` (their words), `links` ([source, target] from 0)
  weights    base64 of a byte a weight, round(255 weight): all matrices end to end, each row by row, EOS last
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import numpy as np

from nmt.align.matrix import Weights
from nmt.align.record import Header, Record
from nmt.data.files import open_whole

_PLACE = "{{DATA}}"


def write_inspector(records: Iterable[Record], path: Path, header: Header) -> None:
    """Write the page. A weight shown there is within 1/510 of the record's."""
    page = files("nmt.align").joinpath("inspector.html").read_text(encoding="utf-8")
    data = {"version": 1, "systems": [_system(records, header)]}
    with open_whole(path) as stream:
        stream.write(page.replace(_PLACE, _script_safe(data)).encode("utf-8"))


def _system(records: Iterable[Record], header: Header) -> dict[str, object]:
    sentences, weights = [], bytearray()
    for record in records:
        sentences.append(_sentence(record))
        weights += _quantised(record.matrix.weights)
    return {
        "header": dict(header),
        "sentences": sentences,
        "weights": base64.b64encode(weights).decode("ascii"),
    }


def _sentence(record: Record) -> dict[str, object]:
    return {
        "index": record.index,
        "source": record.matrix.source_words,
        "target": record.matrix.target_words,
        "links": sorted(record.links),
    }


def _quantised(weights: Weights) -> bytes:
    return np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8).tobytes()


def _script_safe(data: object) -> str:
    """JSON in which no text can end or open a tag or a comment of the page around it."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
