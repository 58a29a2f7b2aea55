"""Gradient times input: what a source token's vector adds to the log-probability, were the model linear around it.

Denil 2014; Shrikumar 2017, section 2.

Shape letters: B sentences, T target positions, S source positions, E embedding size.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from nmt.align.methods.saliency import attribute
from nmt.data.batch import Batch
from nmt.model.encoder_decoder import EncoderDecoder


def input_x_gradient(model: EncoderDecoder, batch: Batch, source_words: Sequence[Sequence[int]]) -> Tensor:
    """vector_s . d ln p(y_t) / d vector_s, with its sign: [B, 1, 1, T, S]."""
    return attribute(model, batch, product)


def product(gradients: Tensor, vectors: Tensor) -> Tensor:
    """Gradients and vectors [B, S, E] -> their inner products [B, S]."""
    return (gradients * vectors).sum(-1)
