"""Whatever lines are written in a format are read from it, every one, in order, character by character; and what a
training's batches hold of them are the pieces of these very lines.

Lines have no LF, and no halves of surrogate pairs, which UTF-8 does not have; of a CR at the end of a text, which would
be half of a line break in a file, one is taken off in every format.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nmt.data.batch import batch_pairs
from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.corpora.files import Files
from nmt.data.corpora.hub import Hub
from nmt.data.corpora.jsonl import Jsonl
from nmt.data.corpora.mix import Mix
from nmt.data.corpora.tmx import Tmx
from nmt.data.corpora.tsv import Tsv
from nmt.data.encode import encode_pairs, text_pairs
from nmt.data.feed import StoreFeed
from nmt.data.filters import Filters, Report
from nmt.data.lines import is_blank
from nmt.data.store import write_store
from nmt.data.tokenizer import Tokenizer
from nmt.train.distributed import Processes

SPECIAL = "\r\ufeff\u2028\u2029\x85\x0b\x0c\x1c\0\t\"'\\<&>,{\u00a0\u200b\U0001f600"
TEXTS = st.text(st.sampled_from(SPECIAL) | st.characters(exclude_characters="\n", exclude_categories=["Cs"]))
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=5)
BOM = "\ufeff"  # written before the text, so that one that begins the text itself is kept
LANGUAGES = {"source_language": "en", "target_language": "de"}
PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


def files(folder: Path, pairs: list[Pair], suffix: str = "") -> Files:
    """Two files a side."""
    names: list[list[str]] = [[], []]
    for part, some in enumerate((pairs[:2], pairs[2:])):
        for side in (0, 1):
            path = folder / f"{part}.{side}{suffix}"
            path.write_bytes(PACK[suffix]((BOM * bool(some) + "".join(f"{pair[side]}\n" for pair in some)).encode()))
            names[side].append(str(path))
    return Files(**LANGUAGES, source=names[0], target=names[1])


def tsv(folder: Path, pairs: list[Pair]) -> Tsv:
    """Plain tables cannot hold a tab: `without` leaves it out. A third column follows, so that no CR ends a row."""
    text = BOM + "".join(f"{source.removesuffix(CR)}\t{target.removesuffix(CR)}\tx\n" for source, target in pairs)
    (folder / "a.tsv").write_text(text if pairs else "", encoding="utf-8", newline="")
    return Tsv(**LANGUAGES, path=f"{folder}/a.tsv")


def quoted(folder: Path, pairs: list[Pair]) -> Tsv:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t").writerows([("en", "de"), *pairs])
    (folder / "a.tsv.gz").write_bytes(gzip.compress((BOM + text.getvalue()).encode()))
    return Tsv(**LANGUAGES, path=f"{folder}/a.tsv.gz", source_column="en", target_column="de", quoting=True)


def jsonl(folder: Path, pairs: list[Pair], nested: bool) -> Jsonl:
    rows = [{"de": target, "en": source} for source, target in pairs]
    lines = [json.dumps({"translation": row} if nested else row, ensure_ascii=nested) for row in rows]
    (folder / "a.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return Jsonl(**LANGUAGES, path=f"{folder}/a.jsonl")


def tmx(folder: Path, pairs: list[Pair]) -> Tmx:
    """XML has no control characters but tab, LF and CR: `without` leaves them out. A bare CR would be read as LF."""
    variants = [
        "".join(f'<tuv xml:lang="{code}"><seg>{escape(text, {CR: "&#13;"})}</seg></tuv>' for code, text in entry)
        for entry in (zip(("en-GB", "DE"), pair, strict=True) for pair in pairs)
    ]
    text = f"<tmx><body>{''.join(f'<tu>{variant}</tu>' for variant in variants)}</body></tmx>"
    (folder / "a.tmx").write_text(text, encoding="utf-8", newline="")
    return Tmx(**LANGUAGES, path=f"{folder}/a.tmx")


def parquet(folder: Path, pairs: list[Pair], nested: bool, stream: bool) -> Hub:
    sides = {code: pa.array([pair[side] for pair in pairs], pa.string()) for side, code in enumerate(("en", "de"))}
    table = pa.table(sides)
    if nested:
        table = pa.table({"translation": pa.StructArray.from_arrays(list(sides.values()), list(sides))})
    pq.write_table(table, folder / "train.parquet")
    return Hub(**LANGUAGES, path=str(folder if nested else folder / "train.parquet"), split="train", stream=stream)


def saved(folder: Path, pairs: list[Pair]) -> Hub:
    import datasets

    features = datasets.Features(translation=datasets.Translation(["en", "de"]))
    entries = [{"en": source, "de": target} for source, target in pairs]
    datasets.Dataset.from_dict({"translation": entries}, features=features).save_to_disk(folder / "saved")
    return Hub(**LANGUAGES, path=f"{folder}/saved", split="train")


def mix(folder: Path, pairs: list[Pair]) -> Mix:
    first, second = files(folder, pairs[:3]), jsonl(folder, pairs[3:], nested=True)
    members = {
        "a": partial(Files, source=first.source, target=first.target),
        "b": partial(Jsonl, path=second.path),
    }
    return Mix(**LANGUAGES, corpora=members)


CR = "\r"
NO_XML = "[^\t\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
# format -> how it is written, and the characters that it cannot hold
FORMATS: dict[str, tuple[Callable[[Path, list[Pair]], Corpus], str]] = {
    **{f"files{suffix}": (partial(files, suffix=suffix), "") for suffix in PACK},
    "tsv": (tsv, "\t"),
    "tsv quoted": (quoted, "\0"),  # the csv module of Python 3.10 refuses it
    "jsonl": (partial(jsonl, nested=False), ""),
    "jsonl translation": (partial(jsonl, nested=True), ""),
    "tmx": (tmx, NO_XML),
    "mix": (mix, ""),
}
HUB: dict[str, Callable[[Path, list[Pair]], Corpus]] = {
    "parquet": partial(parquet, nested=False, stream=False),
    "parquet stream": partial(parquet, nested=False, stream=True),
    "folder": partial(parquet, nested=True, stream=False),
    "folder stream": partial(parquet, nested=True, stream=True),
    "save_to_disk": saved,
}


@cache
def tokenizer() -> Tokenizer:
    """Of bytes for whatever it has no piece."""
    with TemporaryDirectory() as folder:
        return Tokenizer.train(
            ["ka lo mi"],
            model_type="char",
            vocabulary_size=300,
            byte_fallback=True,
            normalization="identity",
            path=Path(folder) / "a.model",
        )


def has_text(line: str) -> bool:
    return not is_blank(line) and bool(tokenizer().encode(line))


def check_batches(corpus: Corpus, folder: Path) -> None:
    """All pairs with text, each once an epoch and under its number: as texts they are what was read, as pieces in a
    batch what the tokenizer makes of that."""
    report = partial(Report, "train", list(corpus.members()))
    read = dict(enumerate(corpus.pairs()))
    encoded = encode_pairs(text_pairs(corpus), tokenizer(), tokenizer(), filters=Filters(), report=report())
    kept = {pair.index for pair in encoded}
    assert kept == {number for number, pair in read.items() if all(map(has_text, pair))}
    if not kept:
        return
    again = encode_pairs(text_pairs(corpus), tokenizer(), tokenizer(), filters=Filters(), report=report())
    store = write_store(again, folder / "store", report=report(), linked=False, texts=True)
    texts = {pair.index: (pair.source, pair.target) for pair in store.texts(range(len(store)))}
    assert texts == {number: read[number] for number in kept}
    feed = StoreFeed(store, batch_tokens=100, pool=2, accumulate=1, seed=1, processes=Processes(), pad_to=4)
    seen: dict[int, tuple[list[int], list[int]]] = {}
    for portion in feed.updates():
        for _, pairs in portion.batches:
            batch = batch_pairs(pairs, pad_to=4)
            for row, number in enumerate(batch.index.tolist()):
                source = batch.source[row, : batch.source_lengths[row] - 1].tolist()
                target = batch.target_out[row, : batch.target_lengths[row] - 1].tolist()
                assert number not in seen
                seen[number] = (source, target)
        if feed.passes >= 1:
            break
    assert seen == {number: tuple(map(tokenizer().encode, read[number])) for number in kept}


def check(corpus: Corpus, pairs: list[Pair], start: int) -> None:
    kept = [(source.removesuffix(CR), target.removesuffix(CR)) for source, target in pairs]
    assert list(corpus.pairs()) == kept
    assert list(corpus.pairs(start)) == kept[start:]
    assert corpus.count() == len(pairs)


EVERY = [(SPECIAL, "ka\r\r"), ("", "\r"), ("\ufeff", "\ufeff\ufeff"), ('"', '""\t"'), ("null", "007")]


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=30)
@example(pairs=EVERY, start=1)
@given(pairs=PAIRS, start=st.integers(0, 6))
def test_reading_undoes_writing(
    tmp_path_factory: pytest.TempPathFactory, name: str, pairs: list[Pair], start: int
) -> None:
    write, without = FORMATS[name]
    if without:
        pairs = [(re.sub(without, " ", source), re.sub(without, " ", target)) for source, target in pairs]
    folder = tmp_path_factory.mktemp("a")
    corpus = write(folder, pairs)
    check(corpus, pairs, start)
    check_batches(corpus, folder)


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("name", HUB)
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@example(pairs=EVERY, start=1)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), start=st.integers(0, 6))
def test_reading_undoes_writing_for_the_hub(
    tmp_path_factory: pytest.TempPathFactory, name: str, pairs: list[Pair], start: int
) -> None:
    folder = tmp_path_factory.mktemp("a")
    corpus = HUB[name](folder, pairs)
    check(corpus, pairs, start)
    check_batches(corpus, folder)
