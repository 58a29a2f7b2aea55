"""No reader holds the corpus: what is held while hundreds of thousands of pairs go by does not grow with them (A15)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from nmt.data.corpora.corpus import Corpus
from nmt.data.corpora.files import Files
from nmt.data.corpora.hub import Hub
from nmt.data.corpora.jsonl import Jsonl
from nmt.data.corpora.mix import Mix
from nmt.data.corpora.tmx import Tmx
from nmt.data.corpora.tsv import Tsv

PAIRS = 300_000
FEWER = 100_000  # of formats that take longer to read
STEP = 10_000
LANGUAGES = {"source_language": "en", "target_language": "de"}


def repeated(path: Path, record: str, count: int, head: str = "", tail: str = "") -> str:
    path.write_text(head + record * count + tail)
    return str(path)


def files(folder: Path, count: int) -> Files:
    side = repeated(folder / "a", "ka lo\n", count)
    return Files(**LANGUAGES, source=side, target=side)


def tsv(folder: Path, count: int, quoting: bool) -> Tsv:
    return Tsv(**LANGUAGES, path=repeated(folder / "a.tsv", "ka\tAK\n", count), quoting=quoting)


def jsonl(folder: Path, count: int) -> Jsonl:
    return Jsonl(**LANGUAGES, path=repeated(folder / "a.jsonl", '{"en": "ka", "de": "AK"}\n', count))


def tmx(folder: Path, count: int) -> Tmx:
    unit = '<tu><tuv xml:lang="en"><seg>ka</seg></tuv><tuv xml:lang="de"><seg>AK</seg></tuv></tu>\n'
    path = repeated(folder / "a.tmx", unit, count, "<tmx><body>", "</body></tmx>")
    return Tmx(**LANGUAGES, path=path)


def parquet(folder: Path, count: int) -> Hub:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"en": ["ka"] * count, "de": ["AK"] * count}), folder / "a.parquet")
    return Hub(**LANGUAGES, path=f"{folder}/a.parquet", split="train", stream=True)


def mix(folder: Path, count: int) -> Mix:
    member = files(folder, count // 2)
    make = partial(Files, source=member.source, target=member.target)
    return Mix(**LANGUAGES, corpora={"a": make, "b": make})


MAKERS: dict[str, tuple[Callable[[Path, int], Corpus], int]] = {
    "files": (files, PAIRS),
    "tsv": (partial(tsv, quoting=False), PAIRS),
    "tsv quoted": (partial(tsv, quoting=True), FEWER),
    "jsonl": (jsonl, FEWER),
    "tmx": (tmx, FEWER),
    "parquet": (parquet, FEWER),
    "mix": (mix, PAIRS),
}


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("name", MAKERS)
def test_what_has_gone_by_is_not_held(tmp_path: Path, name: str) -> None:
    """A15."""
    make, size = MAKERS[name]
    pairs = make(tmp_path, size).pairs()
    assert len(list(itertools.islice(pairs, STEP))) == STEP
    before, most = sys.getallocatedblocks(), 0
    count = STEP
    while step := sum(1 for _ in itertools.islice(pairs, STEP)):
        count += step
        most = max(most, sys.getallocatedblocks() - before)
    assert count == size
    assert most < size / 10  # a list of pairs has three objects for each
