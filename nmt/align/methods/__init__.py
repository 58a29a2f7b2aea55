"""The ways to ask what of the source a model used for each target token: one file a method, all of one type.

A method takes the model in evaluation mode, a batch and, for each sentence, every source piece's word (EOS excluded).
It gives raw values [B, L, H, T, S], L = H = 1 but for attention, with zeros in the columns beyond a sentence's source;
rows beyond its target mean nothing.

Shape letters: B sentences, L layers, H heads, T target positions, S source positions (both with EOS).
"""

from __future__ import annotations

from torch import Tensor

from nmt.align.methods import attention, erasure, gradient, input_x_gradient, integrated_gradients, posterior
from nmt.translator import Method

METHODS: dict[str, Method] = {
    "attention": attention.attention,
    "posterior": posterior.posterior,
    "gradient": gradient.gradient,
    "input_x_gradient": input_x_gradient.input_x_gradient,
    "integrated_gradients": integrated_gradients.integrated_gradients,
    "erasure": erasure.erasure,
}


def normalised(values: Tensor) -> Tensor:
    """The values' sizes [..., S], each row divided by its sum; a row of zeros stays."""
    sizes = values.abs()
    total = sizes.sum(-1, keepdim=True)
    return sizes / total.masked_fill(total == 0, 1)
