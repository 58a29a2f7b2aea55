"""Greedy search: at every position the most probable token.

Shape letters: B sentences, those that are done left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import torch
from torch import Tensor

from nmt.data.special import BOS, EOS
from nmt.model.interface import Decoder, Memory, select
from nmt.search.distribution import best_tokens, forbidden_ids, next_log_probs
from nmt.search.hypothesis import Hypothesis
from nmt.search.penalty import LengthPenalty


def greedy_search(
    decoder: Decoder, memory: Memory, *, max_lengths: Tensor, banned: Sequence[int], penalty: LengthPenalty
) -> list[list[Hypothesis]]:
    """One hypothesis a sentence, in a list of its own: what beam search with one slot gives, by a shorter loop.

    max_lengths [B], at least 1: tokens with EOS counted; a sentence without EOS by then is cut and says so. `banned`
    ids are never produced. An empty translation (EOS first) is allowed where the model prefers it. Of equally probable
    tokens the lower id is taken. A finished sentence leaves the batch. Inference mode is the caller's business.
    """
    limits = max_lengths.cpu()
    assert bool((limits >= 1).all()), "a maximum length counts EOS and is at least 1"
    device = memory.states.device
    forbidden = forbidden_ids(banned, device)
    prepared = decoder.prepare(memory)
    state = decoder.start(prepared)
    token = torch.full((len(limits),), BOS, device=device)
    sentence = torch.arange(len(limits))
    tokens: list[list[int]] = [[] for _ in limits]
    log_probs: list[list[float]] = [[] for _ in limits]
    for length in count(1):
        if not len(sentence):
            break
        output, state = decoder.step(token, state, prepared)
        values, ids = (best[:, 0] for best in best_tokens(next_log_probs(decoder, output, forbidden), 1))
        for line, best, value in zip(sentence.tolist(), ids.tolist(), values.tolist(), strict=True):
            tokens[line].append(best)
            log_probs[line].append(value)
        going = (ids != EOS) & (limits[sentence] > length)
        if not going.all():
            kept = going.nonzero()[:, 0]
            sentence, ids = sentence[kept], ids[kept]
            state, prepared = select((state, prepared), kept.to(device))
        token = ids.to(device)
    return [[Hypothesis.of(*line, penalty)] for line in zip(tokens, log_probs, strict=True)]
