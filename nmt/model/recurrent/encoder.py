"""The recurrent encoder: a stack of GRU or LSTM layers that reads the source once, or forward and backward.

Bahdanau 2015, appendix A.2.1 (annotations are both directions' states, joined).

Shape letters: B sentences, S source positions, E embedding size, H hidden size of one direction, D memory size, L
layers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from nmt.model import masks
from nmt.model.dropout import Dropout
from nmt.model.embedding import Embedding
from nmt.model.interface import Memory
from nmt.model.recurrent.cell import CELLS, COMPONENTS, check_sizes
from nmt.model.recurrent.layers import run_layers


class RecurrentEncoder(nn.Module):
    """Memory states are the top layer's hidden states, both directions joined (D = 2 H when bidirectional).

    Sequences are packed, so that the backward direction starts at each sentence's own end. dropout_shared: dropout
    draws one mask a sentence for all its positions (`variational`).
    """

    layers = 0  # of self-attention
    longest: int | None = None

    def __init__(
        self,
        *,
        embedding: Embedding,
        hidden_size: int,
        layers: int = 1,
        cell: str = "gru",
        bidirectional: bool = True,
        dropout: float = 0.0,
        dropout_shared: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(hidden_size=hidden_size, layers=layers, cell=cell)
        self.embedding = embedding
        self.dropout = Dropout(dropout)
        self.dropout_shared = dropout_shared
        self.rnn = CELLS[cell](
            embedding.size,
            hidden_size,
            layers,
            batch_first=True,
            bidirectional=bidirectional,
            dropout=dropout if layers > 1 else 0.0,
        )
        directions = 2 if bidirectional else 1
        self.output_size = directions * hidden_size
        self.final_shape = (layers, directions, COMPONENTS[cell], hidden_size)

    def forward(self, source: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory:
        """Ids [B, S], lengths [B] -> Memory; there is no self-attention to return weights of."""
        return self.read(self.embedding(source), lengths, weights_of)

    def read(self, embedded: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory:
        """`forward` from the embedded ids [B, S, E] on."""
        x = self.drop(embedded)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, parts = self.run(packed, x)
        states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=x.shape[1])
        layers, directions, _, _ = self.final_shape
        # torch stacks layers and directions on one axis, [L x directions, B, H]
        final = torch.stack([part.view(layers, directions, *part.shape[1:]) for part in parts], dim=2)
        final = final.permute(3, 0, 1, 2, 4)  # [B, L, directions, components, H]
        return Memory(
            states=self.drop(states),
            valid=masks.valid_mask(lengths, x.shape[1]),
            summary=final[:, -1, :, 0].flatten(1),
            final=final,
            weights=states.new_zeros(len(x), 0, 0, x.shape[1], x.shape[1]),
        )

    def drop(self, x: Tensor) -> Tensor:
        """x [B, S, .], dropped position by position or by one mask a sentence."""
        dropped: Tensor = self.dropout(x, self.dropout.draw(x[:, :1]) if self.dropout_shared else ())
        return dropped

    def run(self, packed: PackedSequence, x: Tensor) -> tuple[PackedSequence, tuple[Tensor, ...]]:
        """All layers over packed embeddings -> top states, and each component's last ones [L x directions, B, H]."""
        layers, directions, components, size = self.final_shape
        wide = x.new_empty(len(x), self.output_size)
        between = (
            tuple(mask for _ in range(layers - 1) for mask in self.dropout.draw(wide)) if self.dropout_shared else ()
        )
        if x.device.type != "cpu" and not between:
            outputs, last = self.rnn(packed)
            return outputs, last if isinstance(last, tuple) else (last,)
        first = x.new_zeros(layers * directions, len(x), size)
        return run_layers(self.rnn, packed, (first,) * components, self.dropout, between)
