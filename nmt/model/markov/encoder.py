"""The lexical encoder: each source token by itself.

What a hidden Markov aligner reads. A state that knows its neighbours can explain their translations as well as its own,
and the alignment goes astray (RESULTS.md has the figure).

Shape letters: B sentences, S source positions, E embedding size.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from nmt.model import masks
from nmt.model.dropout import Dropout
from nmt.model.embedding import Embedding
from nmt.model.interface import Memory


class LexicalEncoder(nn.Module):
    """Memory states are the embeddings [B, S, E], the summary their mean over valid positions."""

    layers = 0  # of self-attention
    longest: int | None = None

    def __init__(self, *, embedding: Embedding, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding = embedding
        self.dropout = Dropout(dropout)
        self.output_size = embedding.size
        self.final_shape = (0, 1, 1, embedding.size)

    def forward(self, source: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory:
        """Ids [B, S], lengths [B] -> Memory; there is no self-attention to return weights of."""
        return self.read(self.embedding(source), lengths, weights_of)

    def read(self, embedded: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory:
        """`forward` from the embedded ids [B, S, E] on."""
        rows, width, _ = embedded.shape
        valid = masks.valid_mask(lengths, width)
        states = self.dropout(embedded)
        return Memory(
            states=states,
            valid=valid,
            summary=masks.mean(states, valid),
            final=states.new_zeros(rows, *self.final_shape),
            weights=states.new_zeros(rows, 0, 0, width, width),
        )
