"""Beam search over any decoder, with a beam that shrinks as hypotheses finish.

The rows of one sentence follow one another in the decoder's state; what the decoder prepared has one row a sentence.
The bookkeeping lives on the CPU: a step moves the best few tokens of each row there, and the chosen rows back.

Shape letters: B sentences (without those that are done), W slots of each, N = B x W rows, T tokens so far,
K continuations kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.data.special import BOS, EOS
from nmt.model.interface import Decoder, Memory, select
from nmt.search.distribution import best_tokens, forbidden_ids, next_log_probs
from nmt.search.hypothesis import Hypothesis
from nmt.search.penalty import LengthPenalty


class _Beams(NamedTuple):
    """What is still growing, on the CPU.

    sentence [B], the sentence's place in the caller's batch; free [B], slots not yet kept by a finished hypothesis;
    log_prob [B, W] double, -inf where the slot is empty; tokens, token_log_probs [B, W, T]; parent [B, W], the slot
    that the hypothesis had one step ago.
    """

    sentence: Tensor
    free: Tensor
    log_prob: Tensor
    tokens: Tensor
    token_log_probs: Tensor
    parent: Tensor

    @property
    def filled(self) -> Tensor:
        return self.log_prob > -torch.inf


def beam_search(
    decoder: Decoder,
    memory: Memory,
    *,
    beam_size: int,
    max_lengths: Tensor,
    banned: Sequence[int],
    penalty: LengthPenalty,
    nbest: int = 1,
) -> list[list[Hypothesis]]:
    """The best `nbest` hypotheses of each sentence (fewer where there are no more), best score first.

    Each sentence has `beam_size` slots. At every step all growing hypotheses are extended by every token, and the best
    of these by log_prob are kept, as many as there are slots without a finished hypothesis; one that ends in EOS is
    finished and keeps its slot (the shrinking beam of Bahdanau et al. 2015). A sentence is done when no slot is free,
    when its maximum length is reached, or when nothing that grows can still overtake its nbest-th finished hypothesis,
    which changes no result. max_lengths [B], at least 1, counts EOS. What still grows at the maximum is cut there
    (finished=False) and ranked by its score like all others; no preference is given to finished ones.

    One slot is greedy search, and slots without end are exhaustive search. `banned` ids are never produced. An empty
    translation (EOS first) is allowed where the model prefers it. Ties go to the better-placed hypothesis, then to the
    lower id; between finished ones, to the one that finished first. A sentence that is done leaves the batch, which
    changes nothing for the others. Inference mode is the caller's business.
    """
    assert 1 <= nbest <= beam_size, "as many hypotheses as slots, at most"
    limits = max_lengths.cpu()
    assert bool((limits >= 1).all()), "a maximum length counts EOS and is at least 1"
    device = memory.states.device
    forbidden = forbidden_ids(banned, device)
    prepared = decoder.prepare(memory)
    state = decoder.start(prepared)
    beams = _start(len(limits), beam_size)
    token = torch.full((len(limits),), BOS, device=device)
    done: list[list[Hypothesis]] = [[] for _ in limits]
    while len(beams.sentence):
        output, state = decoder.step(token, state, prepared)
        grown = _grow(beams, next_log_probs(decoder, output, forbidden))
        left = _finish(grown, limits, penalty, done)
        going = left.filled.any(1) & ~_settled(left, limits, penalty, nbest, done)
        width = beams.log_prob.shape[1]
        beams, kept = _compact(left, going)
        rows = (kept[:, None] * width + beams.parent).flatten()
        state = select(state, rows.to(device))
        if not going.all():
            prepared = select(prepared, kept.to(device))
        token = beams.tokens[:, :, -1].flatten().to(device)
    return [sorted(found, key=lambda hypothesis: -hypothesis.score)[:nbest] for found in done]


def _start(sentences: int, beam_size: int) -> _Beams:
    """One empty hypothesis a sentence."""
    return _Beams(
        sentence=torch.arange(sentences),
        free=torch.full((sentences,), beam_size),
        log_prob=torch.zeros(sentences, 1, dtype=torch.double),
        tokens=torch.empty(sentences, 1, 0, dtype=torch.long),
        token_log_probs=torch.empty(sentences, 1, 0, dtype=torch.double),
        parent=torch.zeros(sentences, 1, dtype=torch.long),
    )


def _grow(beams: _Beams, log_probs: Tensor) -> _Beams:
    """One token more: the best continuations of each sentence, best first, as many as it has free slots.

    log_probs [N, V]. A row's best `free` tokens are enough to know the sentence's best `free` continuations.
    """
    sentences, width = beams.log_prob.shape
    most = int(beams.free.max())
    values, ids = (best.view(sentences, width, -1) for best in best_tokens(log_probs, most))
    values = values.double()
    totals, order = (beams.log_prob[:, :, None] + values).flatten(1).sort(dim=1, descending=True, stable=True)
    totals, order = totals[:, :most], order[:, :most]  # [B, K]
    too_many = torch.arange(totals.shape[1]) >= beams.free[:, None]
    parent = order // ids.shape[2]
    return _Beams(
        sentence=beams.sentence,
        free=beams.free,
        log_prob=totals.masked_fill(too_many, -torch.inf),
        tokens=_append(beams.tokens, parent, ids.flatten(1).gather(1, order)),
        token_log_probs=_append(beams.token_log_probs, parent, values.flatten(1).gather(1, order)),
        parent=parent,
    )


def _append(history: Tensor, parent: Tensor, last: Tensor) -> Tensor:
    """history [B, W, T] of the parents [B, K], followed by last [B, K] -> [B, K, T + 1]."""
    inherited = history.gather(1, parent[:, :, None].expand(-1, -1, history.shape[2]))
    return torch.cat([inherited, last[:, :, None]], dim=2)


def _finish(beams: _Beams, limits: Tensor, penalty: LengthPenalty, done: list[list[Hypothesis]]) -> _Beams:
    """Move what ended by EOS, or is cut at its maximum length, to `done`; the slots that this empties hold -inf."""
    ended = beams.filled & (beams.tokens[:, :, -1] == EOS)
    cut = limits[beams.sentence] <= beams.tokens.shape[2]
    leaving = ended | (beams.filled & cut[:, None])
    for sentence, slot in leaving.nonzero().tolist():
        ids, values = beams.tokens[sentence, slot].tolist(), beams.token_log_probs[sentence, slot].tolist()
        done[int(beams.sentence[sentence])].append(Hypothesis.of(ids, values, penalty))
    return beams._replace(free=beams.free - leaving.sum(1), log_prob=beams.log_prob.masked_fill(leaving, -torch.inf))


def _settled(beams: _Beams, limits: Tensor, penalty: LengthPenalty, nbest: int, done: list[list[Hypothesis]]) -> Tensor:
    """[B] bool: nothing that still grows can overtake the nbest-th hypothesis of the sentence."""
    settled = torch.zeros(len(beams.sentence), dtype=torch.bool)
    best_growing = beams.log_prob.amax(1).tolist()
    for place, sentence in enumerate(beams.sentence.tolist()):
        if len(done[sentence]) >= nbest:
            to_beat = sorted((hypothesis.score for hypothesis in done[sentence]), reverse=True)[nbest - 1]
            settled[place] = penalty.best_possible(best_growing[place], int(limits[sentence])) <= to_beat
    return settled


def _compact(beams: _Beams, going: Tensor) -> tuple[_Beams, Tensor]:
    """The sentences that go on, in as many slots as the fullest needs, growing hypotheses first; and their places."""
    kept = going.nonzero()[:, 0]
    beams = _Beams(*(part[kept] for part in beams))
    width = int(beams.filled.sum(1).max()) if len(kept) else 0
    slots = (~beams.filled).sort(dim=1, stable=True).indices[:, :width]
    history = slots[:, :, None].expand(-1, -1, beams.tokens.shape[2])
    compact = beams._replace(
        log_prob=beams.log_prob.gather(1, slots),
        tokens=beams.tokens.gather(1, history),
        token_log_probs=beams.token_log_probs.gather(1, history),
        parent=beams.parent.gather(1, slots),
    )
    return compact, kept
