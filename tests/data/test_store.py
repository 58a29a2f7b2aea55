"""What is stored is what was encoded, row by row; a changed corpus is never answered from an old store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from pyarrow import RecordBatch
from pyarrow.ipc import RecordBatchFileWriter

from nmt.data import store
from nmt.data.batch import make_batch
from nmt.data.corpus import read_lines
from nmt.data.filters import Report
from nmt.data.store import PairStore, encode_pairs
from nmt.data.tokenizer import Tokenizer
from nmt.errors import UserError

WORDS = ["ka", "lo", "mi", "tu", "re", "so", "fa", "ne", "bi", "do"]


def sentence(generator: np.random.Generator) -> str:
    return " ".join(generator.choice(WORDS, size=generator.integers(1, 10)))


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    generator = np.random.default_rng(7)
    return [(sentence(generator), sentence(generator).upper()) for _ in range(53)]


@pytest.fixture(scope="module")
def tokenizers(pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, Tokenizer]:
    folder = tmp_path_factory.mktemp("tokenizers")

    def train(side: int) -> Tokenizer:
        lines = [pair[side] for pair in pairs]
        return Tokenizer.train(lines, model_type="bpe", vocabulary_size=40, path=folder / f"{side}.model")

    return train(0), train(1)


def encode(
    pairs: list[tuple[str, str]], tokenizers: tuple[Tokenizer, Tokenizer], directory: Path, limit: int | None = None
) -> tuple[PairStore, Report]:
    report = Report("corpus")
    return encode_pairs(iter(pairs), *tokenizers, directory=directory, max_length=limit, report=report), report


def test_batches_hold_what_each_side_encodes(
    pairs: list[tuple[str, str]],
    tokenizers: tuple[Tokenizer, Tokenizer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "ROWS", 7)  # many record batches, the last one short
    found, report = encode(pairs, tokenizers, tmp_path)
    assert len(found) == report.kept == 53
    rows = [52, 0, 6, 7, 13, 14, 0]
    source, target = ([tokenizer.encode(pairs[row][side]) for row in rows] for side, tokenizer in enumerate(tokenizers))
    expected, batch = make_batch(source, target, rows), found.batch(rows)
    for name in ("source", "source_lengths", "target_in", "target_out", "target_lengths", "index"):
        assert torch.equal(getattr(batch, name), getattr(expected, name)), name
    assert found.source_lengths[rows].tolist() == batch.source_lengths.tolist()
    assert found.target_lengths[rows].tolist() == batch.target_lengths.tolist()


def test_dropped_pairs_leave_the_line_numbers_of_the_rest(
    tokenizers: tuple[Tokenizer, Tokenizer], tmp_path: Path
) -> None:
    pairs = [("ka", "KA"), ("", "LO"), ("mi", " "), ("\u200b", "TU"), ("re", "RE")]
    found, report = encode(pairs, tokenizers, tmp_path)
    assert found.index.tolist() == found.batch([0, 1]).index.tolist() == [0, 4]
    assert (report.kept, report.blank, report.long) == (2, 3, 0)


def test_the_length_limit_counts_pieces_without_eos(tmp_path: Path) -> None:
    lines = [" ".join(["ka"] * size) for size in (9, 10, 11)]
    words = Tokenizer.train(lines, model_type="word", vocabulary_size=5, path=tmp_path / "a.model")
    pairs = [(line, "ka") for line in lines]
    found, report = encode(pairs, (words, words), tmp_path / "train", limit=10)
    assert found.source_lengths.tolist() == [10, 11]
    assert report.long == 1
    assert len(encode(pairs, (words, words), tmp_path / "test")[0]) == 3


def test_a_changed_corpus_gives_a_changed_store(tokenizers: tuple[Tokenizer, Tokenizer], tmp_path: Path) -> None:
    old, _ = encode([("ka", "KA"), ("lo", "LO")], tokenizers, tmp_path)
    before = old.batch([0, 1])
    new, _ = encode([("mi mi", "MI")], tokenizers, tmp_path)
    assert new.batch([0]).source[0, :-1].tolist() == tokenizers[0].encode("mi mi")
    assert torch.equal(old.batch([0, 1]).source, before.source), "an open store keeps its own file"
    assert [path.name for path in tmp_path.iterdir()] == [store.FILE]


@pytest.mark.parametrize("unfit", [[], [("", "")], [("ka ka", "KA")]])
def test_nothing_left_names_the_corpus(
    unfit: list[tuple[str, str]], tokenizers: tuple[Tokenizer, Tokenizer], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="no pairs to use in corpus: 0 pairs kept"):
        encode(unfit, tokenizers, tmp_path, limit=1)
    assert not list(tmp_path.iterdir())


def test_a_fault_in_the_text_reaches_the_user_as_itself(
    tokenizers: tuple[Tokenizer, Tokenizer], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.src"
    bad.write_bytes(b"ka\nl\xe9\n")
    pairs = zip(read_lines(bad), ["KA", "LO"], strict=True)
    with pytest.raises(UserError, match=r"bad\.src, line 2"):
        encode_pairs(pairs, *tokenizers, directory=tmp_path / "ids", max_length=None, report=Report("corpus"))
    assert not list((tmp_path / "ids").iterdir())


def test_pairs_are_read_one_block_at_a_time(
    tokenizers: tuple[Tokenizer, Tokenizer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer gets each block before the next pair is asked for, so that a corpus is never in memory whole."""
    monkeypatch.setattr(store, "ROWS", 5)
    asked, written = 0, []

    def watched() -> Iterator[tuple[str, str]]:
        nonlocal asked
        for _ in range(12):
            asked += 1
            yield "ka lo mi", "KA"

    class Watched(RecordBatchFileWriter):  # type: ignore[misc]
        def write_batch(self, batch: RecordBatch) -> None:
            written.append((len(batch), asked))
            super().write_batch(batch)

    monkeypatch.setattr("pyarrow.ipc.new_file", Watched)
    encode_pairs(watched(), *tokenizers, directory=tmp_path, max_length=None, report=Report("corpus"))
    assert written == [(5, 5), (5, 10), (2, 12)]
