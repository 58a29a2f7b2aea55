"""Text survives the trip to ids and back, nothing in a text is a control id, and every refusal names a number."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.data.tokenizer import LINE_SEPARATORS, ModelType, Tokenizer
from nmt.errors import UserError

WORDS = ["ka", "lo", "mi", "tu", "re", "so", "fa", "ne", "bi", "do"]
KINDS: tuple[ModelType, ...] = ("unigram", "bpe", "word", "char")


def toy_lines() -> list[str]:
    generator = random.Random(7)
    return [" ".join(generator.choices(WORDS, k=generator.randint(1, 9))) for _ in range(600)]


def train(path: Path, lines: list[str] | None = None, kind: ModelType = "bpe", size: int = 30) -> Tokenizer:
    return Tokenizer.train(toy_lines() if lines is None else lines, model_type=kind, vocabulary_size=size, path=path)


@pytest.fixture(scope="module")
def with_bytes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tokenizer]:
    folder = tmp_path_factory.mktemp("bytes")
    return {
        kind: Tokenizer.train(toy_lines(), model_type=kind, vocabulary_size=280, path=folder / kind, byte_fallback=True)
        for kind in ("unigram", "bpe")
    }


@pytest.fixture(params=["unigram", "bpe"])
def tokenizer(request: pytest.FixtureRequest, with_bytes: dict[str, Tokenizer]) -> Tokenizer:
    return with_bytes[request.param]


def visible(line: str) -> str:
    """The line with separators as spaces, and no doubled or outer spaces."""
    return " ".join(
        "".join(" " if character in LINE_SEPARATORS else character for character in line).split(" ")
    ).strip()


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@given(line=st.text())
def test_decoding_undoes_encoding(with_bytes: dict[str, Tokenizer], kind: str, line: str) -> None:
    tokenizer = with_bytes[kind]
    expected = " ".join(visible(tokenizer.normalize(line)).split(" "))
    assert tokenizer.decode(tokenizer.encode(line)) == re.sub(" +", " ", expected)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@given(data=st.data())
def test_any_ids_decode_to_one_line(with_bytes: dict[str, Tokenizer], kind: str, data: st.DataObject) -> None:
    tokenizer = with_bytes[kind]
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1)))
    text = tokenizer.decode(ids)
    assert len(text.splitlines()) <= 1
    assert text == tokenizer.decode([id for id in ids if id > PAD])


def test_decoding_agrees_with_sentencepiece(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    path.write_bytes(tokenizer._model)
    oracle = sentencepiece.SentencePieceProcessor(model_file=str(path))
    for line in [*toy_lines()[:50], "漢字 ka", 'don\'t "go" , a & b <c>']:
        assert tokenizer.encode(line) == oracle.encode(line)
        assert tokenizer.decode(tokenizer.encode(line)) == oracle.decode(oracle.encode(line))


def test_line_separators_never_come_back(tokenizer: Tokenizer) -> None:
    text = "ka".join(LINE_SEPARATORS)
    ids = [id for id in range(len(tokenizer)) if tokenizer.pieces([id])[0] == "<0x0A>"]
    assert tokenizer.decode(tokenizer.encode(f"ka{text}lo") + ids).splitlines() == [
        tokenizer.decode(tokenizer.encode(f"ka{text}lo"))
    ]


def test_bytes_that_break_a_line_are_banned_and_nothing_else(tokenizer: Tokenizer, tmp_path: Path) -> None:
    names = {"<0x0A>", "<0x0B>", "<0x0C>", "<0x0D>", "<0x1C>", "<0x1D>", "<0x1E>"}
    assert set(tokenizer.pieces(tokenizer.banned_ids)) == names
    assert train(tmp_path / "a.model").banned_ids == ()


def test_a_separator_learnt_without_normalisation_is_banned(tmp_path: Path) -> None:
    learnt = Tokenizer.train(
        ["ka\u2028lo"] * 9, model_type="char", vocabulary_size=50, path=tmp_path / "a", normalization="identity"
    )
    assert learnt.pieces(learnt.banned_ids) == ["\u2028"]
    assert learnt.decode(learnt.encode("ka\u2028lo")) == "ka lo"


@pytest.mark.parametrize("kind", KINDS)
def test_reserved_strings_in_a_text_are_text(tmp_path: Path, kind: ModelType) -> None:
    lines = ["ka </s> lo", "<pad> mi", "<unk>", "<s>", "\uff1c\uff0f\uff53\uff1e ka", "</s></s>"] * 20 + toy_lines()
    size = 24 if kind in ("unigram", "bpe") else 60
    tokenizer = train(tmp_path / "a.model", lines, kind, size)
    assert tokenizer.pieces([UNK, BOS, EOS, PAD]) == ["<unk>", "<s>", "</s>", "<pad>"]
    for line in lines[:6]:
        assert not {BOS, EOS, PAD} & set(tokenizer.encode(line))
    assert tokenizer.encode("ka </s> lo")[0] == tokenizer.encode("ka")[0]


def test_each_word_is_one_id_known_or_not(tmp_path: Path) -> None:
    tokenizer = train(tmp_path / "a.model", [*toy_lines(), "ka </s> lo"], "word")
    assert tokenizer.encode("ka </s> lo") == tokenizer.encode("ka zzz lo")
    assert tokenizer.encode("zzz <unk> 漢字 ka") == [UNK, UNK, UNK, *tokenizer.encode("ka")]
    assert tokenizer.decode(tokenizer.encode("zzz <unk> ka"), unknown="?") == "? ? ka"
    assert tokenizer.decode(tokenizer.encode("zzz <unk> ka")) == "ka"


def test_an_unknown_character_is_dropped_or_shown(tmp_path: Path) -> None:
    tokenizer = train(tmp_path / "a.model")
    ids = tokenizer.encode("ka 漢字 lo")
    assert UNK in ids
    assert tokenizer.decode(ids) == "ka lo"
    assert tokenizer.decode(ids, unknown="⁇") == "ka ⁇ lo"


def test_controls_decode_to_nothing(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("ka lo")
    assert tokenizer.decode([BOS, *ids, EOS, PAD, PAD]) == "ka lo"
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize("line", ["", "   ", "\t\u3000", "\u200b"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_blank_line_has_no_pieces(tmp_path: Path, kind: ModelType, line: str) -> None:
    assert train(tmp_path / "a.model", kind=kind, size=24).encode(line) == []


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_largest_size_is_named_and_possible(tmp_path: Path, kind: ModelType) -> None:
    path = tmp_path / "a.model"
    with pytest.raises(UserError, match=r"tokenizer\.vocabulary_size=5000 is too large .* possible is (\d+)") as error:
        train(path, kind=kind, size=5000)
    assert not path.exists()
    largest = int(re.findall(r"\d+", str(error.value))[-1])
    assert len(train(path, kind=kind, size=largest)) == largest
    with pytest.raises(UserError, match=f"largest possible is {largest}"):
        train(path, kind=kind, size=largest + 1)


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_the_smallest_size_is_named_and_possible(tmp_path: Path, kind: ModelType) -> None:
    path = tmp_path / "a.model"
    letters = len(set("".join(WORDS)))
    smallest = 4 + letters + 1  # the specials, the letters, the space
    with pytest.raises(UserError, match=rf"tokenizer\.vocabulary_size=5 is too small .* possible is {smallest} "):
        train(path, kind=kind, size=5)
    assert not path.exists()
    assert len(train(path, kind=kind, size=smallest)) == smallest


@pytest.mark.parametrize(("kind", "size"), [("word", 4 + len(WORDS)), ("char", 4 + len(set("".join(WORDS))) + 1)])
def test_word_and_char_stop_where_the_text_does(tmp_path: Path, kind: ModelType, size: int) -> None:
    tokenizer = train(tmp_path / "a.model", kind=kind, size=5000)
    assert len(tokenizer) == tokenizer.vocabulary_size == size


def test_sizes_without_room_for_the_specials(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"vocabulary_size=4: must be at least 5 "):
        train(tmp_path / "a", size=4)
    with pytest.raises(UserError, match=r"vocabulary_size=200: must be at least 261 "):
        Tokenizer.train(["a"], model_type="bpe", vocabulary_size=200, path=tmp_path / "a", byte_fallback=True)


def test_settings_out_of_range_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tokenizer\.model_type=words: must be one of unigram, bpe, word, char"):
        train(tmp_path / "a", kind="words")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"tokenizer\.normalization=nfc: must be one of nmt_nfkc"):
        Tokenizer.train(["a"], model_type="bpe", vocabulary_size=9, path=tmp_path / "a", normalization="nfc")
    with pytest.raises(UserError, match=r"tokenizer\.character_coverage=0\.5: must be from 0\.98 to 1"):
        Tokenizer.train(["a"], model_type="bpe", vocabulary_size=9, path=tmp_path / "a", character_coverage=0.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", [[], [""], [" ", "\u3000"]])
def test_no_text_to_learn_from(tmp_path: Path, kind: ModelType, lines: list[str]) -> None:
    with pytest.raises(UserError, match="no text to learn from"):
        train(tmp_path / "a", lines, kind)


def test_a_fault_in_the_lines_reaches_the_user_as_itself(tmp_path: Path) -> None:
    def lines() -> Iterator[str]:
        yield "ka"
        raise UserError("bad.src, line 2: not valid UTF-8")

    with pytest.raises(UserError, match=r"^bad\.src, line 2: not valid UTF-8$"):
        Tokenizer.train(lines(), model_type="bpe", vocabulary_size=30, path=tmp_path / "a")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_lines_give_the_same_file_wherever_it_lies(tmp_path: Path, kind: ModelType) -> None:
    plain = train(tmp_path / "a.model", kind=kind, size=24)
    odd = tmp_path / "my, dir (v2)" / "a, b.model"
    assert train(odd, kind=kind, size=24).digest == plain.digest == hashlib.sha256(odd.read_bytes()).hexdigest()
    assert Tokenizer.load(odd).encode("ka lo mi") == plain.encode("ka lo mi")
    assert list(odd.parent.iterdir()) == [odd]


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_long_lines_and_lines_with_the_reserved_character_are_learnt_from(tmp_path: Path, kind: ModelType) -> None:
    """SentencePiece's own limit is 4192 bytes a line, and it skips lines with U+2585."""
    lines = [*toy_lines(), " ".join(["ka"] * 3000) + " q", "x ▅ lo"]
    tokenizer = train(tmp_path / "a.model", lines, kind, 26)
    assert UNK not in tokenizer.encode("q x ka")


def test_only_the_training_lines_make_the_vocabulary(tmp_path: Path) -> None:
    tokenizer = train(tmp_path / "a.model", kind="word", size=5000)
    assert {piece.lstrip("▁") for piece in tokenizer.pieces(range(4, len(tokenizer)))} == set(WORDS)
    assert tokenizer.encode("zzz") == [UNK]


def test_training_is_silent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        train(tmp_path / "a.model", kind=kind, size=24)
    with pytest.raises(UserError):
        train(tmp_path / "a.model", size=5000)
    assert capfd.readouterr() == ("", "")


def test_what_is_no_model_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.model: No such file"):
        Tokenizer.load(tmp_path / "gone.model")
    (tmp_path / "a.model").write_bytes(b"not a model")
    with pytest.raises(UserError, match=r"a\.model: not a SentencePiece model"):
        Tokenizer.load(tmp_path / "a.model")
    with open(tmp_path / "b.model", "wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(toy_lines()), model_writer=file, vocab_size=24, model_type="bpe", minloglevel=2
        )
    with pytest.raises(UserError, match=r"b\.model: its ids for unk, bos, eos, pad are \(0, 1, 2, -1\)"):
        Tokenizer.load(tmp_path / "b.model")
