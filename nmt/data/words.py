"""Which raw word each piece comes from. A word is a non-empty field between U+0020; other whitespace is inside it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from nmt.data.tokenizer import Tokenizer


def split_words(line: str) -> list[str]:
    """The words of a line."""
    return [field for field in line.split(" ") if field]


def piece_words(tokenizer: Tokenizer, line: str) -> list[int]:
    """For each piece of `tokenizer.encode(line)` the index of its word in `split_words(line)`; never decreasing.

    A piece that begins with a space belongs to the word after it, a lone space too. A word may own no piece, where
    normalisation removes it whole; a piece that covers several words counts for the first.
    """
    words = _word_of_character(line)
    return [words[origin] for origin in tokenizer.origins(line)]


def _word_of_character(line: str) -> list[int]:
    """For each character how many words have begun with or before it, less one. No piece begins at a space."""
    begins = (before == " " != here for before, here in zip(" " + line, line, strict=False))
    return [count - 1 for count in accumulate(begins)]


def token_words(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
    """For each id the index of the word of `decode(ids)` that it belongs to; a lone space belongs to what follows.

    Unlike `piece_words` it serves ids that `encode` would not give for their text, as search may find them.
    """
    counts = [len(split_words(tokenizer.decode(ids[: end + 1]))) for end in range(len(ids))]
    last = max(counts[-1] - 1, 0) if counts else 0
    return [
        min(count, last) if tokenizer.is_space(id) else max(count - 1, 0) for id, count in zip(ids, counts, strict=True)
    ]
