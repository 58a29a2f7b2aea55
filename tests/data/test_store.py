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
from nmt.data.filters import Report, WordLinks
from nmt.data.lines import read_lines
from nmt.data.store import PairStore, encode_pairs
from nmt.data.tokenizer import ModelType, Tokenizer
from nmt.data.words import line_pieces, split_words
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


def linked(
    pairs: list[tuple[str, str]],
    links: list[WordLinks] | None,
    tokenizers: tuple[Tokenizer, Tokenizer],
    directory: Path,
    limit: int | None = None,
) -> PairStore:
    return encode_pairs(
        iter(pairs), *tokenizers, directory=directory, max_length=limit, report=Report("corpus"), links=links
    )


def diagonal(pair: tuple[str, str]) -> list[tuple[int, int]]:
    """Word i with word i, as far as both sides go, and the first target word with the last source word as well."""
    sizes = [len(line.split()) for line in pair]
    return sorted({(sizes[0] - 1, 0), *((word, word) for word in range(min(sizes)))})


def test_links_are_of_every_piece_with_every_piece(
    pairs: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row by row, over several record batches: read back, the pieces' words are the links that were given."""
    monkeypatch.setattr(store, "ROWS", 7)
    tokenizers = tuple(
        Tokenizer.train(
            [pair[side] for pair in pairs], model_type="bpe", vocabulary_size=24, path=tmp_path / f"{side}.model"
        )
        for side in range(2)
    )
    assert len(tokenizers) == 2
    found = linked(pairs, [diagonal(pair) for pair in pairs], tokenizers, tmp_path)
    rows = [52, 0, 6, 7, 13, 14, 0]
    links = found.batch(rows).links
    assert links is not None
    for place, row in enumerate(rows):
        source, target = (line_pieces(*one).word for one in zip(tokenizers, pairs[row], strict=True))
        own = [(s, t) for sentence, s, t in links.tolist() if sentence == place]
        assert len(own) == len(set(own))
        wanted = {(s, t) for s, a in enumerate(source) for t, b in enumerate(target) if (a, b) in diagonal(pairs[row])}
        assert set(own) == wanted
    assert len(links) > sum(len(diagonal(pairs[row])) for row in rows), "some words have several pieces"


@pytest.mark.parametrize(
    ("model_type", "size", "byte_fallback"), [("bpe", 300, True), ("unigram", 21, False), ("char", 40, False)]
)
def test_links_through_every_kind_of_piece(
    model_type: ModelType, size: int, byte_fallback: bool, tmp_path: Path
) -> None:
    """Three words, the middle one of unknown characters: bytes, one unknown id, or several."""
    corpus = ["kalo mi turesofa nebido"] * 3
    tokenizer = Tokenizer.train(
        corpus, model_type=model_type, vocabulary_size=size, byte_fallback=byte_fallback, path=tmp_path / "a.model"
    )
    pair = ("kalo  \u4f60\u597d mi", "mi \u4f60\u597d kalo")
    links = linked([pair], [[(0, 2), (1, 1)]], (tokenizer, tokenizer), tmp_path / "ids").batch([0]).links
    assert links is not None
    words = [line_pieces(tokenizer, line).word for line in pair]
    assert [len(split_words(line)) for line in pair] == [3, 3]
    assert {(words[0][s], words[1][t]) for _, s, t in links.tolist()} == {(0, 2), (1, 1)}
    for source, target in ((0, 2), (1, 1)):
        sizes = words[0].count(source), words[1].count(target)
        assert sum(words[0][s] == source for _, s, _ in links.tolist()) == sizes[0] * sizes[1] > 0


def test_dropped_pairs_take_their_links_along(tmp_path: Path) -> None:
    """Blank ones, long ones, and a word that normalisation removes, of which no link is left."""
    words = Tokenizer.train(["a b c d e"], model_type="word", vocabulary_size=9, path=tmp_path / "a.model")
    pairs = [("a", "a"), ("", "a"), ("a b c d", "a"), ("a b", "b a"), ("a \u200b b", "a b"), ("c", "c")]
    links: list[WordLinks] = [[(0, 0)], [], [(3, 0)], [(1, 0), (0, 1)], [(1, 1), (2, 0)], []]
    found = linked(pairs, links, (words, words), tmp_path / "ids", limit=3)
    assert found.index.tolist() == [0, 3, 4, 5]
    batch = found.batch([3, 1, 2, 0])
    assert batch.links is not None
    assert batch.links.tolist() == [[1, 0, 1], [1, 1, 0], [2, 1, 0], [3, 0, 0]]


def test_without_links_a_store_is_what_it_was(
    pairs: list[tuple[str, str]], tokenizers: tuple[Tokenizer, Tokenizer], tmp_path: Path
) -> None:
    """Nothing is stored of them; with them, the fingerprint tells other links apart."""
    plain = linked(pairs, None, tokenizers, tmp_path / "plain")
    assert plain.batch([0, 1]).links is None
    links: list[WordLinks] = [diagonal(pair) for pair in pairs]
    stores = [linked(pairs, own, tokenizers, tmp_path / "ids") for own in (links, links, [[(0, 0)], *links[1:]])]
    prints = [one.fingerprint() for one in (plain, *stores)]
    assert prints[1] == prints[2]
    assert len(set(prints)) == 3
    assert b"links" not in (tmp_path / "plain" / store.FILE).read_bytes()


def test_there_are_links_for_every_pair(tokenizers: tuple[Tokenizer, Tokenizer], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        linked([("ka", "KA"), ("lo", "LO")], [[(0, 0)]], tokenizers, tmp_path)
