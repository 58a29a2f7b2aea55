"""Pieces find their raw words whatever SentencePiece does to the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.tokenizer import ModelType, Tokenizer
from nmt.data.words import piece_words, split_words, token_words

TEXT = ["ka lo mi tu", "re so fa ne bi do", "full fill office", "ka ka lo 12 . ..."] * 5
MODELS: list[tuple[ModelType, bool]] = [
    (kind, fallback) for kind in ("unigram", "bpe", "word", "char") for fallback in (False, True)
]
# Characters that normalisation removes, widens, joins or turns into spaces, among ordinary ones.
ODD = st.sampled_from(
    "  abkl\t\u00a0\u200b\ufeff\ufb01\u2026\uff46\u3000\u6f22\u2581\u00b4\u0301\u0000\x85\u2028\u2585😀"
)


@pytest.fixture(scope="module", params=MODELS, ids=str)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    model_type, byte_fallback = request.param
    size = {"unigram": 28, "bpe": 60, "word": 40, "char": 100}[model_type] + 256 * byte_fallback
    path = tmp_path_factory.mktemp("words") / "a.model"
    return Tokenizer.train(TEXT, model_type=model_type, vocabulary_size=size, path=path, byte_fallback=byte_fallback)


def test_words_are_what_stands_between_ascii_spaces() -> None:
    assert split_words("  ka\u00a0lo  mi\t ") == ["ka\u00a0lo", "mi\t"]
    assert split_words("   ") == []


@given(st.one_of(st.text(), st.text(ODD)))
def test_every_piece_has_a_word_in_order(tokenizer: Tokenizer, line: str) -> None:
    owners = piece_words(tokenizer, line)
    assert len(owners) == len(tokenizer.encode(line))
    assert owners == sorted(owners)
    assert all(0 <= owner < len(split_words(line)) for owner in owners)


@given(
    st.lists(st.sampled_from(["ka", "\u6f22\u5b57", "\ufb01ll", "\u2026", "\uff46\uff55ll", "x\u0301", "</s>", "😀"]))
)
def test_words_cut_alone_or_in_a_line_own_as_many_pieces(tokenizer: Tokenizer, words: list[str]) -> None:
    """An independent count: each of these words begins with a visible character, so that its pieces are its own."""
    alone = [len(tokenizer.encode(word)) for word in words]
    owners = piece_words(tokenizer, " ".join(words))
    assert [owners.count(word) for word in range(len(words))] == alone


def test_a_lone_space_belongs_to_the_word_that_it_begins(tokenizer: Tokenizer) -> None:
    for line in ("\u6f22\u5b57 ka lo", "ka \u6f22\u5b57 lo"):
        owners = piece_words(tokenizer, line)
        assert sorted(set(owners)) == [0, 1, 2]


def test_a_word_that_normalisation_removes_owns_nothing(tokenizer: Tokenizer) -> None:
    assert set(piece_words(tokenizer, "ka \u200b\ufeff lo")) == {0, 2}


def test_other_whitespace_stays_inside_its_word(tokenizer: Tokenizer) -> None:
    assert set(piece_words(tokenizer, "ka\tlo\u00a0mi tu")) == {0, 1}


def test_real_lines(nmt_data: Path, tokenizer: Tokenizer) -> None:
    with open(nmt_data / "multi30k" / "val.de", encoding="utf-8", newline="\n") as file:
        lines = [line.removesuffix("\n") for line in file][:200]
    for line in lines:
        assert set(piece_words(tokenizer, line)) == set(range(len(split_words(line))))


@pytest.mark.parametrize("line", ["ka lo mi tu", "ka", "full fill office", "do ne re"])
def test_found_pieces_have_the_words_that_encoded_ones_have(tokenizer: Tokenizer, line: str) -> None:
    ids = tokenizer.encode(line)
    assert token_words(tokenizer, ids) == piece_words(tokenizer, line)


@given(st.data())
def test_any_ids_have_words_of_their_text(tokenizer: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(4, len(tokenizer) - 1), max_size=12))
    words = token_words(tokenizer, ids)
    assert len(words) == len(ids)
    assert words == sorted(words)
    assert all(0 <= word < max(1, len(split_words(tokenizer.decode(ids)))) for word in words)
