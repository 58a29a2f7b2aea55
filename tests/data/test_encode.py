"""Text -> ids: in order, whole, lazily; what is left out keeps its number and takes its links along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from nmt.config import FiltersConfig
from nmt.data import encode
from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.corpora.files import Files
from nmt.data.encode import encode_pairs, text_pairs
from nmt.data.filters import Filters, Report
from nmt.data.pairs import IdPair, TextPair, WordLinks
from nmt.data.tokenizer import Tokenizer
from nmt.data.vocabulary import ModelType
from nmt.data.words import line_pieces, split_words
from nmt.errors import UserError

WORDS = ["ka", "lo", "mi", "tu", "re", "so", "fa", "ne", "bi", "do"]
Tokenizers = tuple[Tokenizer, Tokenizer]


@dataclass(frozen=True, kw_only=True)
class Listed(Corpus):
    """Pairs of a list."""

    own: Sequence[Pair] = ()

    @property
    def name(self) -> str:
        return "listed"

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        return iter(self.own[start:])


@dataclass(frozen=True, kw_only=True)
class Mixed(Listed):
    """Two lists, one after the other."""

    more: Sequence[Pair] = ()

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        return iter([*self.own, *self.more][start:])

    def members(self) -> Mapping[str, Corpus]:
        return {"own": listed(self.own), "more": listed(self.more)}


def listed(pairs: Sequence[Pair]) -> Corpus:
    return Listed(source_language="xx", target_language="yy", own=pairs)


def sentence(generator: np.random.Generator) -> str:
    return " ".join(generator.choice(WORDS, size=generator.integers(1, 10)))


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    generator = np.random.default_rng(7)
    return [(sentence(generator), sentence(generator).upper()) for _ in range(53)]


def trained(pairs: Sequence[Pair], folder: Path, size: int) -> Tokenizers:
    def train(side: int) -> Tokenizer:
        lines = [pair[side] for pair in pairs]
        return Tokenizer.train(lines, model_type="bpe", vocabulary_size=size, path=folder / f"{side}.model")

    return train(0), train(1)


@pytest.fixture(scope="module")
def tokenizers(pairs: list[Pair], tmp_path_factory: pytest.TempPathFactory) -> Tokenizers:
    return trained(pairs, tmp_path_factory.mktemp("tokenizers"), 40)


def encoded(
    pairs: Sequence[Pair],
    tokenizers: Tokenizers,
    links: Sequence[WordLinks] | None = None,
    limit: int | None = None,
    threads: int = 1,
) -> tuple[list[IdPair], Report]:
    report, filters = Report("corpus", ["listed"]), Filters(FiltersConfig(max_pieces=limit))
    given = text_pairs(listed(pairs), links)
    return list(encode_pairs(given, *tokenizers, filters=filters, report=report, threads=threads)), report


@pytest.mark.parametrize("threads", [1, 2])
def test_pairs_come_in_order_as_each_side_encodes(
    threads: int, pairs: list[Pair], tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over many blocks, the last one short; with their texts."""
    monkeypatch.setattr(encode, "BLOCK", 7)
    found, report = encoded(pairs, tokenizers, threads=threads)
    source, target = tokenizers
    expected = [(row, source.encode(a), target.encode(b)) for row, (a, b) in enumerate(pairs)]
    assert [(pair.index, pair.source, pair.target) for pair in found] == expected
    assert [pair.text for pair in found] == [TextPair(row, *pair) for row, pair in enumerate(pairs)]
    assert report.kept == 53


def test_pairs_left_out_leave_the_numbers_of_the_rest(tokenizers: Tokenizers) -> None:
    """A line of nothing but characters that normalisation removes is as blank as an empty one."""
    pairs = [("ka", "KA"), ("", "LO"), ("mi", " "), ("\u200b", "TU"), ("re", "RE")]
    found, report = encoded(pairs, tokenizers)
    assert [pair.index for pair in found] == [0, 4]
    assert report.kept == 2
    assert "3" in report.describe()


def test_the_length_limit_counts_pieces_without_eos(tmp_path: Path) -> None:
    lines = [" ".join(["ka"] * size) for size in (9, 10, 11)]
    words = Tokenizer.train(lines, model_type="word", vocabulary_size=5, path=tmp_path / "a.model")
    pairs = [(line, "ka") for line in lines]
    assert [len(pair.source) for pair in encoded(pairs, (words, words), limit=10)[0]] == [9, 10]
    assert len(encoded(pairs, (words, words))[0]) == 3


def test_a_fault_in_the_text_reaches_the_user_as_itself(tokenizers: Tokenizers, tmp_path: Path) -> None:
    (tmp_path / "bad.src").write_bytes(b"ka\nl\xe9\n")
    (tmp_path / "bad.trg").write_bytes(b"KA\nLO\n")
    files = [str(tmp_path / f"bad.{side}") for side in ("src", "trg")]
    corpus = Files(source_language="xx", target_language="yy", source=files[0], target=files[1])
    with pytest.raises(UserError, match=r"bad\.src, line 2"):
        list(encode_pairs(text_pairs(corpus), *tokenizers, filters=Filters(None), report=Report("corpus", ["bad"])))


def test_no_more_is_read_than_a_block(tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "BLOCK", 5)
    asked = 0

    def watched() -> Iterator[TextPair]:
        nonlocal asked
        for index in range(12):
            asked += 1
            yield TextPair(index, "ka lo mi", "KA")

    report = Report("corpus", ["one"])
    seen = [(pair.index, asked) for pair in encode_pairs(watched(), *tokenizers, filters=Filters(None), report=report)]
    assert seen == [(index, min(5 * (index // 5 + 1), 12)) for index in range(12)]


def test_members_of_a_mixture_are_told_apart() -> None:
    mixed = Mixed(source_language="xx", target_language="yy", own=[("a", "A")] * 2, more=[("b", "B")])
    found = [(pair.index, pair.source, pair.corpus) for pair in text_pairs(mixed)]
    assert found == [(0, "a", 0), (1, "a", 0), (2, "b", 1)]
    for start in range(4):
        assert [(pair.index, pair.source, pair.corpus) for pair in text_pairs(mixed, None, start)] == found[start:]


def test_reading_goes_on_from_any_pair(pairs: list[Pair]) -> None:
    """With the numbers and the links that the pairs have always had."""
    links: list[WordLinks] = [[(row, row)] for row in range(len(pairs))]
    whole = list(text_pairs(listed(pairs), links))
    for start in (0, 1, 52, 53):
        assert list(text_pairs(listed(pairs), links, start)) == whole[start:]


def test_there_are_links_for_every_pair() -> None:
    with pytest.raises(ValueError, match="shorter"):
        list(text_pairs(listed([("ka", "KA"), ("lo", "LO")]), [[(0, 0)]]))


def diagonal(pair: Pair) -> list[tuple[int, int]]:
    """Word i with word i, as far as both sides go, and the first target word with the last source word as well."""
    sizes = [len(line.split()) for line in pair]
    return sorted({(sizes[0] - 1, 0), *((word, word) for word in range(min(sizes)))})


def links_of(pair: IdPair) -> list[tuple[int, int]]:
    flat = list(pair.links)
    return list(zip(flat[::2], flat[1::2], strict=True))


def test_links_are_of_every_piece_with_every_piece(
    pairs: list[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pair by pair, over several blocks: the pieces' words are the links that were given."""
    monkeypatch.setattr(encode, "BLOCK", 7)
    tokenizers = trained(pairs, tmp_path, 24)
    found, _ = encoded(pairs, tokenizers, [diagonal(pair) for pair in pairs])
    for one, pair in zip(found, pairs, strict=True):
        source, target = (line_pieces(*own).word for own in zip(tokenizers, pair, strict=True))
        own = links_of(one)
        assert len(own) == len(set(own))
        assert set(own) == {
            (s, t) for s, a in enumerate(source) for t, b in enumerate(target) if (a, b) in diagonal(pair)
        }
    assert sum(map(len, map(links_of, found))) > sum(map(len, map(diagonal, pairs))), "some words have several pieces"


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
    links = links_of(encoded([pair], (tokenizer, tokenizer), [[(0, 2), (1, 1)]])[0][0])
    words = [line_pieces(tokenizer, line).word for line in pair]
    assert [len(split_words(line)) for line in pair] == [3, 3]
    assert {(words[0][s], words[1][t]) for s, t in links} == {(0, 2), (1, 1)}
    for source, target in ((0, 2), (1, 1)):
        sizes = words[0].count(source), words[1].count(target)
        assert sum(words[0][s] == source for s, _ in links) == sizes[0] * sizes[1] > 0


def test_pairs_left_out_take_their_links_along(tmp_path: Path) -> None:
    """Blank ones, long ones, and a word that normalisation removes, of which no link is left."""
    words = Tokenizer.train(["a b c d e"], model_type="word", vocabulary_size=9, path=tmp_path / "a.model")
    pairs = [("a", "a"), ("", "a"), ("a b c d", "a"), ("a b", "b a"), ("a \u200b b", "a b"), ("c", "c")]
    links: list[WordLinks] = [[(0, 0)], [], [(3, 0)], [(1, 0), (0, 1)], [(1, 1), (2, 0)], []]
    found, _ = encoded(pairs, (words, words), links, limit=3)
    assert {pair.index: links_of(pair) for pair in found} == {0: [(0, 0)], 3: [(0, 1), (1, 0)], 4: [(1, 0)], 5: []}
