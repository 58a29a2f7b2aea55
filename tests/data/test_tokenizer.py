"""Text survives the trip to ids and back, nothing in a text is a control id, and every refusal names a number."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data import vocabulary
from nmt.data.lines import LINE_SEPARATORS
from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.data.tokenizer import Tokenizer, check_sampling
from nmt.data.vocabulary import ModelType, TrainingText
from nmt.data.words import line_pieces
from nmt.errors import UserError

WORDS = ["ka", "lo", "mi", "tu", "re", "so", "fa", "ne", "bi", "do"]
KINDS: tuple[ModelType, ...] = ("unigram", "bpe", "word", "char")


def toy_lines() -> list[str]:
    generator = random.Random(7)
    return [" ".join(generator.choices(WORDS, k=generator.randint(1, 9))) for _ in range(600)]


def long_words() -> list[str]:
    generator = random.Random(3)
    return [" ".join("".join(generator.choices(WORDS, k=3)) for _ in range(6)) for _ in range(200)]


def train(
    path: Path, lines: Sequence[str] | None = None, kind: ModelType = "bpe", size: int = 30, **more: Any
) -> Tokenizer:
    text = toy_lines() if lines is None else lines
    return Tokenizer.train(text, model_type=kind, vocabulary_size=size, path=path, **more)


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


SYMBOLS = ["<2en>", "a,b", 'q"x', "\uff21\uff22", "kalo", "mitu", "5%"]
VARIANTS = [
    (kind, fallback, symbols, digits)
    for kind in KINDS
    for fallback in (False, True)
    for symbols in ((), tuple(SYMBOLS))
    for digits in (False, True)
    if kind != "word" or not (symbols or digits)
]


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[object, ...], Tokenizer]:
    """A small model of every combination of the options."""
    folder, made = tmp_path_factory.mktemp("variants"), {}
    lines = [*long_words(), *["kalomi 12 305", "<2en> re 64%", "xa,by 789 789"] * 2]
    for kind, fallback, symbols, digits in VARIANTS:
        made[kind, fallback, symbols, digits] = Tokenizer.train(
            lines,
            model_type=kind,
            vocabulary_size=60 + 256 * fallback,
            path=folder / str(len(made)),
            byte_fallback=fallback,
            user_symbols=symbols,
            split_digits=digits,
        )
    return made


# Symbols and bits of them, known and unknown text, digits, and characters that normalisation changes.
PARTS = st.sampled_from(
    [*SYMBOLS, *WORDS, " ", "  ", "<2", "en>", "ka", "q", "123", "7", "\uff10", "漢", "😀", "\ufb01", "AB"]
)
MIXED = st.one_of(st.text(), st.lists(PARTS).map("".join))
ANY_VARIANT = st.sampled_from(VARIANTS)
CUT_AT_RANDOM = st.sampled_from([variant for variant in VARIANTS if variant[0] in ("unigram", "bpe")])


def as_seen(tokenizer: Tokenizer, line: str) -> str:
    """What decoding may give back of a line in which nothing is unknown."""
    return re.sub(" +", " ", visible(tokenizer.normalize(line)))


@settings(max_examples=200)
@given(variant=ANY_VARIANT, line=MIXED)
def test_every_combination_of_options_keeps_the_laws(
    variants: dict[tuple[object, ...], Tokenizer], variant: tuple[object, ...], line: str
) -> None:
    tokenizer = variants[variant]
    ids = tokenizer.encode(line)
    assert not {BOS, EOS, PAD} & set(ids)
    if UNK not in ids:
        assert tokenizer.decode(ids) == as_seen(tokenizer, line)
    assert UNK not in ids or not variant[1], "bytes leave nothing unknown"
    spans = tokenizer.spans(line)
    assert len(spans) == len(ids) == len(line_pieces(tokenizer, line).word)
    assert all(0 <= begin <= end <= len(line) for begin, end in spans)
    assert spans == sorted(spans)


@given(variant=ANY_VARIANT, lines=st.lists(MIXED, max_size=6), threads=st.integers(1, 3))
def test_many_lines_are_cut_as_each_alone(
    variants: dict[tuple[object, ...], Tokenizer], variant: tuple[object, ...], lines: list[str], threads: int
) -> None:
    tokenizer = variants[variant]
    assert tokenizer.encode_many(lines, threads) == [tokenizer.encode(line) for line in lines]
    assert tokenizer.encode_many(tuple(lines)) == tokenizer.encode_many(lines)


@settings(max_examples=200)
@given(
    variant=CUT_AT_RANDOM,
    line=MIXED,
    alpha=st.floats(0, 1, exclude_max=True),
    seed=st.integers(-(2**70), 2**70),
)
def test_a_line_cut_at_random_is_the_same_text(
    variants: dict[tuple[object, ...], Tokenizer], variant: tuple[object, ...], line: str, alpha: float, seed: int
) -> None:
    tokenizer = variants[variant]
    before = tokenizer.encode(line)
    ids = tokenizer.sample(line, alpha, seed)
    assert ids == tokenizer.sample(line, alpha, seed)
    assert tokenizer.encode(line) == before, "sampling leaves encode alone"
    assert not {BOS, EOS, PAD} & set(ids)
    assert tokenizer.decode(ids, unknown="?") == tokenizer.decode(before, unknown="?")
    symbols = set(range(4, 4 + len(SYMBOLS))) if variant[2] else set()
    assert [id for id in ids if id in symbols] == [id for id in before if id in symbols]


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
    """B01."""
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
    """B10."""
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
    assert len(tokenizer) == size


def test_sizes_without_room_for_the_specials(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"vocabulary_size=4: must be at least 5 "):
        train(tmp_path / "a", size=4)
    with pytest.raises(UserError, match=r"vocabulary_size=200: must be at least 261 .*byte_fallback=false"):
        train(tmp_path / "a", size=200, byte_fallback=True)
    with pytest.raises(UserError, match=r"must be at least 263 \(4 special ids and 2 symbols and 256 bytes come first"):
        train(tmp_path / "a", size=262, byte_fallback=True, user_symbols=["<en>", "x,y"])


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


@pytest.mark.parametrize("fault", [UserError("bad.src, line 2: not valid UTF-8"), KeyboardInterrupt()])
@pytest.mark.parametrize("sentences", [0, 9])
def test_a_fault_in_the_lines_reaches_the_user_as_itself(tmp_path: Path, fault: BaseException, sentences: int) -> None:
    def lines() -> Iterator[str]:
        yield "ka"
        raise fault

    with pytest.raises(type(fault), match=f"^{fault}$"):
        Tokenizer.train(lines(), model_type="bpe", vocabulary_size=30, path=tmp_path / "a", sentences=sentences)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_lines_give_the_same_file_wherever_it_lies(tmp_path: Path, kind: ModelType) -> None:
    """B05."""
    plain = train(tmp_path / "a.model", kind=kind, size=24)
    odd = tmp_path / "my, dir (v2)" / "a, b.model"
    assert train(odd, kind=kind, size=24).digest == plain.digest == hashlib.sha256(odd.read_bytes()).hexdigest()
    assert Tokenizer.load(odd).encode("ka lo mi") == plain.encode("ka lo mi")
    assert list(odd.parent.iterdir()) == [odd]


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_long_lines_and_lines_with_the_reserved_character_are_learnt_from(tmp_path: Path, kind: ModelType) -> None:
    """B06: SentencePiece's own limit is 4192 bytes a line, and it skips lines with U+2585."""
    lines = [*toy_lines(), " ".join(["ka"] * 3000) + " q", "x ▅ lo"]
    tokenizer = train(tmp_path / "a.model", lines, kind, 26)
    assert UNK not in tokenizer.encode("q x ka")


def test_only_the_training_lines_make_the_vocabulary(tmp_path: Path) -> None:
    """B12."""
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
    (tmp_path / "b.model").write_bytes(foreign())
    with pytest.raises(UserError, match=r"b\.model: its ids for unk, bos, eos, pad are \(0, 1, 2, -1\)"):
        Tokenizer.load(tmp_path / "b.model")
    (tmp_path / "c.model").write_bytes(b"not a model")
    with pytest.raises(UserError, match=r"c\.model: not a SentencePiece model"):
        Tokenizer.adopt(tmp_path / "c.model")
    with pytest.raises(UserError, match=r"gone\.model: No such file"):
        Tokenizer.adopt(tmp_path / "gone.model")


def foreign(**options: Any) -> bytes:
    """A model of SentencePiece's own making."""
    writer, lines = BytesIO(), iter([*toy_lines(), *long_words()])
    given = {"vocab_size": 60, "model_type": "unigram", "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=lines, model_writer=writer, **given)
    return writer.getvalue()


ORDERS: list[dict[str, Any]] = [
    {},
    {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    {"pad_id": 1, "unk_id": 3, "bos_id": 2, "eos_id": 0},
    {"bos_piece": "[CLS]", "eos_piece": "[SEP]", "control_symbols": ["[MASK]"], "pad_id": 4, "vocab_size": 61},
    {"user_defined_symbols": ["<2en>", "<kalo>"], "byte_fallback": True, "vocab_size": 330},
    {"bos_id": -1, "eos_id": -1, "unk_id": 0},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "unk_id": 2, "bos_id": 0, "eos_id": 1},
    {"unk_piece": "[UNK]", "unk_surface": "", "unk_id": 40, "pad_id": 59},
]


@pytest.mark.parametrize("order", ORDERS, ids=range(len(ORDERS)))
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_model_of_any_order_cuts_as_before(tmp_path: Path, kind: str, order: dict[str, Any]) -> None:
    model = foreign(model_type=kind, **order)
    (tmp_path / "a.model").write_bytes(model)
    oracle = sentencepiece.SentencePieceProcessor(model_proto=model)
    adopted = Tokenizer.adopt(tmp_path / "a.model")
    assert adopted.model_type == kind
    lines = [*toy_lines()[:20], *long_words()[:20], "漢字 ka", "<2en>kalo,<kalo>mi", "  ka   lo ", "[MASK] [CLS]", ""]
    for line in lines:
        assert adopted.pieces(adopted.encode(line)) == [oracle.id_to_piece(id) for id in oracle.encode(line)]
        assert adopted.decode(adopted.encode(line)) == " ".join(
            oracle.decode([id for id in oracle.encode(line) if id != oracle.unk_id()]).split()
        )
    own = {oracle.id_to_piece(id) for id in range(len(oracle))}
    rest = adopted.pieces(range(4, len(adopted)))
    assert rest == [oracle.id_to_piece(id) for id in range(len(oracle)) if oracle.id_to_piece(id) in rest]
    assert own <= set(adopted.pieces(range(len(adopted))))


def test_adopting_is_reproducible_and_leaves_alone_what_is_in_order(tmp_path: Path) -> None:
    path, own = tmp_path / "a.model", tmp_path / "own.model"
    path.write_bytes(foreign(byte_fallback=True, vocab_size=320))
    adopted = Tokenizer.adopt(path)
    assert adopted.digest == Tokenizer.adopt(path).digest
    adopted.save(own)
    assert Tokenizer.load(own).digest == Tokenizer.adopt(own).digest == adopted.digest
    assert len(adopted) == 321, "a pad is added"
    assert train(own).digest == Tokenizer.adopt(own).digest


def test_special_pieces_that_a_text_could_hold_become_control_pieces(tmp_path: Path) -> None:
    """B01, of a model that takes `</s>` and `<pad>` for symbols of the user."""
    model = foreign(user_defined_symbols=["</s>", "<pad>"], eos_id=-1, byte_fallback=True, vocab_size=330)
    (tmp_path / "a.model").write_bytes(model)
    adopted = Tokenizer.adopt(tmp_path / "a.model")
    assert adopted.pieces([UNK, BOS, EOS, PAD]) == ["<unk>", "<s>", "</s>", "<pad>"]
    assert not {BOS, EOS, PAD} & set(adopted.encode("ka </s> lo <pad>"))
    assert adopted.decode(adopted.encode("ka </s> lo <pad>")) == "ka </s> lo <pad>"


def test_other_control_pieces_of_a_foreign_model_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.model").write_bytes(foreign(control_symbols=["[MASK]"]))
    adopted = Tokenizer.adopt(tmp_path / "a.model")
    mask = adopted.pieces(range(len(adopted))).index("[MASK]")
    assert mask > PAD
    assert adopted.decode([mask, *adopted.encode("ka"), mask]) == "ka"


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
@pytest.mark.parametrize("symbols", [[","], ["a"], [*SYMBOLS, "=", "--x=1", "#", "'", "<3x00>", "漢字"]])
def test_a_symbol_is_one_piece_in_any_text(tmp_path: Path, kind: ModelType, symbols: list[str]) -> None:
    """B05 of symbols: SentencePiece splits a string at its commas."""
    tokenizer = train(tmp_path / "a.model", [*long_words(), "x AB mi"], kind, 44, user_symbols=symbols)
    assert tokenizer.pieces(range(4, 4 + len(symbols))) == symbols
    for id, symbol in enumerate(symbols, start=4):
        for line in [symbol, f"ka{symbol}lo", f"{symbol}{symbol}", f"mi {symbol} mi", f"{symbol}x\u2260{symbol}"]:
            ids = tokenizer.encode(line)
            assert ids.count(id) == line.count(symbol)
            assert symbol in tokenizer.decode(ids)
            if kind != "char":
                assert all(tokenizer.sample(line, 0.05, seed).count(id) == line.count(symbol) for seed in range(9))


def test_the_longest_symbol_wins(tmp_path: Path) -> None:
    for kind in ("unigram", "bpe", "char"):
        tokenizer = train(tmp_path / "a", long_words(), kind, 30, user_symbols=["ka", "kalo", "lomi"])
        assert [id for id in tokenizer.encode("kalomi ka") if 4 <= id < 7] == [5, 4]


@pytest.mark.parametrize(
    ("symbols", "reason"),
    [
        (["</s>"], "reserved"),
        (["<unk>"], "reserved"),
        (["<0x0A>"], "reserved"),
        ([""], "empty"),
        (["x", "x"], "twice"),
        (["a b"], "space"),
        ([" x"], "space"),
        (["\u2581x"], "U\\+2581"),
        (["x\n"], "line separator"),
        (["x\u2028y"], "line separator"),
        (["\u2585"], "U\\+2585"),
        (["\t"], "space"),
        (["\ud800"], "no text file"),
    ],
)
def test_what_cannot_be_a_symbol(tmp_path: Path, symbols: list[str], reason: str) -> None:
    with pytest.raises(UserError, match=rf"^tokenizer\.user_symbols: .* cannot be a symbol: .*{reason}"):
        train(tmp_path / "a", user_symbols=symbols)


def test_whole_words_have_no_parts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tokenizer\.user_symbols: a word model has whole words alone"):
        train(tmp_path / "a", kind="word", user_symbols=["x"])
    with pytest.raises(UserError, match=r"tokenizer\.split_digits=true: a word model has whole words alone"):
        train(tmp_path / "a", kind="word", split_digits=True)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_digits_stand_alone_where_they_are_to(tmp_path: Path, kind: ModelType) -> None:
    lines = [*long_words(), *["ka 2024 lo 1999"] * 50]
    together = train(tmp_path / "a", lines, kind, 60)
    apart = train(tmp_path / "a", lines, kind, 60, split_digits=True)
    several = re.compile(r"\d.|.\d")
    assert list(filter(several.search, together.pieces(range(4, 60))))
    assert not list(filter(several.search, apart.pieces(range(4, 60))))
    assert apart.pieces(apart.encode("2024 mi19")) == ["▁", "2", "0", "2", "4", *apart.pieces(apart.encode("mi19"))]


def test_sampling_is_reproducible_and_varied(variants: dict[tuple[object, ...], Tokenizer]) -> None:
    line = "kalomi tuloka refaso nebido" * 2
    for kind in ("unigram", "bpe"):
        tokenizer = variants[kind, True, (), False]
        cuts = [tokenizer.sample(line, 0.2, seed) for seed in range(50)]
        assert len(set(map(len, cuts))) > 3
        assert len(set(map(tuple, cuts))) > 30
        assert tokenizer.sample(line, 0, 1) == tokenizer.encode(line)
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(partial(tokenizer.sample, line, 0.2), range(50))) == cuts
        assert tokenizer.sample(line, 0.2, 2**32) != cuts[0], "seeds beyond 32 bits count"


def test_alpha_says_how_random(variants: dict[tuple[object, ...], Tokenizer]) -> None:
    """bpe: the more, the shorter the pieces; unigram: the less, the shorter."""
    lines = long_words()[:50]

    def pieces(kind: str, alpha: float) -> int:
        tokenizer = variants[kind, False, (), False]
        return sum(len(tokenizer.sample(line, alpha, seed)) for seed, line in enumerate(lines))

    assert pieces("bpe", 0) < pieces("bpe", 0.1) < pieces("bpe", 0.5)
    assert pieces("unigram", 0) < pieces("unigram", 0.3) < pieces("unigram", 0.01)


def test_one_way_to_cut_is_no_sampling() -> None:
    for kind in ("word", "char"):
        check_sampling(0.0, kind)
        with pytest.raises(UserError, match=rf"^tokenizer\.sampling=0\.1: a {kind} model has one way to cut a line"):
            check_sampling(0.1, kind)
    check_sampling(0.1, "bpe")
    check_sampling(0.1, "unigram")


def test_a_vocabulary_of_some_of_the_lines(tmp_path: Path) -> None:
    lines = [f"w{number}" for number in range(500)]
    told: list[TrainingText] = []

    def words(seed: int, sentences: int = 40) -> set[str]:
        tokenizer = train(
            tmp_path / "a", iter(lines), "word", 900, sentences=sentences, seed=seed, learning=told.append
        )
        return {piece[1:] for piece in tokenizer.pieces(range(4, len(tokenizer)))}

    drawn = [words(seed) for seed in range(30)]
    assert told[0] == TrainingText(lines=500, learnt=40, too_long=0)
    assert all(len(one) == 40 for one in drawn)
    assert words(3) == drawn[3] != drawn[4]
    counts = Counter(word for one in drawn for word in one)
    assert sum(counts[word] for word in lines[:250]) == pytest.approx(30 * 20, rel=0.15), "first lines and last alike"
    assert words(0, 500) == words(1, 900) == set(lines)
    assert told[-1] == TrainingText(lines=500, learnt=500, too_long=0)


def test_a_sample_that_is_all_gives_the_file_of_all(tmp_path: Path) -> None:
    files = [train(tmp_path / "a", sentences=number, seed=number).digest for number in (0, 600, 10_000)]
    assert len(set(files)) == 1
    assert train(tmp_path / "a", sentences=50, seed=1).digest == train(tmp_path / "a", sentences=50, seed=1).digest


def test_learning_begins_when_all_is_read(tmp_path: Path) -> None:
    order: list[object] = []

    def lines() -> Iterator[str]:
        yield from [*toy_lines(), " "]
        order.append("read")

    train(tmp_path / "a", lines(), learning=order.append)
    assert order == ["read", TrainingText(600, 600, 0)]


@pytest.mark.parametrize("sentences", [0, 1000])
def test_a_line_that_is_too_long_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sentences: int) -> None:
    """B06: nothing is left out without a word."""
    monkeypatch.setattr(vocabulary, "LONGEST_LINE", 5000)
    told: list[TrainingText] = []
    lines = [*toy_lines(), "漢" * 1666, "字" * 1667]
    tokenizer = train(tmp_path / "a", lines, "char", 100, learning=told.append, sentences=sentences)
    assert told == [TrainingText(lines=602, learnt=601, too_long=1)]
    assert UNK not in tokenizer.encode("漢")
    assert UNK in tokenizer.encode("字")


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_both_ends_of_the_possible_sizes_are_named(tmp_path: Path, kind: ModelType) -> None:
    """B04, with symbols and bytes counted."""
    more: dict[str, Any] = {"byte_fallback": True, "user_symbols": ["<2en>", "x,y"]}
    with pytest.raises(UserError, match=r"^tokenizer\.vocabulary_size=9000 is too large") as error:
        train(tmp_path / "a", kind=kind, size=9000, **more)
    smallest, largest = map(int, re.findall(r"possible is (\d+)", str(error.value)))
    letters = len(set("".join(WORDS)))
    assert smallest == 4 + 2 + 256 + letters + 1
    assert list(tmp_path.iterdir()) == []
    for size in (smallest, largest):
        assert len(train(tmp_path / "a", kind=kind, size=size, **more)) == size
    with pytest.raises(UserError, match=f"smallest possible is {smallest} "):
        train(tmp_path / "a", kind=kind, size=smallest - 1, **more)
    with pytest.raises(UserError, match=f"largest possible is {largest}$"):
        train(tmp_path / "a", kind=kind, size=largest + 1, **more)
