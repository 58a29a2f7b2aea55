"""The one place that chooses how scaled dot-product attention is computed: fused (SDPA) or bmm - softmax - bmm.

Shape letters: G sentences x heads, T query positions, S key positions, d head size.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def prefers_fused(query: Tensor) -> bool:
    """Whether the fused kernel is worth it for this query: on a GPU only.

    Measured on two AVX2 cores: at the 10 to 60 positions of sentences the CPU's fused kernel takes about twice the time
    of the explicit path.
    """
    return query.device.type == "cuda"


def fused(query: Tensor, keys: Tensor, values: Tensor, allowed: Tensor, dropout: float) -> Tensor:
    """Softmax(q k' / sqrt(d)) v by torch's kernel: query [G, T, d], keys and values [G, S, d], allowed bool
    broadcastable to [G, T, S] -> context [G, T, d]. A row with nothing allowed gives zeros.

    Such a row reads everything before it is set to zero: what kernels do with it differs, NaN in a gradient included.
    """
    nothing = ~allowed.any(-1, keepdim=True)
    context = F.scaled_dot_product_attention(query, keys, values, attn_mask=allowed | nothing, dropout_p=dropout)
    return context.masked_fill(nothing, 0.0)
