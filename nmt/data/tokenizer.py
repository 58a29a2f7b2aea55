"""One SentencePiece model: raw lines <-> piece ids.

The reserved strings (`</s>`, `<unk>`, ...) are ordinary text wherever they stand in a line: nothing that a line holds
can make a control id.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Literal, get_args

import sentencepiece

from nmt.data.files import write_atomically
from nmt.data.lines import is_blank
from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.errors import UserError

ModelType = Literal["unigram", "bpe", "word", "char"]
SPACE = "\u2581"  # how SentencePiece writes a space
RESERVED = "\u2585"  # SentencePiece leaves out, silently, every training line that holds this block character
LINE_SEPARATORS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # whatever any tool takes for the end of a line
LONGEST_LINE = 1 << 30  # bytes; SentencePiece's own limit of 4192 leaves out longer training lines
TO_SPACE = str.maketrans(dict.fromkeys([*LINE_SEPARATORS, SPACE], " "))
MANY = 1 << 24  # more than there are characters: SentencePiece would cut a char vocabulary without a word
BYTES = 256  # ids that byte fallback takes
NORMALIZATIONS = ("nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf", "identity")


class Tokenizer:
    """A vocabulary and the cutting of lines into it. Ids 0 to 3 are UNK, BOS, EOS, PAD."""

    def __init__(self, *, model: bytes) -> None:
        """`model` is a serialised SentencePiece model. UserError: something else, or other ids for the specials."""
        self._model = model
        self._processor = _processor(model)

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """A model file. UserError: missing, not readable, no model of ours."""
        try:
            return cls(model=path.read_bytes())
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from error
        except UserError as error:
            raise UserError(f"{path}: {error}") from error

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        *,
        model_type: ModelType,
        vocabulary_size: int,
        path: Path,
        character_coverage: float = 1.0,
        byte_fallback: bool = False,
        normalization: str = "nmt_nfkc",
    ) -> Tokenizer:
        """Learn a vocabulary from all the lines and write it to `path`; the same lines give the same file.

        `vocabulary_size` counts every id, specials and bytes too. word and char take fewer where the text has fewer;
        unigram and bpe must reach it; all but word must have room for every character that is covered.
        UserError: no text; a size that the text cannot fill or that its characters overflow, with the limit.
        """
        _check(model_type, vocabulary_size, character_coverage, byte_fallback, normalization)
        writer, failures = BytesIO(), list[Exception]()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=_trainable(lines, failures),
                model_writer=writer,
                model_type=model_type,
                vocab_size=MANY if model_type == "char" else vocabulary_size,
                hard_vocab_limit=model_type in ("unigram", "bpe"),
                character_coverage=character_coverage,
                byte_fallback=byte_fallback,
                normalization_rule_name=normalization,
                max_sentence_length=LONGEST_LINE,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                pad_id=PAD,
                num_threads=1,  # sums in one order: the same bits on every machine
                minloglevel=2,
            )
        except (RuntimeError, SystemError) as error:  # either one, by version, where the lines themselves failed
            if failures:
                raise failures[0] from None
            raise UserError(_why_not_trained(str(error), vocabulary_size)) from error
        tokenizer = cls(model=writer.getvalue())
        if len(tokenizer) > vocabulary_size:
            raise UserError(_too_small(vocabulary_size, len(tokenizer)))
        write_atomically(path, writer.getvalue())
        return tokenizer

    def __len__(self) -> int:
        """How many ids there are, specials included."""
        return int(self._processor.get_piece_size())

    @property
    def vocabulary_size(self) -> int:
        """The same as `len`."""
        return len(self)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the model file, in hexadecimal."""
        return hashlib.sha256(self._model).hexdigest()

    @cached_property
    def banned_ids(self) -> tuple[int, ...]:
        """Ids of pieces, byte pieces too, that are or hold a line separator: a translation must not contain them."""
        separators = [separator.encode() for separator in LINE_SEPARATORS]
        return tuple(id for id, text in enumerate(self._bytes) if any(separator in text for separator in separators))

    def encode(self, line: str) -> list[int]:
        """The pieces of a line, without BOS and EOS; none for a blank line."""
        if self._whole_words:
            return [self._processor.piece_to_id(word) for word in self._normalized_words(line)]
        return list(self._processor.encode(line))

    def decode(self, ids: Iterable[int], *, unknown: str = "") -> str:
        """The text of piece ids; BOS, EOS and PAD are passed over, UNK is written as `unknown`.

        Never holds a line separator: each becomes a space. Spaces do not repeat and do not stand at the ends.
        """
        space = " " if self._whole_words and unknown else ""
        shown = (space + unknown).encode()
        text = b"".join(shown if id == UNK else self._bytes[id] for id in ids).decode("utf-8", errors="replace")
        return " ".join(field for field in text.translate(TO_SPACE).split(" ") if field)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The names of the ids, as SentencePiece writes them."""
        return [str(self._processor.id_to_piece(id)) for id in ids]

    def is_space(self, id: int) -> bool:
        """Whether a piece is nothing but the space before a word."""
        return self._bytes[id] == SPACE.encode()

    def normalize(self, line: str) -> str:
        """The line as the vocabulary sees it; `decode(encode(line))` gives it back where no character is unknown."""
        return str(self._processor.normalize(line)).replace(SPACE, " ").strip(" ")

    def spans(self, line: str) -> list[tuple[int, int]]:
        """For each piece of `encode(line)` the characters [begin, end) of `line` that its text was made of.

        Leading spaces are passed over: a lone space stands, without length, where the text after it begins. Pieces
        that share a character (bytes of one, parts of a ligature) all begin where it does.
        """
        text, sources = self._processor.normalize(line, with_offsets=True)
        owner = [position for position, character in enumerate(text) for _ in character.encode()]
        ends = _next_greater([*sources[: len(text)], len(line)])
        begin, spans = 0, []
        for width in self._widths(line):
            first, last = _next_visible(text, owner[begin]), owner[begin + width - 1]
            spans.append((sources[first], ends[last] if first <= last else sources[first]))
            begin += width
        assert begin == len(owner), f"the pieces cover {begin} of {len(owner)} bytes"
        return spans

    @cached_property
    def _bytes(self) -> list[bytes]:
        """What each id adds to a decoded text; nothing for the specials."""
        return [self._bytes_of(id) if id > PAD else b"" for id in range(len(self))]

    @cached_property
    def _whole_words(self) -> bool:
        """Whether each piece is a whole word. SentencePiece then joins unknown neighbours; we keep one id a word."""
        return all(
            not self._processor.is_byte(id) and _is_word(self._processor.id_to_piece(id)) for id in self._ordinary
        )

    @property
    def _ordinary(self) -> range:
        return range(PAD + 1, len(self))

    def _bytes_of(self, id: int) -> bytes:
        piece = str(self._processor.id_to_piece(id))
        return bytes([int(piece[3:5], 16)]) if self._processor.is_byte(id) else piece.encode()

    def _normalized_words(self, line: str) -> list[str]:
        return [SPACE + word for word in str(self._processor.normalize(line)).split(SPACE) if word]

    def _widths(self, line: str) -> list[int]:
        """How many bytes of the normalised line each piece covers."""
        if self._whole_words:
            return [len(word.encode()) for word in self._normalized_words(line)]
        surfaces = self._processor.encode(line, out_type=str)  # an unknown piece is given as its text
        pairs = zip(self.encode(line), surfaces, strict=True)
        return [1 if self._processor.is_byte(id) else len(surface.encode()) for id, surface in pairs]


def _processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise UserError("not a SentencePiece model") from error
    ids = (processor.unk_id(), processor.bos_id(), processor.eos_id(), processor.pad_id())
    if ids != (UNK, BOS, EOS, PAD):
        raise UserError(f"its ids for unk, bos, eos, pad are {ids}, not {(UNK, BOS, EOS, PAD)}")
    return processor


def _check(model_type: str, vocabulary_size: int, coverage: float, byte_fallback: bool, normalization: str) -> None:
    """What can be refused before any text is read. Every message begins with the option as it is written."""
    smallest = PAD + 1 + BYTES * byte_fallback + 1
    if model_type not in get_args(ModelType):
        raise UserError(f"tokenizer.model_type={model_type}: must be one of {', '.join(get_args(ModelType))}")
    if vocabulary_size < smallest:
        taken = f"{PAD + 1} special ids" + f" and {BYTES} bytes" * byte_fallback
        raise UserError(
            f"tokenizer.vocabulary_size={vocabulary_size}: must be at least {smallest} ({taken} come first)"
        )
    if not 0.98 <= coverage <= 1:
        raise UserError(f"tokenizer.character_coverage={coverage}: must be from 0.98 to 1")
    if normalization not in NORMALIZATIONS:
        raise UserError(f"tokenizer.normalization={normalization}: must be one of {', '.join(NORMALIZATIONS)}")


def _trainable(lines: Iterable[str], failures: list[Exception]) -> Iterator[str]:
    """The lines as SentencePiece may read them. It hides what an iterator raises: that is kept in `failures`."""
    try:
        for line in lines:
            if not is_blank(line):  # sentencepiece 0.2.1 dies of a text that is blank throughout
                yield line.replace(RESERVED, " ")
    except Exception as error:
        failures.append(error)
        raise


def _is_word(piece: str) -> bool:
    return len(piece) > 1 and piece.startswith(SPACE)


def _next_visible(text: str, position: int) -> int:
    """The first character from `position` on that is no space; `position` itself where there is none."""
    return next((place for place in range(position, len(text)) if text[place] != SPACE), position)


def _next_greater(values: Sequence[int]) -> list[int]:
    """For each value but the last, the first greater one behind it; values never decrease, and the last is greatest."""
    greater = [values[-1]]
    for value, behind in zip(values[-2::-1], values[:0:-1], strict=True):
        greater.append(behind if behind > value else greater[-1])
    return greater[:0:-1]


def _too_small(vocabulary_size: int, smallest: int) -> str:
    return (
        f"tokenizer.vocabulary_size={vocabulary_size} is too small for the characters of this text: "
        f"the smallest possible is {smallest} (or lower tokenizer.character_coverage)"
    )


def _why_not_trained(message: str, vocabulary_size: int) -> str:
    """SentencePiece's complaint in words that name our option and the number that would do."""
    if largest := re.search(r"value <= (\d+)", message):
        return (
            f"tokenizer.vocabulary_size={vocabulary_size} is too large for this text: "
            f"the largest possible is {largest[1]}"
        )
    if smallest := re.search(r"required_chars\. \d+ vs (\d+)", message):
        return _too_small(vocabulary_size, int(smallest[1]))
    if "sentences_.empty()" in message or "all_chars_count" in message:
        return "the tokenizer has no text to learn from: the training lines are empty or blank"
    return f"the tokenizer cannot be trained: {message}"
