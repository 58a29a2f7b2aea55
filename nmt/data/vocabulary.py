"""Learning a SentencePiece model from lines, and every reason why it cannot be learnt in words that name our option."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import Literal, NamedTuple, get_args

import sentencepiece

from nmt.data.lines import LINE_SEPARATORS, is_blank
from nmt.data.model_proto import NORMAL, pieces_of_type
from nmt.data.reservoir import draw
from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.errors import UserError

ModelType = Literal["unigram", "bpe", "word", "char"]
SPACE = "\u2581"  # how SentencePiece writes a space
RESERVED = "\u2585"  # SentencePiece leaves out, silently, every training line that holds this block character
LONGEST_LINE = 1 << 30  # bytes; SentencePiece's own limit of 4192 leaves out longer training lines
MANY = 1 << 24  # more than there are characters: SentencePiece would cut a char vocabulary without a word
BYTES = 256  # ids that byte fallback takes
NORMALIZATIONS = ("nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf", "identity")
SPECIALS = ("<unk>", "<s>", "</s>", "<pad>")
BYTE_NAME = re.compile("<0x[0-9A-F]{2}>")


class TrainingText(NamedTuple):
    """lines: that were read, blank ones not counted; learnt: that the vocabulary is learnt from; too_long: that are
    longer than anything SentencePiece takes, and left out."""

    lines: int
    learnt: int
    too_long: int


def learn_vocabulary(
    lines: Iterable[str],
    *,
    model_type: ModelType,
    vocabulary_size: int,
    character_coverage: float,
    byte_fallback: bool,
    normalization: str,
    user_symbols: Sequence[str],
    split_digits: bool,
    sentences: int,
    seed: int,
    learning: Callable[[TrainingText], None] | None,
) -> bytes:
    """A serialised model, with UNK, BOS, EOS, PAD, user_symbols and bytes as its first ids.

    `vocabulary_size` counts every id, those too. word and char take fewer where the text has fewer; unigram and bpe
    must reach it; all but word must have room for every character that is covered. user_symbols: texts that are one
    piece wherever they stand. split_digits: each of 0 to 9 is a piece. sentences: so many lines, drawn at random by
    `seed`, are learnt from (0: all); only they are held in memory by us. learning: called when every line is read and
    learning begins. UserError: no text; a size that the text cannot fill or that its characters overflow, with the
    limit; symbols that cannot be pieces; and whatever reading the lines raises.
    """
    check_vocabulary(
        model_type=model_type,
        vocabulary_size=vocabulary_size,
        character_coverage=character_coverage,
        byte_fallback=byte_fallback,
        normalization=normalization,
        user_symbols=user_symbols,
        split_digits=split_digits,
    )
    writer, reading = BytesIO(), _Reading(lines, sentences, seed, learning)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(reading),
            model_writer=writer,
            model_type=model_type,
            vocab_size=MANY if model_type == "char" else vocabulary_size,
            hard_vocab_limit=False,  # `_check_size` says more than SentencePiece
            character_coverage=character_coverage,
            byte_fallback=byte_fallback,
            normalization_rule_name=normalization,
            user_defined_symbols=list(user_symbols),  # a list: SentencePiece would split a string at its commas
            split_digits=split_digits,
            max_sentence_length=LONGEST_LINE,
            unk_id=UNK,
            bos_id=BOS,
            eos_id=EOS,
            pad_id=PAD,
            num_threads=1,  # sums in one order: the same bits on every machine
            minloglevel=2,
        )
    except (RuntimeError, SystemError) as error:  # either one, by version, where the lines themselves failed
        if reading.failure is not None:
            raise reading.failure from None
        raise UserError(_why_not_trained(str(error), vocabulary_size)) from error
    _check_size(writer.getvalue(), model_type, vocabulary_size)
    return writer.getvalue()


class _Reading:
    """The lines as SentencePiece may read them. It hides what an iterator raises: that is kept in `failure`."""

    def __init__(
        self, lines: Iterable[str], sentences: int, seed: int, learning: Callable[[TrainingText], None] | None
    ) -> None:
        self.failure: Exception | KeyboardInterrupt | None = None
        self._lines, self._sentences, self._seed, self._learning = lines, sentences, seed, learning
        self._read = self._too_long = 0

    def __iter__(self) -> Iterator[str]:
        try:
            learnt = 0
            usable = self._usable()
            for line in draw(usable, self._sentences, self._seed) if self._sentences else usable:
                learnt += 1
                yield line
            if self._learning is not None:
                self._learning(TrainingText(self._read, learnt, self._too_long))
        except (Exception, KeyboardInterrupt) as error:
            self.failure = error
            raise

    def _usable(self) -> Iterator[str]:
        for line in self._lines:
            if is_blank(line):
                continue
            self._read += 1
            if 4 * len(line) > LONGEST_LINE and len(line.encode()) > LONGEST_LINE:
                self._too_long += 1
            else:
                yield line.replace(RESERVED, " ")


def check_vocabulary(
    *,
    model_type: str,
    vocabulary_size: int,
    character_coverage: float,
    byte_fallback: bool,
    normalization: str,
    user_symbols: Sequence[str],
    split_digits: bool,
) -> None:
    """Refuse what needs no text to be refused. Every message begins with the option as it is written."""
    if model_type not in get_args(ModelType):
        raise UserError(f"tokenizer.model_type={model_type}: must be one of {', '.join(get_args(ModelType))}")
    _check_symbols(user_symbols)
    if model_type == "word" and user_symbols:
        raise UserError("tokenizer.user_symbols: a word model has whole words alone; choose another, or leave them out")
    if model_type == "word" and split_digits:
        raise UserError("tokenizer.split_digits=true: a word model has whole words alone; choose another, or set false")
    taken = f"{len(SPECIALS)} special ids"
    taken += f" and {len(user_symbols)} symbols" * bool(user_symbols) + f" and {BYTES} bytes" * byte_fallback
    smallest = len(SPECIALS) + len(user_symbols) + BYTES * byte_fallback + 1
    if vocabulary_size < smallest:
        raise UserError(
            f"tokenizer.vocabulary_size={vocabulary_size}: must be at least {smallest} ({taken} come first)"
            + "; or set tokenizer.byte_fallback=false" * byte_fallback
        )
    if not 0.98 <= character_coverage <= 1:
        raise UserError(f"tokenizer.character_coverage={character_coverage}: must be from 0.98 to 1")
    if normalization not in NORMALIZATIONS:
        raise UserError(f"tokenizer.normalization={normalization}: must be one of {', '.join(NORMALIZATIONS)}")


def _check_symbols(symbols: Sequence[str]) -> None:
    for place, symbol in enumerate(symbols):
        if why := _why_no_symbol(symbol, symbols[:place]):
            raise UserError(f"tokenizer.user_symbols: {symbol!r} cannot be a symbol: {why}")


def _why_no_symbol(symbol: str, before: Sequence[str]) -> str | None:
    if not symbol:
        return "it is empty"
    if symbol in SPECIALS or BYTE_NAME.fullmatch(symbol):
        return "the name is reserved"
    if symbol in before:
        return "it is there twice"
    if any(character.isspace() or character in SPACE + RESERVED + LINE_SEPARATORS for character in symbol):
        return "it holds a space, a line separator, U+2581 or U+2585"
    if any("\ud800" <= character <= "\udfff" or character == "\0" for character in symbol):
        return "it holds a character that no text file can hold"
    return None


def _check_size(model: bytes, model_type: str, vocabulary_size: int) -> None:
    """Refuse a model of another size than was asked for, if its type must have it."""
    size = sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size()
    if size > vocabulary_size:
        raise UserError(_too_small(vocabulary_size, size))
    if size < vocabulary_size and model_type in ("unigram", "bpe"):
        needless = sum(len(text) > 1 for text in pieces_of_type(model, NORMAL))
        raise UserError(
            f"tokenizer.vocabulary_size={vocabulary_size} is too large for this text: "
            f"the smallest possible is {size - needless}, the largest possible is {size}"
        )


def _too_small(vocabulary_size: int, smallest: int) -> str:
    return (
        f"tokenizer.vocabulary_size={vocabulary_size} is too small for the characters of this text: "
        f"the smallest possible is {smallest} (or lower tokenizer.character_coverage)"
    )


def _why_not_trained(message: str, vocabulary_size: int) -> str:
    """SentencePiece's complaint in words that name our option and the number that would do."""
    if smallest := re.search(r"required_chars\. \d+ vs (\d+)", message):
        return _too_small(vocabulary_size, int(smallest[1]))
    if "sentences_.empty()" in message or "all_chars_count" in message:
        return "the tokenizer has no text to learn from: the training lines are empty or blank"
    return f"the tokenizer cannot be trained: {message}"
