"""Pieces find their raw words and characters whatever SentencePiece does to the text."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.align.matrix import merge_weights
from nmt.data.tokenizer import Tokenizer
from nmt.data.vocabulary import SPACE, ModelType
from nmt.data.words import Pieces, line_pieces, split_words, token_pieces

TEXT = ["ka lo mi tu", "re so fa ne bi do", "full fill office", "ka ka lo 12 . ..."] * 5


class Kind(NamedTuple):
    model_type: ModelType
    byte_fallback: bool
    normalization: str = "nmt_nfkc"


KINDS = [Kind(model_type, fallback) for model_type in ("unigram", "bpe", "word", "char") for fallback in (False, True)]
KINDS += [Kind("unigram", True, "nmt_nfkc_cf"), Kind("char", False, "nfkc_cf"), Kind("bpe", False, "identity")]
# Characters that normalisation removes, widens, joins, folds or turns into spaces, among ordinary ones.
ODD = st.sampled_from(
    "  abkl\t\u00a0\u200b\ufeff\ufb01\u2026\uff46\u3000\u6f22\u2581\u00b4\u0301\u0000\x85\u2028\u2585😀"
    "KLßẞİŉ\u1e9b\u0323"
)
SPACES = (SPACE, "<0xE2>", "<0x96>", "<0x81>")  # the last three are its bytes
LINES = st.one_of(st.text(), st.text(ODD))


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: "-".join(map(str, kind)))
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    kind: Kind = request.param
    size = {"unigram": 28, "bpe": 60, "word": 40, "char": 100}[kind.model_type] + 256 * kind.byte_fallback
    path = tmp_path_factory.mktemp("words") / "a.model"
    return Tokenizer.train(TEXT, vocabulary_size=size, path=path, **kind._asdict())


def assert_sound(pieces: Pieces, line: str) -> None:
    """The laws of `Pieces`, for any line."""
    words = split_words(line)
    assert list(pieces.word) == sorted(pieces.word)
    assert all(0 <= word < max(1, len(words)) for word in pieces.word)
    bounds = [bound for span in zip(pieces.begin, pieces.end, strict=True) for bound in span]
    assert bounds == sorted(bounds), "spans follow one another without overlap"
    assert all(0 <= bound <= len(line) for bound in bounds)
    for word, begin, end in zip(*pieces, strict=True):
        assert line[begin:end] in (words[word] if words else "")
        assert begin == end or len(split_words(line[:end])) == word + 1, "a span lies inside the piece's own word"


def test_words_are_what_stands_between_ascii_spaces() -> None:
    assert split_words("  ka\u00a0lo  mi\t ") == ["ka\u00a0lo", "mi\t"]
    assert split_words("   ") == []


@given(LINES)
def test_every_piece_has_a_word_and_a_span_in_order(tokenizer: Tokenizer, line: str) -> None:
    pieces = line_pieces(tokenizer, line)
    assert len(pieces.word) == len(tokenizer.encode(line))
    assert_sound(pieces, line)


@settings(max_examples=50)
@given(LINES)
def test_what_no_piece_covers_is_what_normalisation_removes(tokenizer: Tokenizer, line: str) -> None:
    """And the spaces between words."""
    pieces = line_pieces(tokenizer, line)
    bounds = [0, *(bound for span in zip(pieces.begin, pieces.end, strict=True) for bound in span), len(line)]
    gaps = [line[end:begin] for end, begin in zip(bounds[::2], bounds[1::2], strict=True)]
    for gap in gaps:
        assert tokenizer.normalize(gap) == ""


@settings(max_examples=30)
@given(LINES, LINES)
def test_merging_keeps_the_mass(tokenizer: Tokenizer, source: str, target: str) -> None:
    """Rows that sum to 1 over pieces do so over words, and each word's row is the mean of its pieces' rows."""
    owners, rows = line_pieces(tokenizer, source).word, line_pieces(tokenizer, target).word
    sizes = len(split_words(source)), len(split_words(target))
    weights = np.random.default_rng(3).dirichlet(np.ones(len(owners) + 1), size=len(rows) + 1)
    merged = merge_weights(weights, owners, rows, *sizes)
    assert merged.shape == (sizes[1] + 1, sizes[0] + 1)
    read = [word in rows for word in range(sizes[1])]
    np.testing.assert_allclose(merged.sum(axis=1), [*map(float, read), 1.0], atol=1e-5)
    np.testing.assert_allclose(merged[-1, -1], weights[-1, -1], atol=1e-6)
    for word in set(rows):
        own = [row for row, owner in enumerate(rows) if owner == word]
        np.testing.assert_allclose(merged[word, -1], weights[own, -1].mean(), atol=1e-6)


@given(
    st.lists(st.sampled_from(["ka", "\u6f22\u5b57", "\ufb01ll", "\u2026", "\uff46\uff55ll", "x\u0301", "</s>", "😀"]))
)
def test_words_cut_alone_or_in_a_line_own_as_many_pieces(tokenizer: Tokenizer, words: list[str]) -> None:
    """An independent count: each of these words begins with a visible character, so that its pieces are its own."""
    alone = [len(tokenizer.encode(word)) for word in words]
    owners = line_pieces(tokenizer, " ".join(words)).word
    assert [owners.count(word) for word in range(len(words))] == alone


@pytest.mark.parametrize("line", ["ka lo mi tu", "full  fill office ", " ka ka lo 12 . ..."])
def test_a_known_piece_covers_its_own_text(tokenizer: Tokenizer, line: str) -> None:
    pieces = line_pieces(tokenizer, line)
    names = [name.removeprefix(SPACE) for name in tokenizer.pieces(tokenizer.encode(line))]
    assert [line[begin:end] for begin, end in zip(pieces.begin, pieces.end, strict=True)] == names


def test_a_lone_space_belongs_to_the_word_that_it_begins(tokenizer: Tokenizer) -> None:  # CASES H01
    for line in ("\u6f22\u5b57 ka lo", "ka \u6f22\u5b57 lo"):
        pieces = line_pieces(tokenizer, line)
        assert sorted(set(pieces.word)) == [0, 1, 2]
        ids = tokenizer.encode(line)
        for id, word, begin, end in zip(ids, *pieces, strict=True):
            if tokenizer.is_space(id):
                assert begin == end == line.index(split_words(line)[word])


def test_the_first_of_a_characters_pieces_covers_it(tokenizer: Tokenizer) -> None:
    """Bytes of one character, and letters of a ligature that are pieces of their own."""
    for line in ("ka 漢 lo", "ka ﬀ lo"):
        names = tokenizer.pieces(tokenizer.encode(line))
        pieces = zip(names, *line_pieces(tokenizer, line), strict=True)
        first, *others = [(b, e) for name, word, b, e in pieces if word == 1 and name not in SPACES]
        assert first == (3, 4)
        assert all(span == (4, 4) for span in others)


def test_a_word_that_normalisation_removes_owns_nothing(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(TEXT, model_type="char", vocabulary_size=100, path=tmp_path / "a.model")
    assert set(line_pieces(tokenizer, "ka \u200b\ufeff lo").word) == {0, 2}


def test_other_whitespace_stays_inside_its_word(tokenizer: Tokenizer) -> None:
    assert set(line_pieces(tokenizer, "ka\tlo\u00a0mi tu").word) == {0, 1}


def test_real_lines(nmt_data: Path, tokenizer: Tokenizer) -> None:
    with open(nmt_data / "multi30k" / "val.de", encoding="utf-8", newline="\n") as file:
        lines = [line.removesuffix("\n") for line in file][:200]
    for line in lines:
        assert set(line_pieces(tokenizer, line).word) == set(range(len(split_words(line))))


@pytest.mark.parametrize("line", ["ka lo mi tu", "ka", "full fill office", "do ne re"])
def test_found_pieces_are_where_encoded_ones_are(tokenizer: Tokenizer, line: str) -> None:
    ids = tokenizer.encode(line)
    assert token_pieces(tokenizer, ids) == line_pieces(tokenizer, line)


@given(st.data())
def test_any_ids_have_words_and_spans_of_their_text(tokenizer: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(4, len(tokenizer) - 1), max_size=12))
    pieces = token_pieces(tokenizer, ids)
    assert len(pieces.word) == len(ids)
    line = tokenizer.decode(ids)
    assert_sound(pieces, line)
    covered = {place for begin, end in zip(pieces.begin, pieces.end, strict=True) for place in range(begin, end)}
    assert {place for place, character in enumerate(line) if character not in " \ufffd"} <= covered


def test_bytes_of_a_found_character_cover_it_once(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(
        TEXT, model_type="char", vocabulary_size=300, path=tmp_path / "a.model", byte_fallback=True
    )
    ids = tokenizer.encode("漢字 ka")
    assert token_pieces(tokenizer, ids) == line_pieces(tokenizer, "漢字 ka")
    (space,) = (id for id in range(len(tokenizer)) if tokenizer.is_space(id))
    assert token_pieces(tokenizer, [space, *ids[1:7], space, space, *ids[8:]]).begin[-4:] == (3, 3, 3, 4)
