"""Integrated gradients (Sundararajan 2017, equation 1): gradient times input, averaged on the way from no input at all.

    IG_s = vector_s . integral over a in [0, 1] of d ln p(y_t) / d vector_s, where all vectors are a times what they are

Over a sentence they add up to ln p(y_t) less what it is with zero vectors (completeness; positions stay, and EOS has
its part as well). The integral is a sum by the midpoint rule, which costs STEPS times what a gradient costs.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.align.methods.input_x_gradient import product
from nmt.align.methods.saliency import attribute
from nmt.data.batch import Batch
from nmt.model.encoder_decoder import EncoderDecoder

# Of the summed changes of ln p, 32 steps miss 0.7 % in a trained Transformer of four layers, 16 miss 1.3 % and 8 miss
# 5 %: layer norms and ReLUs bend the way, and Gauss's nodes do no better there. In recurrent models 32 miss 0.01 %.
STEPS = 32


def integrated_gradients(model: EncoderDecoder, batch: Batch, source_words: Sequence[Sequence[int]]) -> Tensor:
    """[B, 1, 1, T, S], with signs."""
    midpoints = [(step + 0.5) / STEPS for step in range(STEPS)]
    return torch.stack([attribute(model, batch, product, scale=share) for share in midpoints]).mean(0)
