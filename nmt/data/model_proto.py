"""SentencePiece's model files, read and rewritten as messages in protobuf's wire format, without protobuf.

What is not changed is kept byte for byte. Numbers of fields and types are those of SentencePiece's
sentencepiece_model.proto; https://protobuf.dev/programming-guides/encoding describes the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nmt.errors import UserError

PIECE, TRAINER, NORMALIZER = 1, 2, 3  # of a model
TEXT, SCORE, TYPE = 1, 2, 3  # of a piece
NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4  # types of pieces
MODEL_TYPE, VOCABULARY_SIZE = 3, 4  # of a trainer's settings, as are the next two
IDS = (40, 41, 42, 43)
NAMES = {45: "<unk>", 46: "<s>", 47: "</s>", 48: "<pad>"}  # with what they are where a model does not say
MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5  # how a value is written


class Field(NamedTuple):
    """raw: all of its bytes."""

    number: int
    value: int | bytes
    raw: bytes


def model_type(model: bytes) -> str:
    """unigram, bpe, word or char."""
    return MODEL_TYPES[_integer(_trainer(model), MODEL_TYPE, 1)]


def pieces_of_type(model: bytes, kind: int) -> list[str]:
    """The texts of the pieces of a type, in order of their ids."""
    return [_text(piece) for piece in _pieces(model) if _type(piece) == kind]


def without_normalization(model: bytes) -> bytes:
    """The same model, which takes a text as it is: as one that is normalised already."""
    name, rules, dummy_prefix, extra_spaces, escaped_spaces = range(1, 6)
    settings = _field(name, b"identity") + _field(rules, b"")
    settings += b"".join(_field(number, False) for number in (dummy_prefix, extra_spaces, escaped_spaces))
    return model + _field(NORMALIZER, settings)


def specials_first(model: bytes) -> bytes:
    """The same model with its pieces for unk, bos, eos and pad before the others, which keep their order.

    Those that it lacks are added; those that a text can hold, as ordinary pieces or user-defined ones, become control
    pieces. A model in this order comes back as it is. UserError: not one piece for unk, or one of these names twice.
    """
    trainer = _trainer(model)
    pieces = _pieces(model)
    places = _places(pieces, trainer)
    if list(places.values()) == [0, 1, 2, 3] and [_type(piece) for piece in pieces[:4]] == [UNKNOWN] + [CONTROL] * 3:
        return model
    unknown, *others = places.items()
    first = [pieces[unknown[1] or 0], *(_control(name, pieces, place) for name, place in others)]
    taken = set(places.values())
    ordered = first + [piece for place, piece in enumerate(pieces) if place not in taken]
    settings: dict[int, int | bytes] = {VOCABULARY_SIZE: len(ordered), **dict(zip(IDS, range(4), strict=True))}
    settings.update(zip(NAMES, (name.encode() for name in places), strict=True))
    kept = [field.raw for field in _fields(trainer) if field.number not in settings]
    trainer = b"".join(kept) + b"".join(_field(number, value) for number, value in settings.items())
    rest = [field.raw for field in _fields(model) if field.number not in (PIECE, TRAINER)]
    return b"".join(_field(PIECE, piece) for piece in ordered) + _field(TRAINER, trainer) + b"".join(rest)


def _pieces(model: bytes) -> list[bytes]:
    return [_bytes(field.value) for field in _fields(model) if field.number == PIECE]


def _places(pieces: Sequence[bytes], trainer: bytes) -> dict[str, int | None]:
    """The names of unk, bos, eos and pad, in this order, and where they stand among the pieces; None: nowhere."""
    names = [_text(piece) for piece in pieces]
    unknown = [name for name, piece in zip(names, pieces, strict=True) if _type(piece) == UNKNOWN]
    if len(unknown) != 1:
        raise UserError(f"it has {len(unknown)} pieces for unknown text, not one")
    specials = unknown
    for number in list(NAMES)[1:]:
        own = _last(trainer, number, NAMES[number].encode())
        name = _bytes(own).decode() or NAMES[number]
        if name in specials:  # such as eos for pad
            name = NAMES[number]
        if name in specials:
            raise UserError(f"{name} is the name of two of its special pieces")
        specials = [*specials, name]
    where = {name: place for place, name in enumerate(names)}
    return {name: where.get(name) for name in specials}


def _control(name: str, pieces: Sequence[bytes], place: int | None) -> bytes:
    """The piece as a control piece, or a new one."""
    if place is None:
        return _field(TEXT, name.encode()) + _tag(SCORE, FOUR_BYTES) + bytes(4) + _field(TYPE, CONTROL)
    kept = [field.raw for field in _fields(pieces[place]) if field.number != TYPE]
    return b"".join(kept) + _field(TYPE, CONTROL)


def _text(piece: bytes) -> str:
    return _bytes(_last(piece, TEXT, b"")).decode()


def _type(piece: bytes) -> int:
    return _integer(piece, TYPE, NORMAL)


def _trainer(model: bytes) -> bytes:
    """A message in several parts means the parts joined."""
    return b"".join(_bytes(field.value) for field in _fields(model) if field.number == TRAINER)


def _integer(message: bytes, number: int, default: int) -> int:
    value = _last(message, number, default)
    assert isinstance(value, int)
    return value


def _bytes(value: int | bytes) -> bytes:
    assert isinstance(value, bytes)
    return value


def _last(message: bytes, number: int, default: int | bytes) -> int | bytes:
    """A field that stands several times has its last value."""
    return next((field.value for field in reversed(list(_fields(message))) if field.number == number), default)


def _fields(message: bytes) -> Iterator[Field]:
    """In their order. The message is whole: SentencePiece has read it."""
    position = 0
    while position < len(message):
        begin = position
        tag, position = _varint(message, position)
        number, written = tag >> 3, tag & 7
        value: int | bytes
        if written == VARINT:
            value, position = _varint(message, position)
        else:
            size = {EIGHT_BYTES: 8, FOUR_BYTES: 4}.get(written)
            if size is None:
                assert written == LENGTH, f"field {number} is written in the way {written}"
                size, position = _varint(message, position)
            value, position = message[position : position + size], position + size
        yield Field(number, value, message[begin:position])


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """The number that begins there, seven bits a byte and the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _tag(number, VARINT) + _as_varint(value)
    return _tag(number, LENGTH) + _as_varint(len(value)) + value


def _tag(number: int, written: int) -> bytes:
    return _as_varint(number << 3 | written)


def _as_varint(value: int) -> bytes:
    low = []
    while value >= 0x80:
        low.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*low, value])
