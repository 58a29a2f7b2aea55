"""Gradients of each target token's log-probability to the source tokens' vectors: what the gradient methods share.

The vectors are given to the encoder in the place of its embedding's output, so that of a table that both sides share
the source side alone counts, and no parameter takes part.

Shape letters: B sentences, S source positions, T target positions, E embedding size, R readout size, M mixture
components, n positions of all sentences in a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from nmt.data.batch import Batch
from nmt.model import masks
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import CHUNK, Decoder, DecoderOutput

Reduce = Callable[[Tensor, Tensor], Tensor]  # a gradient and the vectors, both [B, S, E] -> [B, S]


def attribute(model: EncoderDecoder, batch: Batch, reduce: Reduce, *, scale: float = 1.0) -> Tensor:
    """`reduce` of each target token's gradient, taken at `scale` times the source's vectors: [B, 1, 1, T, S].

    One pass forward and T backward: sentences are independent of each other, so each pass serves all of the batch.
    Inference mode, where a caller has it on, is left for as long as it takes.
    """
    assert not model.training, "what is read is asked in evaluation mode"
    with torch.inference_mode(False), torch.enable_grad():
        given = ordinary(batch)
        vectors = model.encoder.embedding(given.source).detach()
        point = (scale * vectors).requires_grad_()
        output = predict(model, given, point)
        read = [x for x in (output.states, output.log_prior) if x is not None]
        from_readout = readout_gradients(model.decoder, read, given.target_out)
        rows = []
        for step in range(given.target_out.shape[1]):
            outputs, gradients = ([x[:, step] for x in part] for part in (read, from_readout))
            (found,) = torch.autograd.grad(outputs, point, gradients, retain_graph=True, materialize_grads=True)
            rows.append(reduce(found, vectors))
        valid = masks.valid_mask(given.source_lengths, given.source.shape[1])
        return masks.clear(torch.stack(rows, dim=1), valid.unsqueeze(1))[:, None, None]


def ordinary(batch: Batch) -> Batch:
    """The batch with tensors that a gradient may go through, though it may have been made in inference mode."""
    return replace(
        batch,
        source=batch.source.clone(),
        source_lengths=batch.source_lengths.clone(),
        target_in=batch.target_in.clone(),
        target_out=batch.target_out.clone(),
        target_lengths=batch.target_lengths.clone(),
    )


def predict(model: EncoderDecoder, batch: Batch, vectors: Tensor) -> DecoderOutput:
    """The decoder's output where the source tokens have these vectors [B, S, E]."""
    # cuDNN's recurrent layers have no gradient in evaluation mode; torch's own have.
    with torch.backends.cudnn.flags(enabled=False):
        memory = model.encoder.read(vectors, batch.source_lengths)
        return model.decoder.forward(batch.target_in, model.decoder.prepare(memory))


def readout_gradients(decoder: Decoder, read: list[Tensor], target: Tensor) -> list[Tensor]:
    """What the readout reads, states [B, T, R] (or of a mixture [B, T, M, R] and log_prior [B, T, M]) -> the gradients
    of ln p(target [B, T]) to them, each position's own.

    The projection, the dearest step, is so gone through once and not for each pass; all logits never exist at once.
    """
    flat, ids = [x.detach().flatten(0, 1) for x in read], target.flatten()
    size = max(1, CHUNK // read[0].shape[2:-1].numel())
    parts: list[list[Tensor]] = []
    for first in range(0, len(ids), size):
        part = slice(first, first + size)
        leaves = [x[part].requires_grad_() for x in flat]  # [n, R], or [n, M, R] and [n, M]
        logits = decoder.readout(leaves[0], leaves[1] if len(leaves) > 1 else None)
        chosen = logits.log_softmax(-1).gather(1, ids[part].unsqueeze(1))
        parts.append(list(torch.autograd.grad(chosen.sum(), leaves)))
    return [torch.cat(gradients).view(x.shape) for x, gradients in zip(read, zip(*parts, strict=True), strict=True)]
