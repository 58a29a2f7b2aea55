"""What the decoder says about the next token, and the best few tokens of it.

Shape letters: N rows, V vocabulary, K tokens asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.data.special import EOS
from nmt.errors import UserError
from nmt.model.interface import CHUNK, Decoder, DecoderOutput


def forbidden_ids(banned: Sequence[int], device: torch.device) -> Tensor:
    """The banned ids as a tensor. EOS cannot be banned: nothing would ever end."""
    assert EOS not in banned, "search cannot do without EOS"
    return torch.tensor(sorted(banned), dtype=torch.long, device=device)


def next_log_probs(decoder: Decoder, output: DecoderOutput, forbidden: Tensor) -> Tensor:
    """ln p of the next token [N, V], forbidden ids at -inf.

    The rest is not renormalised, so that a hypothesis has the log-probability that forced decoding gives to its tokens.
    The readout may give logits or log-probabilities: the softmax changes nothing in the latter.
    """
    logits = decoder.readout(output.states, output.log_prior)[:, 0]
    precise = logits if logits.dtype == torch.float64 else logits.float()
    return precise.log_softmax(1).index_fill_(1, forbidden, -torch.inf)


def forced_log_probs(decoder: Decoder, output: DecoderOutput, target: Tensor) -> Tensor:
    """ln p of given ids [N, T] at all positions of a decoder's output -> [N, T].

    A chunk of positions at a time: all their logits, times the choices of a mixture, would be too many.
    """
    states, ids = output.states.flatten(0, 1), target.flatten()
    priors = None if output.log_prior is None else output.log_prior.flatten(0, 1)
    size = max(1, CHUNK // (1 if priors is None else priors.shape[1]))
    chosen = []
    for first in range(0, len(ids), size):
        part = slice(first, first + size)
        logits = decoder.readout(states[part], None if priors is None else priors[part])
        chosen.append(logits.log_softmax(-1).gather(1, ids[part].unsqueeze(1)))
    return torch.cat(chosen).view(target.shape)


def best_tokens(log_probs: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The best tokens of each row -> (values, ids), both [N, K] on the CPU: best first, the lower id first where equal.

    K = min(count, V). Raises UserError where the model's output is not a number, or no token is possible.
    """
    vocabulary = log_probs.shape[1]
    # torch.topk leaves open which of several equals it takes; one more than needed shows whether that matters.
    top = log_probs.topk(min(count + 1, vocabulary), dim=1)
    values, ids = top.values.cpu(), top.indices.cpu()
    if not values[:, 0].isfinite().all():
        raise UserError("the model gives no next token a probability (its output is nan); did its training diverge?")
    if count < vocabulary and ((values[:, -1] == values[:, -2]) & values[:, -1].isfinite()).any():
        sorted_all = log_probs.sort(dim=1, descending=True, stable=True)
        return sorted_all.values[:, :count].cpu(), sorted_all.indices[:, :count].cpu()
    ids, by_id = ids[:, :count].sort(dim=1)
    values, by_value = values.gather(1, by_id).sort(dim=1, descending=True, stable=True)
    return values, ids.gather(1, by_value)
