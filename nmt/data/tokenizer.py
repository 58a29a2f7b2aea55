"""One SentencePiece model: raw lines <-> piece ids.

The reserved strings (`</s>`, `<unk>`, ...) are ordinary text wherever they stand in a line: nothing that a line holds
can make a control id.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import sentencepiece

from nmt.data.drawing import BpeDropout, Drawer, Pieces, UnigramSampling, longest_first
from nmt.data.files import write_atomically
from nmt.data.lines import LINE_SEPARATORS
from nmt.data.model_proto import USER_DEFINED, model_type, pieces_of_type, specials_first, without_normalization
from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.data.vocabulary import SPACE, ModelType, TrainingText, learn_vocabulary
from nmt.errors import UserError

TO_SPACE = str.maketrans(dict.fromkeys([*LINE_SEPARATORS, SPACE], " "))
SAMPLED: dict[str, type[Drawer]] = {"unigram": UnigramSampling, "bpe": BpeDropout}  # have several ways to cut a line


def check_sampling(sampling: float, model_type: str) -> None:
    """Refuse what `Tokenizer.sample` cannot do. UserError: a model with one way to cut a line."""
    if sampling and model_type not in SAMPLED:
        raise UserError(
            f"tokenizer.sampling={sampling}: a {model_type} model has one way to cut a line; "
            f"set it to 0, or choose tokenizer={' or tokenizer='.join(SAMPLED)}"
        )


class Tokenizer:
    """A vocabulary and the cutting of lines into it. Ids 0 to 3 are UNK, BOS, EOS, PAD."""

    def __init__(self, *, model: bytes) -> None:
        """`model` is a serialised SentencePiece model. UserError: something else, or other ids for the specials."""
        self._model = model
        self._processor = _processor(model)
        ids = (self._processor.unk_id(), self._processor.bos_id(), self._processor.eos_id(), self._processor.pad_id())
        if ids != (UNK, BOS, EOS, PAD):
            raise UserError(f"its ids for unk, bos, eos, pad are {ids}, not {(UNK, BOS, EOS, PAD)}")

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """A model file. UserError: missing, not readable, no model of ours."""
        return _of_file(path, lambda model: cls(model=model))

    @classmethod
    def adopt(cls, path: Path) -> Tokenizer:
        """A SentencePiece model file of any origin, with its pieces in our order and the specials that it lacks added.

        It cuts every line into the same pieces as the file, but for its special pieces, which are never found in a
        text, and the user-defined symbols of a unigram model, which are never cut. UserError: missing, not readable,
        no model, no order that would do.
        """

        def adopted(model: bytes) -> Tokenizer:
            _processor(model)
            return cls(model=specials_first(model))

        return _of_file(path, adopted)

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
        user_symbols: Sequence[str] = (),
        split_digits: bool = False,
        sentences: int = 0,
        seed: int = 0,
        learning: Callable[[TrainingText], None] | None = None,
    ) -> Tokenizer:
        """Learn a vocabulary from the lines and write it to `path`; the same lines and seed give the same file.

        The arguments and what is refused: see `learn_vocabulary`. Nothing is written unless all went well.
        """
        model = learn_vocabulary(
            lines,
            model_type=model_type,
            vocabulary_size=vocabulary_size,
            character_coverage=character_coverage,
            byte_fallback=byte_fallback,
            normalization=normalization,
            user_symbols=user_symbols,
            split_digits=split_digits,
            sentences=sentences,
            seed=seed,
            learning=learning,
        )
        tokenizer = cls(model=model)
        tokenizer.save(path)
        return tokenizer

    def save(self, path: Path) -> None:
        """Write the model file, whole or not at all."""
        write_atomically(path, self._model)

    def __len__(self) -> int:
        """How many ids there are, specials included."""
        return int(self._processor.get_piece_size())

    @cached_property
    def model_type(self) -> str:
        """unigram, bpe, word or char."""
        return model_type(self._model)

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
        return self._ids(self._parts(line), self._cutter.encode)

    def encode_many(self, lines: Sequence[str], threads: int = 1) -> list[list[int]]:
        """`encode` of each line, by so many threads of SentencePiece's own (whole words: by one)."""
        if self._whole_words:
            return [self.encode(line) for line in lines]
        if not self._symbols:
            return list(self._cutter.encode(list(lines), num_threads=threads))
        parts = [self._parts(line) for line in lines]
        cuts = iter(self._cutter.encode([part for line in parts for part in line], num_threads=threads))
        return [self._ids(line, lambda _: next(cuts)) for line in parts]

    def sample(self, line: str, alpha: float, seed: int) -> list[int]:
        """Pieces of a line, cut in a random way: the same for the same line, alpha and seed, in any process.

        bpe: each merge is dropped with the probability `alpha`, anew at every step: BPE-dropout (Provilkov et al. 2020,
        algorithm 1). unigram: a way to cut has the probability of its pieces to the power of `alpha`, over their sum
        (Kudo 2018): the smaller alpha, the more random. 0 is neither: it gives `encode(line)`.
        """
        assert self.model_type in SAMPLED, f"check_sampling refuses a {self.model_type} model"
        if alpha == 0:
            return self.encode(line)
        return self._drawer.draw(str(self._processor.normalize(line)), alpha, seed)

    def decode(self, ids: Iterable[int], *, unknown: str = "") -> str:
        """The text of piece ids; control pieces are passed over, UNK is written as `unknown`.

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
        """What each id adds to a decoded text; nothing for the specials and for other control pieces."""
        return [self._bytes_of(id) if id > PAD else b"" for id in range(len(self))]

    @cached_property
    def _whole_words(self) -> bool:
        """Whether each piece is a whole word. SentencePiece then joins unknown neighbours; we keep one id a word."""
        return all(
            not self._processor.is_byte(id) and _is_word(self._processor.id_to_piece(id)) for id in self._ordinary
        )

    @cached_property
    def _symbols(self) -> dict[str, int]:
        """User-defined symbols that SentencePiece does not always keep in one piece: a unigram model's."""
        return self._user_defined if self.model_type == "unigram" else {}

    @cached_property
    def _user_defined(self) -> dict[str, int]:
        return {text: self._processor.piece_to_id(text) for text in pieces_of_type(self._model, USER_DEFINED)}

    @cached_property
    def _symbol(self) -> re.Pattern[str]:
        return longest_first(self._symbols)

    @cached_property
    def _drawer(self) -> Drawer:
        """What cuts lines at random."""
        model, symbols = self._processor, self._user_defined
        texts = {model.id_to_piece(id): id for id in self._ordinary if not model.is_control(id)}
        of_bytes = sorted(text for text, id in texts.items() if model.is_byte(id))  # <0x00> to <0xFF>
        scores = {text: model.get_score(id) for text, id in texts.items() if not (text in symbols or model.is_byte(id))}
        ids = {text: texts[text] for text in scores if not model.is_unused(texts[text])}
        return SAMPLED[self.model_type](Pieces(ids, scores, symbols, [texts[text] for text in of_bytes]))

    @cached_property
    def _cutter(self) -> sentencepiece.SentencePieceProcessor:
        """What cuts `_parts` of a line."""
        return _processor(without_normalization(self._model)) if self._symbols else self._processor

    def _parts(self, line: str) -> list[str]:
        """The whole line; where there are symbols, they and what stands between them, normalised."""
        if not self._symbols:
            return [line]
        return [part for part in self._symbol.split(str(self._processor.normalize(line))) if part]

    def _ids(self, parts: Sequence[str], cut: Callable[[str], list[int]]) -> list[int]:
        """Of a line: each symbol is one, and the other parts are cut."""
        cuts = ((part, cut(part)) for part in parts)
        return [id for part, ids in cuts for id in ([self._symbols[part]] if part in self._symbols else ids)]

    @property
    def _ordinary(self) -> range:
        return range(PAD + 1, len(self))

    def _bytes_of(self, id: int) -> bytes:
        piece = str(self._processor.id_to_piece(id))
        if self._processor.is_control(id):
            return b""
        return bytes([int(piece[3:5], 16)]) if self._processor.is_byte(id) else piece.encode()

    def _normalized_words(self, line: str) -> list[str]:
        return [SPACE + word for word in str(self._processor.normalize(line)).split(SPACE) if word]

    def _widths(self, line: str) -> list[int]:
        """How many bytes of the normalised line each piece covers."""
        if self._whole_words:
            return [len(word.encode()) for word in self._normalized_words(line)]
        widths = []
        for part in self._parts(line):
            if part in self._symbols:
                widths.append(len(part.encode()))
                continue
            surfaces = self._cutter.encode(part, out_type=str)  # an unknown piece is given as its text
            pairs = zip(self._cutter.encode(part), surfaces, strict=True)
            widths += [1 if self._processor.is_byte(id) else len(surface.encode()) for id, surface in pairs]
        return widths


def _of_file(path: Path, make: Callable[[bytes], Tokenizer]) -> Tokenizer:
    try:
        return make(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise UserError("not a SentencePiece model") from error


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
