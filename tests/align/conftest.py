"""Small aligned pairs, and a model whose attention is known because it looks words up in a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from nmt.align.links import argmax_links
from nmt.align.matrix import merge_pieces
from nmt.align.methods import METHODS
from nmt.align.record import Record
from nmt.config import AlignmentConfig
from nmt.data.words import Pieces, split_words
from nmt.translator import Method, Reading

MakeRecord = Callable[..., Record]


@pytest.fixture
def make_record() -> MakeRecord:
    """(index, source, target, views=1) -> a record of two lines, of pieces of two characters, with random values whose
    rows sum to 1, and view 0's argmax links."""
    generator = np.random.default_rng(5)

    def make(index: int, source: str, target: str, views: int = 1) -> Record:
        source_pieces, target_pieces = pieces(source), pieces(target)
        shape = (views, len(target_pieces.word) + 1)
        values = generator.dirichlet([0.3] * (len(source_pieces.word) + 1), shape).astype(np.float32)
        if not source_pieces.word or not target_pieces.word:
            values[:] = 0
        words = split_words(source), split_words(target)
        links = argmax_links(merge_pieces(values[0], source_pieces.word, target_pieces.word, *words))
        return Record(index, source, target, source_pieces, target_pieces, values, frozenset(links))

    return make


class ReversingModel:
    """Reads target word j at source word n - 1 - j, in layer 1, head 2, one row early (so that shift 1 is right).

    Pieces are two characters long. Every other head reads EOS alone. `translate` reverses the words, in capitals. Every
    other method finds in its right row minus what attention reads there.
    """

    layers, heads = 2, 3
    place, delay = (1, 2), 1
    alignment = AlignmentConfig(layer=1, head=2, shift=1)
    source_tokenizer = SimpleNamespace(digest="5" * 64)
    target_tokenizer = SimpleNamespace(digest="7" * 64, decode=lambda tokens: tokens)
    run = Path("runs/reversing")

    def translate(self, lines: Sequence[str], *, advance: Callable[[int], None]) -> list[SimpleNamespace]:
        advance(len(lines))
        texts = [" ".join(reversed(split_words(line))).upper() for line in lines]
        return [SimpleNamespace(hypotheses=[SimpleNamespace(tokens=text)] if text else []) for text in texts]

    def read_translations(self, found: Sequence[tuple[str, SimpleNamespace]], method: Method) -> list[Reading]:
        return self.read_pairs([(line, one.tokens) for line, each in found for one in each.hypotheses], 1, method)

    def read_pairs(self, pairs: Sequence[tuple[str, str]], first: int, method: Method) -> list[Reading]:
        return [self._read(source, target, method) for source, target in pairs]

    def _read(self, source: str, target: str, method: Method) -> Reading:
        source_pieces, target_pieces = pieces(source), pieces(target)
        right = np.zeros((len(target_pieces.word) + 1, len(source_pieces.word) + 1), np.float32)
        if not source_pieces.word or not target_pieces.word:
            return Reading(right[None, None], source_pieces, target_pieces)
        right[-1, -1] = 1
        for row, word in enumerate(target_pieces.word):
            read_at = [place for place, own in enumerate(source_pieces.word) if own == source_pieces.word[-1] - word]
            right[row, read_at] = 1 / max(len(read_at), 1)
        if method is not METHODS["attention"]:
            return Reading(-right[None, None], source_pieces, target_pieces)
        weights = np.zeros((self.layers, self.heads, *right.shape), np.float32)
        weights[..., -1] = 1
        weights[self.place][self.delay :] = right[: len(right) - self.delay]
        return Reading(weights, source_pieces, target_pieces)


def pieces(line: str) -> Pieces:
    """Two characters each, the last of a word one or two."""
    spans = [
        (word, begin, min(begin + 2, match.end()))
        for word, match in enumerate(re.finditer("[^ ]+", line))
        for begin in range(match.start(), match.end(), 2)
    ]
    return Pieces(*(tuple(span[part] for span in spans) for part in range(3)))


@pytest.fixture
def reversing_model() -> ReversingModel:
    return ReversingModel()
