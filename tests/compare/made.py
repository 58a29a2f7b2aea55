"""What the tests of comparisons share: a tiny corpus, two kinds of cells, and files of runs written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from nmt.align.record import Record, View
from nmt.compare.cells import Cell
from nmt.data.tokenizer import Tokenizer
from nmt.data.words import Pieces, split_words

SOURCES = ("ka lo", "mi", "ka mi lo ka mi lo ka", "lo ka")
VOCABULARY = 24  # of characters and specials
HEADER = {"views": [View("attention", 0, 0, 0).as_dict()]}
TARGETS = ("AK OL EB EG", "IM OS AF EN", "AK IM OL AK IM OL AK", "OL AK IB OD")

Finish = Callable[..., Path]


def bahdanau(seed: int) -> Cell:
    """The cell that most tests speak of."""
    return Cell((("attention", "bahdanau"),), seed)


def none(seed: int) -> Cell:
    """The other one."""
    return Cell((("attention", "none"),), seed)


def record(translation: str, row: Sequence[float]) -> Record:
    """All words of a translation read alike; the row of EOS has numbers of its own."""
    words = range(len(split_words(translation)))
    values = np.array([[row] * len(words) + [[1.0, 0.0]]], dtype=np.float32)
    source, target = Pieces((0,), (0,), (2,)), Pieces(tuple(words), (0,) * len(words), (0,) * len(words))
    return Record(0, "ka", translation, source, target, values, frozenset())


def write_tokenizers(run: Path) -> None:
    """The same on both sides."""
    (run / "tokenizer").mkdir(parents=True)
    for side in ("source", "target"):
        Tokenizer.train(
            [*SOURCES, *TARGETS],
            model_type="char",
            vocabulary_size=VOCABULARY,
            character_coverage=1.0,
            byte_fallback=False,
            path=run / "tokenizer" / f"{side}.model",
        )
