"""Token embeddings, and the output projection that may share their table.

Shape letters: B sentences, T positions, E embedding size, V vocabulary.
"""

from __future__ import annotations

import math

from torch import Tensor, nn

from nmt.data.special import PAD
from nmt.model.dropout import Dropout


class Embedding(nn.Module):
    """ids [B, T] -> vectors [B, T, E], drawn with variance 1/E and scaled by sqrt(E) (Vaswani 2017, section 3.4).

    So a table shared with the output projection starts small enough for the softmax, and its vectors still enter the
    network with unit variance.

    word_dropout: the probability, in training, that a token's whole vector is zero. Each position is drawn for itself
    (Sennrich 2016, Edinburgh's WMT systems): one of two equal words may go and the other stay, where Gal & Ghahramani
    (2016, section 4.2) drop all of a sentence's or none. Vectors that are kept are multiplied by 1 / (1 -
    word_dropout), as everywhere in dropout: what reads them linearly has the same mean in training as afterwards. A
    position that is added to the vector stays, so the network sees that a word is missing. A projection that shares the
    table reads all of it.
    """

    def __init__(self, *, vocabulary_size: int, size: int, word_dropout: float = 0.0) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, size, padding_idx=PAD)
        nn.init.normal_(self.table.weight, std=size**-0.5)
        self.vocabulary_size = vocabulary_size
        self.size = size
        self.scale = math.sqrt(size)
        self.word_dropout = Dropout(word_dropout)

    def forward(self, ids: Tensor) -> Tensor:
        vectors: Tensor = self.table(ids) * self.scale
        dropped: Tensor = self.word_dropout(vectors, self.word_dropout.draw(vectors[..., :1]))
        return dropped


class Projection(nn.Linear):
    """States [..., R] -> logits [..., V]; with `tied` by that embedding's own table [V, R] (Press & Wolf 2017)."""

    def __init__(self, *, input_size: int, vocabulary_size: int, tied: Embedding | None) -> None:
        super().__init__(input_size, vocabulary_size)
        nn.init.zeros_(self.bias)
        if tied is None:
            nn.init.normal_(self.weight, std=input_size**-0.5)
            return
        assert tied.size == input_size, "a tied projection reads what the embedding writes"
        self.weight = tied.table.weight
