"""The network: an encoder and a decoder that meet in a Memory.

Shape letters: B sentences, S source positions, T target positions, L layers, H heads.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from nmt.data.batch import Batch
from nmt.model.interface import Decoder, DecoderOutput, Encoder, Memory

BASELINE_RATE = 0.1


class EncoderDecoder(nn.Module):
    """Any encoder with any decoder. One whose attention samples keeps a baseline for the loss to judge choices by."""

    baseline: Tensor

    def __init__(self, *, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder = cast(Encoder, encoder)
        self.decoder = cast(Decoder, decoder)
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

    def forward(self, batch: Batch) -> DecoderOutput:
        """The decoder's output for every target position, each given the true tokens before it."""
        return self.decoder.forward(batch.target_in, self.decoder.prepare(self.encode(batch)))

    def attention_maps(self, batch: Batch) -> dict[str, Tensor]:
        """Every attention of the network in one forced pass, each [B, L, H, ., .] after the normaliser, undropped.

        "cross" [B, L, H, T, S] always; "encoder" [B, L, H, S, S] and "decoder" [B, L, H, T, T] where there is
        self-attention. Row t is the step that predicts target token t; column S - 1 of a sentence is its EOS.
        """
        assert not self.training, "weights are exported in evaluation mode"
        memory = self.encoder(batch.source, batch.source_lengths, range(self.encoder.layers))
        output = self.decoder.forward(batch.target_in, self.decoder.prepare(memory), range(self.decoder.layers))
        maps = {"encoder": memory.weights, "decoder": output.self_weights, "cross": output.weights}
        return {name: weights for name, weights in maps.items() if weights.shape[1] > 0}
