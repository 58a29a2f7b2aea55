"""One aligned pair, as the exports hold it, and the header that says how its weights came about.

Letters: V views, T target, S source pieces; the last row and column of values are EOS's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt.align.links import Link
from nmt.align.matrix import AlignmentMatrix, merge_pieces
from nmt.data.words import Pieces, split_words
from nmt.errors import UserError

Header = Mapping[str, object]


class View(NamedTuple):
    """What was read of a pair, by which method.

    method: attention, posterior, gradient, input_x_gradient, integrated_gradients or erasure. layer, head: of
    attention, counted from 0, a head of None being the mean of the layer's; 0 and None for the others. shift: rows that
    the values were read later than the row that predicts the word. raw: signed values as the method gave them; others
    are 0 or more, and rows of methods other than attention are divided by their sums.
    """

    method: str
    layer: int
    head: int | None
    shift: int
    raw: bool = False

    def __str__(self) -> str:
        """A short label for people."""
        parts = [self.method]
        if self.method == "attention":
            parts += [f"layer {self.layer}", "mean of heads" if self.head is None else f"head {self.head}"]
        if self.shift:
            parts.append(f"shift {self.shift}")
        return ", ".join(parts) + " (raw)" * self.raw

    def as_dict(self) -> dict[str, object]:
        """As headers hold it."""
        return self._asdict()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> View:
        """The other way."""
        return cls(**values)


@dataclass(frozen=True, eq=False)
class Record:
    """A pair of lines with what was read of it; `index` is its line, from 0. A blank pair has an empty entry.

    values [V, T + 1, S + 1], over pieces; links [(source, target)] of words, made from view 0. A hypothesis cut at the
    maximum length has zeros in its EOS row. Raises ValueError for parts that do not fit together.
    """

    index: int
    source: str
    target: str
    source_pieces: Pieces
    target_pieces: Pieces
    values: NDArray[np.float32]
    links: frozenset[Link]

    def __post_init__(self) -> None:
        expected = (len(self.target_pieces.word) + 1, len(self.source_pieces.word) + 1)
        if self.values.ndim != 3 or len(self.values) == 0 or self.values.shape[1:] != expected:
            raise ValueError(f"values of shape {self.values.shape} where the pieces need [views, {expected}]")
        if not np.isfinite(self.values).all():
            raise ValueError("an alignment holds a value that is not finite")
        for pieces, words in ((self.source_pieces, self.source_words), (self.target_pieces, self.target_words)):
            if any(not 0 <= word < max(1, len(words)) for word in pieces.word):
                raise ValueError(f"a piece belongs to a word that is not one of {len(words)}")

    @cached_property
    def source_words(self) -> tuple[str, ...]:
        return tuple(split_words(self.source))

    @cached_property
    def target_words(self) -> tuple[str, ...]:
        return tuple(split_words(self.target))

    @cached_property
    def matrix(self) -> AlignmentMatrix:
        """The alignment: view 0 over words."""
        return self.words(0)

    def words(self, view: int) -> AlignmentMatrix:
        """A view over words: columns of a word's pieces summed, rows averaged."""
        return merge_pieces(
            self.values[view], self.source_pieces.word, self.target_pieces.word, self.source_words, self.target_words
        )

    def pieces(self, view: int) -> AlignmentMatrix:
        """A view over pieces, each labelled by the text that it covers."""
        return AlignmentMatrix(
            _covered(self.source, self.source_pieces), _covered(self.target, self.target_pieces), self.values[view]
        )


def make_header(*, run: str, views: Sequence[View], links: str, source_tokenizer: str, target_tokenizer: str) -> Header:
    """What a reader has to know to use the values.

    Args:
        run: the run's name. views: those of every record, in order. links: the rule that made the links.
        source_tokenizer, target_tokenizer: SHA-256 of the models.
    """
    return {
        "run": run,
        "views": [view.as_dict() for view in views],
        "eos": "last column: source EOS; last row: target EOS, zeros where there is none; links say nothing of both",
        "merging": "columns of a word's pieces summed, rows averaged",
        "links": links,
        "source_tokenizer": source_tokenizer,
        "target_tokenizer": target_tokenizer,
    }


def header_views(header: Header) -> list[View]:
    """The views of a header, view 0 first."""
    views: Any = header["views"]
    return [View.from_dict(view) for view in views]


def find_export(path: Path) -> Path:
    """The export that a command means: the file itself, or the one inside a run directory."""
    export = path / "alignments" / "test.npz" if path.is_dir() else path
    if not export.is_file():
        reason = f"the run holds no {export.relative_to(path)}" if path.is_dir() else "there is no such file"
        raise UserError(f"{path}: {reason}; `nmt align` writes an alignment export")
    return export


def _covered(line: str, pieces: Pieces) -> tuple[str, ...]:
    return tuple(line[begin:end] for begin, end in zip(pieces.begin, pieces.end, strict=True))
