"""Small aligned pairs, and a model whose attention is known because it looks words up in a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from nmt.align.links import argmax_links
from nmt.align.matrix import AlignmentMatrix
from nmt.align.record import Record
from nmt.config import AlignmentConfig
from nmt.data.words import split_words

MakeRecord = Callable[[int, str, str], Record]


@pytest.fixture
def make_record() -> MakeRecord:
    """A record of two lines with random attention whose rows sum to 1, and its argmax links."""
    generator = np.random.default_rng(5)

    def make(index: int, source: str, target: str) -> Record:
        sources, targets = tuple(split_words(source)), tuple(split_words(target))
        weights = generator.dirichlet([0.3] * (len(sources) + 1), len(targets) + 1).astype(np.float32)
        if not sources or not targets:
            weights[:] = 0
        matrix = AlignmentMatrix(sources, targets, weights)
        return Record(index, source, target, matrix, frozenset(argmax_links(matrix)))

    return make


class Read(NamedTuple):
    weights: np.ndarray
    source_map: list[int]
    target_map: list[int]


class ReversingModel:
    """Reads target word j at source word n - 1 - j, in layer 1, head 2, one row early (so that shift 1 is right).

    Pieces are two characters long. Every other head reads EOS alone. `translate` reverses the words, in capitals.
    """

    layers, heads = 2, 3
    alignment = AlignmentConfig(layer=1, head=2, shift=1)
    source_tokenizer = SimpleNamespace(digest="5" * 64)
    target_tokenizer = SimpleNamespace(digest="7" * 64, decode=lambda tokens: tokens)
    run = Path("runs/reversing")

    def translate(
        self, lines: Sequence[str], *, weights: bool, advance: Callable[[int], None]
    ) -> list[SimpleNamespace]:
        assert weights, "what is aligned carries its weights"
        advance(len(lines))
        texts = [" ".join(reversed(split_words(line))).upper() for line in lines]
        return [SimpleNamespace(hypotheses=[SimpleNamespace(tokens=text)] if text else []) for text in texts]

    def read(self, line: str, hypothesis: SimpleNamespace) -> Read:
        return self._read(split_words(line), split_words(hypothesis.tokens))

    def attention(self, pairs: Sequence[tuple[str, str]], first: int = 1) -> list[Read]:
        return [self._read(split_words(source), split_words(target)) for source, target in pairs]

    def _read(self, source: list[str], target: list[str]) -> Read:
        source_map, target_map = _pieces(source), _pieces(target)
        if not source or not target:
            unread = np.zeros((self.layers, 1, len(target_map) + 1, len(source_map) + 1), np.float32)
            return Read(unread, source_map, target_map)
        weights = np.zeros((self.layers, self.heads, len(target_map) + 1, len(source_map) + 1), np.float32)
        weights[..., -1] = 1
        for row, word in enumerate(target_map):
            read_at = [column for column, s in enumerate(source_map) if s == len(source) - 1 - word]
            weights[1, 2, row + 1, :] = 0
            weights[1, 2, row + 1, read_at] = 1 / max(len(read_at), 1)
        return Read(weights, source_map, target_map)


def _pieces(words: list[str]) -> list[int]:
    return [index for index, word in enumerate(words) for _ in range(0, len(word), 2)]


@pytest.fixture
def reversing_model() -> ReversingModel:
    return ReversingModel()
