"""Which raw word each piece comes from, and which characters. A word is a non-empty field between U+0020; other
whitespace is inside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # who has words alone needs no SentencePiece
    from nmt.data.tokenizer import Tokenizer


class Pieces(NamedTuple):
    """The pieces of a raw line, EOS excluded: the index of each one's word in `split_words(line)`, and the characters
    [begin, end) that it covers.

    Words never decrease. Spans follow one another without overlap and hold no U+0020: of pieces that share a character
    (its bytes, parts of a ligature) the first covers it and the others nothing, and so does a lone space.
    """

    word: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]

    def first(self, count: int) -> Pieces:
        """The first so many of them."""
        return Pieces(self.word[:count], self.begin[:count], self.end[:count])


def split_words(line: str) -> list[str]:
    """The words of a line."""
    return [field for field in line.split(" ") if field]


def line_pieces(tokenizer: Tokenizer, line: str) -> Pieces:
    """Those of `tokenizer.encode(line)`.

    A piece that begins with a space belongs to the word after it, a lone space too. A word may own no piece, where
    normalisation removes it whole; a piece that covers several words counts for the first.
    """
    return _pieces(line, tokenizer.spans(line))


def word_pieces(line: str) -> Pieces:
    """Each word as one piece."""
    spans = [match.span() for match in re.finditer("[^ ]+", line)]
    return Pieces(tuple(range(len(spans))), tuple(begin for begin, _ in spans), tuple(end for _, end in spans))


def token_pieces(tokenizer: Tokenizer, ids: Sequence[int]) -> Pieces:
    """Those of the line `decode(ids)`; a lone space belongs to what follows.

    Unlike `line_pieces` it serves ids that `encode` would not give for their text, as search may find them.
    """
    line = tokenizer.decode(ids)
    begin, spans = 0, []
    for count, id in enumerate(ids, start=1):
        end = max(begin, min(len(tokenizer.decode(ids[:count])), len(line)))
        if line[begin : begin + 1] == " " and (end > begin or tokenizer.is_space(id)):
            begin += 1
        spans.append((begin, max(begin, end)))
        begin = spans[-1][1]
    return _pieces(line, spans)


def _pieces(line: str, spans: Sequence[tuple[int, int]]) -> Pieces:
    """From spans that may share characters, or reach over spaces."""
    words, ends = _words_of_characters(line), _ends_of_words(line)
    begins, covered = [], [0]
    for begin, end in spans:
        begins.append(max(begin, covered[-1]))
        covered.append(max(begins[-1], min(end, ends[begin])))
    return Pieces(tuple(words[begin] for begin, _ in spans), tuple(begins), tuple(covered[1:]))


def _words_of_characters(line: str) -> list[int]:
    """For each character, and the line's end, how many words have begun with or before it, less one; 0 at least."""
    begins = (before == " " != here for before, here in zip(" " + line, line, strict=False))
    counts = [max(count - 1, 0) for count in accumulate(begins)]
    return [*counts, *(counts[-1:] or [0])]


def _ends_of_words(line: str) -> list[int]:
    """For each character, and the line's end, where the next U+0020 stands or the line ends."""
    ends = [len(line)]
    for position in range(len(line) - 1, -1, -1):
        ends.append(position if line[position] == " " else ends[-1])
    return ends[::-1]
