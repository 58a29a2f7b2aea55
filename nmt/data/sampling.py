"""Subword sampling: training pairs are cut into pieces in another way every time that they are read (Kudo 2018,
Provilkov 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nmt.data.pairs import IdPair, TextPair
from nmt.data.tokenizer import Tokenizer

SEEDS = 2**31  # of a line


class Sampler:
    """Draws the pieces of pairs. alpha: how often, or how far, they differ from the plain ones (`Tokenizer.sample`)."""

    def __init__(self, source: Tokenizer, target: Tokenizer, *, alpha: float, max_pieces: int | None) -> None:
        """max_pieces: of either side (EOS not counted; None: no limit); a pair that is drawn longer stays plain."""
        self.source = source
        self.target = target
        self.alpha = alpha
        self.max_pieces = max_pieces

    def sample(
        self, texts: Sequence[TextPair], plain: Sequence[IdPair], generator: np.random.Generator
    ) -> list[IdPair]:
        """Other pieces of the pairs, which are given as text and in plain pieces: a function of `generator`'s state."""
        seeds = generator.integers(SEEDS, size=(len(texts), 2)).tolist()
        return [self._one(text, pair, *own) for text, pair, own in zip(texts, plain, seeds, strict=True)]

    def _one(self, text: TextPair, plain: IdPair, source_seed: int, target_seed: int) -> IdPair:
        source = self.source.sample(text.source, self.alpha, seed=source_seed)
        target = self.target.sample(text.target, self.alpha, seed=target_seed)
        sizes = (len(source), len(target))
        if min(sizes) == 0 or (self.max_pieces is not None and max(sizes) > self.max_pieces):
            return plain
        return IdPair(plain.index, source, target, corpus=plain.corpus)
