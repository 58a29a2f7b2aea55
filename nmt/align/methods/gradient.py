"""Saliency: how steeply a target token's log-probability changes with a source token's vector.

Li 2016 (section 4) for text; Ding, Xu & Koehn 2019 for word alignments of translation models.

Shape letters: B sentences, T target positions, S source positions, E embedding size.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.align.methods.saliency import attribute
from nmt.data.batch import Batch
from nmt.model.encoder_decoder import EncoderDecoder


def gradient(model: EncoderDecoder, batch: Batch, source_words: Sequence[Sequence[int]]) -> Tensor:
    """|| d ln p(y_t) / d vector_s ||_2: [B, 1, 1, T, S], none negative."""
    return attribute(model, batch, length)


def length(gradients: Tensor, vectors: Tensor) -> Tensor:
    """Gradients [B, S, E] -> [B, S]."""
    norms: Tensor = torch.linalg.vector_norm(gradients, dim=-1)
    return norms
