"""The network: an encoder and a decoder that meet in a Memory.

Shape letters: B sentences, S source positions, T target positions, L layers, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from nmt.data.batch import Batch
from nmt.errors import UserError
from nmt.model import masks
from nmt.model.interface import Decoder, DecoderOutput, Encoder, Memory

BASELINE_RATE = 0.1


class EncoderDecoder(nn.Module):
    """Any encoder with any decoder. One whose attention samples keeps a baseline for the loss to judge choices by.

    full_context: weights are read in a pass of the decoder of their own, in which every target position sees the whole
    target, itself included (Garg 2019, section 4.3). What is predicted never depends on it.

    Raises:
        UserError: full_context, and a decoder that can't look ahead.
    """

    baseline: Tensor

    def __init__(self, *, encoder: nn.Module, decoder: nn.Module, full_context: bool = False) -> None:
        super().__init__()
        self.encoder = cast(Encoder, encoder)
        self.decoder = cast(Decoder, decoder)
        self.full_context = full_context
        if full_context and not self.decoder.looks_ahead:
            raise UserError(
                "alignment.full_context: a recurrent decoder, or an attention that feeds back, takes the target word "
                "by word and can't see all of it; leave it out"
            )
        if self.decoder.samples:  # a uniform guess costs ln V
            self.register_buffer("baseline", torch.tensor(math.log(self.decoder.projection.out_features)))

    def move_baseline(self, cost: Tensor) -> None:
        """Towards a batch's mean cost a token: b_k = 0.9 b_(k-1) + 0.1 cost (Xu 2015, section 4.1).

        A cost that is not finite moves nothing: its update is skipped, and so would be all after it.
        """
        moved = self.baseline.lerp(cost.detach(), BASELINE_RATE)
        self.baseline.copy_(torch.where(moved.isfinite(), moved, self.baseline))

    def encode(self, batch: Batch) -> Memory:
        """The batch's source side -> Memory."""
        return self.encoder(batch.source, batch.source_lengths)

    def forward(self, batch: Batch, weights_of: Sequence[int] = ()) -> DecoderOutput:
        """The decoder's output for every target position, each given the true tokens before it, with the weights over
        the source of the layers named in `weights_of`, as `read` has them."""
        prepared = self.decoder.prepare(self.encode(batch))
        if not (self.full_context and weights_of):
            return self.decoder.forward(batch.target_in, prepared, weights_of)
        weights = self.read(batch, prepared, weights_of).weights
        return self.decoder.forward(batch.target_in, prepared)._replace(weights=weights)

    def read(self, batch: Batch, prepared: Any, weights_of: Sequence[int]) -> DecoderOutput:
        """The pass whose weights are the alignment. With full_context its states have seen what they would predict."""
        if not self.full_context:
            return self.decoder.forward(batch.target_in, prepared, weights_of)
        whole = masks.valid_mask(batch.target_lengths, batch.target_in.shape[1])
        return self.decoder.forward(batch.target_in, prepared, weights_of, whole)

    def attention_maps(self, batch: Batch) -> dict[str, Tensor]:
        """Every attention of the network in one forced pass, each [B, L, H, ., .] after the normaliser, undropped.

        "cross" [B, L, H, T, S] always; "encoder" [B, L, H, S, S] and "decoder" [B, L, H, T, T] where there is
        self-attention. Row t is the step that predicts target token t; column S - 1 of a sentence is its EOS. "cross"
        and "decoder" are of the pass that `read` makes.
        """
        assert not self.training, "weights are exported in evaluation mode"
        memory = self.encoder(batch.source, batch.source_lengths, range(self.encoder.layers))
        output = self.read(batch, self.decoder.prepare(memory), range(self.decoder.layers))
        maps = {"encoder": memory.weights, "decoder": output.self_weights, "cross": output.weights}
        return {name: weights for name, weights in maps.items() if weights.shape[1] > 0}
