"""The one place that chooses how scaled dot-product attention is computed: fused (SDPA) or bmm - softmax - bmm.

Shape letters: G sentences x heads, T query positions, S key positions, d head size.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from nmt.model.precision import HALF

LONG = 64  # key positions from which a CPU's fused kernel wins


def prefers_fused(keys: Tensor) -> bool:
    """Whether the fused kernel is worth it for keys [G, S, d]: on a GPU, and on a CPU for long sequences of float32.

    scripts/bench_attention.py measures it: forward and backward on one thread of an AVX2 CPU the fused kernel takes
    0.9 to 1.2 times the explicit path's time for 16 to 48 positions on either side, 0.7 of it for 128 and 0.6 for 256.
    In bfloat16 it takes 1.3 to 3 times the explicit path's at all of these lengths (two threads, AVX-512 BF16).
    On a GPU it was not measured here.
    """
    if keys.device.type == "cuda":
        return True
    return keys.shape[1] >= LONG and keys.dtype not in HALF


def fused(query: Tensor, keys: Tensor, values: Tensor, allowed: Tensor, dropout: float) -> Tensor:
    """Softmax(q k' / sqrt(d)) v by torch's kernel: query [G, T, d], keys and values [G, S, d], allowed bool
    broadcastable to [G, T, S] -> context [G, T, d]. A row with nothing allowed gives zeros.

    Such a row reads everything before it is set to zero: what kernels do with it differs, NaN in a gradient included.
    Torch has fused kernels for four dimensions alone: three would silently take its explicit path.
    """
    nothing = ~allowed.any(-1, keepdim=True)
    query, keys, values, mask = (x.unsqueeze(1) for x in (query, keys, values, allowed | nothing))
    context = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, dropout_p=dropout)
    return context.squeeze(1).masked_fill(nothing, 0.0)
