"""The model's own weights over the source, of every layer and head."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.data.batch import Batch
from nmt.model.encoder_decoder import EncoderDecoder


@torch.inference_mode()
def attention(model: EncoderDecoder, batch: Batch, source_words: Sequence[Sequence[int]]) -> Tensor:
    """[B, L, H, T, S]: row t is what was read to predict target token t."""
    return model.attention_maps(batch)["cross"]
