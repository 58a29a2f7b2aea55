"""Erasure: a target token's log-probability with a source word less what it is without it (Li, Monroe & Jurafsky 2016).

A word is left out whole, and the rest closes up: what is scored is a shorter sentence, not one with a hole.

Shape letters: B sentences, T target positions, S source positions, n shortened sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nmt.data.batch import Batch, make_batch, plan_in_order
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.search.distribution import forced_log_probs

BATCH_TOKENS = 4096  # max(S, T) x shortened sentences that are scored together


@torch.inference_mode()
def erasure(model: EncoderDecoder, batch: Batch, source_words: Sequence[Sequence[int]]) -> Tensor:
    """[B, 1, 1, T, S], with signs: positive where the word helps.

    A word's value is shared evenly by its pieces, so that they sum to it. EOS is never left out and has zero; of a
    sentence of one word it is all that is left.
    """
    assert not model.training, "what is read is asked in evaluation mode"
    sources, targets = sentences(batch.source, batch.source_lengths), sentences(batch.target_out, batch.target_lengths)
    assert [*map(len, sources)] == [*map(len, source_words)], "every piece has its word"
    whole = log_probs(model, batch)  # [B, T]
    values = whole.new_zeros(*whole.shape, batch.source.shape[1])
    erased = [(row, word) for row, words in enumerate(source_words) for word in sorted(set(words))]
    kept = [without(sources[row], source_words[row], word) for row, word in erased]
    widths = [max(len(rest), len(targets[row])) + 1 for rest, (row, _) in zip(kept, erased, strict=True)]
    for places in plan_in_order(np.array(widths, dtype=np.int64), BATCH_TOKENS):
        part = [erased[place] for place in places]
        shorter = make_batch([kept[place] for place in places], [targets[row] for row, _ in part])
        left = log_probs(model, shorter.to(whole.device))  # [n, fewer T]
        for (row, word), own in zip(part, left, strict=True):
            pieces = [place for place, other in enumerate(source_words[row]) if other == word]
            change = whole[row, : len(own)] - own
            values[row][: len(own), pieces] = change.unsqueeze(1) / len(pieces)
    return values[:, None, None]


def log_probs(model: EncoderDecoder, batch: Batch) -> Tensor:
    """ln p of every target token: [B, T]."""
    return forced_log_probs(model.decoder, model(batch), batch.target_out)


def sentences(ids: Tensor, lengths: Tensor) -> list[list[int]]:
    """Ids [B, .] with EOS at each sentence's end -> those of the sentences, without EOS."""
    return [row[: length - 1] for row, length in zip(ids.tolist(), lengths.tolist(), strict=True)]


def without(ids: Sequence[int], words: Sequence[int], word: int) -> list[int]:
    """The ids of all words but one."""
    return [token for token, own in zip(ids, words, strict=True) if own != word]
