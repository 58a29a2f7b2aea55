"""The mean of several models' weights, of both directions and of other pieces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from nmt.align.links import threshold_links
from nmt.align.matrix import merge_weights
from nmt.align.pipeline import Reader, align_records, mean_records
from nmt.align.record import Record, View
from nmt.data.words import Pieces, split_words
from nmt.translator import Reading

VIEW = View("posterior", 0, None, 0)
PAIRS = [("ka lo", "x yy zzz"), ("", "x"), ("mi  tu", "y")]


class Cutting:
    """Reads pairs by random weights over pieces of `width` characters."""

    def __init__(self, width: int, seed: int) -> None:
        self.width = width
        self.generator = np.random.default_rng(seed)
        self.read: list[Reading] = []

    def read_pairs(self, pairs: Sequence[tuple[str, str]], first: int, method: object) -> list[Reading]:
        self.read = [self._reading(source, target) for source, target in pairs]
        return self.read

    def _reading(self, source: str, target: str) -> Reading:
        sides = self._pieces(source), self._pieces(target)
        sizes = [len(pieces.word) + 1 for pieces in sides]
        values = self.generator.dirichlet(np.ones(sizes[0]), (1, 1, sizes[1])).astype(np.float32)
        return Reading(values, *sides)

    def _pieces(self, line: str) -> Pieces:
        found, begin = [], 0
        for word, text in enumerate(split_words(line)):
            begin = line.index(text, begin)
            found += [
                (word, begin + at, begin + min(at + self.width, len(text))) for at in range(0, len(text), self.width)
            ]
            begin += len(text)
        return Pieces(*map(tuple, zip(*found, strict=True))) if found else Pieces((), (), ())


@pytest.mark.parametrize(("method", "most"), [("attention", 256), ("integrated_gradients", 16)])
def test_slow_methods_read_fewer_pairs_at_once(method: str, most: int) -> None:
    """So that their progress moves."""
    reader = Cutting(1, 1)
    next(align_records(reader, PAIRS * 100, [View(method, 0, None, 0)]))
    assert len(reader.read) == most


def words_of(reading: Reading, source: str, target: str) -> np.ndarray:
    sizes = len(split_words(source)), len(split_words(target))
    return merge_weights(reading.values[0, 0], reading.source_pieces.word, reading.target_pieces.word, *sizes)


def test_the_mean_is_over_words_and_reverse_models_are_turned() -> None:
    first, other, back = Cutting(1, 1), Cutting(2, 2), Cutting(3, 3)
    records = align_records(first, PAIRS, [VIEW])
    readers = [Reader(other, VIEW, reverse=False), Reader(back, VIEW, reverse=True)]
    found: list[Record] = list(mean_records(records, readers, partial(threshold_links, threshold=0.3)))
    assert [record.index for record in found] == [0, 1, 2]
    for number, (record, (source, target)) in enumerate(zip(found, PAIRS, strict=True)):
        own, same = (words_of(model.read[number], source, target) for model in (first, other))
        turned = words_of(back.read[number], target, source).T
        assert record.matrix.weights == pytest.approx((own + same + turned) / 3, abs=1e-6)
        assert (record.source, record.target) == (source, target)
        assert record.links == threshold_links(record.matrix, 0.3)
        assert record.pieces(0).source_words == record.source_words, "its pieces are words"


def test_a_model_alone_is_its_own_mean() -> None:
    model = Cutting(2, 4)
    (found, *_) = mean_records(align_records(model, PAIRS, [VIEW]), [], partial(threshold_links, threshold=0.3))
    assert found.matrix.weights == pytest.approx(words_of(model.read[0], *PAIRS[0]))
