"""Loss on held-out data."""

from __future__ import annotations

import numpy as np
import torch

from nmt.data.batch import plan_in_order
from nmt.data.store import PairStore
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.train.loss import batch_loss


@torch.inference_mode()
def token_loss(model: EncoderDecoder, store: PairStore, *, batch_tokens: int) -> tuple[float, int]:
    """-ln p per target token (EOS counted, no smoothing), and the tokens; the same for every batch_tokens."""
    assert not model.training, "dropout has no place in a score"
    device = next(model.parameters()).device
    nll, tokens = 0.0, 0
    for rows in plan_in_order(np.maximum(store.source_lengths, store.target_lengths), batch_tokens):
        sums = batch_loss(model, store.batch(rows).to(device))
        nll += float(sums.nll)
        tokens += sums.tokens
    return nll / tokens, tokens
