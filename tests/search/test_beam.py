"""Beam search against greedy search, exhaustive enumeration, forced scores and a plain beam written for clarity."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
import torch

from nmt.data.special import BOS, EOS
from nmt.errors import UserError
from nmt.model.interface import Memory
from nmt.search.beam import beam_search
from nmt.search.greedy import greedy_search
from nmt.search.hypothesis import Hypothesis
from nmt.search.penalty import LengthPenalty, MeanPenalty, NoPenalty, WuPenalty
from tests.search.toy import BANNED, TableDecoder, ToyDecoder, forced_log_probs, one, toy_memory

SENTENCES = 11
NONE = NoPenalty()
PENALTIES = [NONE, MeanPenalty(), WuPenalty(alpha=0.6), WuPenalty(alpha=2.0)]


def search(
    decoder: ToyDecoder | TableDecoder,
    memory: Memory,
    *,
    beam: int,
    longest: int | Sequence[int] = 12,
    penalty: LengthPenalty = NONE,
    nbest: int = 1,
    banned: Sequence[int] = BANNED,
) -> list[list[Hypothesis]]:
    rows = len(memory.states)
    lengths = torch.tensor([longest] * rows if isinstance(longest, int) else longest)
    return beam_search(
        decoder, memory, beam_size=beam, max_lengths=lengths, banned=banned, penalty=penalty, nbest=nbest
    )


def plain_beam(
    decoder: ToyDecoder, source: Memory, *, vocabulary: int, beam: int, longest: int, penalty: LengthPenalty
) -> list[tuple[float, tuple[int, ...]]]:
    """The documented search for one sentence, every prefix scored from scratch and no early stop: (score, ids)."""
    growing, done = [((), 0.0)], []
    for length in range(1, longest + 1):
        longer = []
        for ids, _ in growing:
            for token in sorted(set(range(vocabulary)) - set(BANNED)):
                scores = forced_log_probs(decoder, source, (*ids, token), eos=False)
                longer.append(((*ids, token), math.fsum(scores)))
        kept = sorted(longer, key=lambda item: -item[1])[: beam - len(done)]
        leaving = [item for item in kept if item[0][-1] == EOS or length == longest]
        done += [(penalty(log_prob, length), ids) for ids, log_prob in leaving]
        growing = [item for item in kept if item not in leaving]
        if not growing:
            break
    return sorted(done, key=lambda item: -item[0])


def ids_of(hypothesis: Hypothesis) -> tuple[int, ...]:
    return (*hypothesis.tokens, EOS) if hypothesis.finished else hypothesis.tokens


@pytest.mark.parametrize("seed", range(6))
def test_one_slot_is_greedy_search(seed: int) -> None:
    decoder, memory = ToyDecoder(vocabulary=23, seed=seed), toy_memory(SENTENCES)
    greedy = greedy_search(
        decoder, memory, max_lengths=torch.full((SENTENCES,), 12), banned=BANNED, penalty=WuPenalty(alpha=1.0)
    )
    assert search(decoder, memory, beam=1, penalty=WuPenalty(alpha=1.0)) == greedy


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_wide_beam_is_exhaustive_search(penalty: LengthPenalty) -> None:
    """Five pieces and EOS, at most four tokens: 1 + 5 + 25 + 125 translations that end, 625 that are cut."""
    decoder, memory = ToyDecoder(vocabulary=9), toy_memory(2)
    pieces = range(4, 9)
    every = [(*ids, EOS) for length in range(4) for ids in itertools.product(pieces, repeat=length)]
    every += list(itertools.product(pieces, repeat=4))
    assert len(every) == 781
    found = search(decoder, memory, beam=1000, longest=4, penalty=penalty, nbest=1000)
    for row in range(2):
        scored = {}
        for ids in every:
            log_probs = forced_log_probs(decoder, one(memory, row), ids, eos=False)
            scored[ids] = penalty(math.fsum(log_probs), len(ids))
        assert {ids_of(hypothesis): hypothesis.score for hypothesis in found[row]} == pytest.approx(scored, abs=1e-12)
        assert found[row][0].score == pytest.approx(max(scored.values()), abs=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("beam", [2, 3, 5])
def test_agrees_with_a_plain_beam(beam: int, penalty: LengthPenalty) -> None:
    """The plain one never stops early, so this holds the early stop to changing nothing, for 1-best and n-best."""
    decoder, memory = ToyDecoder(vocabulary=9, sharpness=0.7), toy_memory(4)
    for nbest in (1, 2, beam):
        found = search(decoder, memory, beam=beam, longest=6, penalty=penalty, nbest=nbest)
        for row, hypotheses in enumerate(found):
            expected = plain_beam(decoder, one(memory, row), vocabulary=9, beam=beam, longest=6, penalty=penalty)
            assert [ids_of(hypothesis) for hypothesis in hypotheses] == [ids for _, ids in expected[:nbest]]


def test_log_prob_is_the_forced_score_of_the_same_tokens() -> None:
    decoder, memory = ToyDecoder(vocabulary=23, sharpness=0.5, eos_gain=0.1), toy_memory(SENTENCES)
    found = search(decoder, memory, beam=5, longest=4, nbest=5)
    assert {hypothesis.finished for hypotheses in found for hypothesis in hypotheses} == {True, False}
    for row, hypotheses in enumerate(found):
        for hypothesis in hypotheses:
            forced = forced_log_probs(decoder, one(memory, row), hypothesis.tokens, eos=hypothesis.finished)
            assert hypothesis.token_log_probs == pytest.approx(forced, abs=1e-12)
            assert hypothesis.log_prob == pytest.approx(math.fsum(forced), abs=1e-12)


@pytest.mark.parametrize("beam", [1, 4])
def test_alone_or_in_any_batch_and_order(beam: int) -> None:
    """Exactly: the toy decoder sums in the same order whatever the number of rows."""
    decoder, memory = ToyDecoder(vocabulary=23, eos_gain=0.6), toy_memory(SENTENCES)
    together = search(decoder, memory, beam=beam, nbest=beam)
    alone = [search(decoder, one(memory, row), beam=beam, nbest=beam)[0] for row in range(SENTENCES)]
    assert together == alone
    assert len({len(hypotheses[0].tokens) for hypotheses in together}) > 2, "sentences must leave at different steps"
    backwards = Memory(*(part.flip(0) for part in memory))
    assert search(decoder, backwards, beam=beam, nbest=beam)[::-1] == alone


def test_maximum_length_is_each_sentences_own_and_counts_eos() -> None:
    decoder, memory = ToyDecoder(vocabulary=23, eos_gain=-50.0), toy_memory(3)
    found = search(decoder, memory, beam=3, longest=[1, 4, 2], nbest=3)
    assert [[len(hypothesis.tokens) for hypothesis in hypotheses] for hypotheses in found] == [
        [1] * 3,
        [4] * 3,
        [2] * 3,
    ]
    assert not any(hypothesis.finished for hypotheses in found for hypothesis in hypotheses)
    assert all(hypothesis.length == len(hypothesis.tokens) for hypotheses in found for hypothesis in hypotheses)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_nbest_is_sorted_distinct_and_starts_with_the_best(penalty: LengthPenalty) -> None:
    decoder, memory = ToyDecoder(vocabulary=23), toy_memory(SENTENCES)
    single = search(decoder, memory, beam=6, penalty=penalty)
    for best, hypotheses in zip(single, search(decoder, memory, beam=6, penalty=penalty, nbest=6), strict=True):
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert len(hypotheses) == 6
        assert scores == sorted(scores, reverse=True)
        assert len({ids_of(hypothesis) for hypothesis in hypotheses}) == 6
        assert best == hypotheses[:1]


def test_banned_ids_are_never_produced() -> None:
    decoder, memory = ToyDecoder(vocabulary=12, sharpness=0.1), toy_memory(SENTENCES)
    banned = (*BANNED, 7, 9)
    free = search(decoder, memory, beam=50, longest=3, nbest=50)
    assert {7, 9} & {token for hypotheses in free for hypothesis in hypotheses for token in hypothesis.tokens}
    held = search(decoder, memory, beam=50, longest=3, nbest=50, banned=banned)
    assert not set(banned) & {token for hypotheses in held for hypothesis in hypotheses for token in hypothesis.tokens}


def test_more_slots_than_vocabulary() -> None:
    """F08: 50 slots on 14 words. Four words at most give 10 pieces ** 4 > 50, so all slots are used in the end."""
    decoder, memory = ToyDecoder(vocabulary=14), toy_memory(SENTENCES)
    found = search(decoder, memory, beam=50, longest=4, nbest=50)
    assert {len(hypotheses) for hypotheses in found} == {50}
    few = search(decoder, memory, beam=50, longest=1, nbest=50)
    assert {len(hypotheses) for hypotheses in few} == {11}, "ten pieces and EOS are all there is in one step"


def test_larger_alpha_never_gives_shorter_translations() -> None:
    """F06. Pruning looks at log_prob alone, so alpha only chooses from one pool: the law holds for every sentence."""
    decoder, memory = ToyDecoder(vocabulary=23, sharpness=0.5, eos_gain=0.5), toy_memory(40)
    lengths, log_probs = [], []
    for alpha in (0.0, 0.6, 1.0, 2.0, 4.0):
        best = [found[0] for found in search(decoder, memory, beam=8, penalty=WuPenalty(alpha=alpha))]
        lengths.append([hypothesis.length for hypothesis in best])
        log_probs.append([hypothesis.log_prob for hypothesis in best])
    for shorter, longer in itertools.pairwise(lengths):
        assert all(a <= b for a, b in zip(shorter, longer, strict=True))
    assert sum(lengths[-1]) > sum(lengths[0])
    assert all(max(column) == column[0] for column in zip(*log_probs, strict=True))


def test_score_follows_from_token_scores() -> None:
    """F06: by the penalty that is documented, from what is exported."""
    decoder, memory = ToyDecoder(vocabulary=23), toy_memory(SENTENCES)
    for hypotheses in search(decoder, memory, beam=4, nbest=4, penalty=WuPenalty(alpha=0.6)):
        for hypothesis in hypotheses:
            length = len(hypothesis.tokens) + hypothesis.finished
            expected = sum(hypothesis.token_log_probs) / ((5 + length) / 6) ** 0.6
            assert hypothesis.score == pytest.approx(expected, abs=1e-12)


def test_shrinking_beam_by_hand() -> None:
    """Two slots. First step: A .6, EOS .3, B .1 -> EOS finishes with .3 and keeps a slot; only A goes on.

    After A: EOS .5, B .5 -> a tie, the lower id (EOS) wins the one free slot: .6 x .5 = .3 again, longer. B is never
    tried, although after it EOS is certain. Both have probability .3; the one that finished first stands first.
    """
    a, b = 4, 5
    table = torch.zeros(6, 6)
    table[BOS, [a, EOS, b]] = torch.tensor([0.6, 0.3, 0.1])
    table[a, [EOS, b]] = 0.5
    table[b, EOS] = 1.0
    table[EOS, EOS] = 1.0
    table[[0, 3], EOS] = 1.0
    first, second = search(TableDecoder(table), toy_memory(1), beam=2, nbest=2)[0]
    assert (first.tokens, second.tokens) == ((), (a,))
    assert math.exp(first.log_prob) == pytest.approx(0.3)
    assert math.exp(second.log_prob) == pytest.approx(0.3)


def test_ties_go_to_the_lower_id() -> None:
    """All of twenty pieces are equally probable; at each step the lowest ids must win, in order."""
    table = torch.zeros(24, 24)
    table[:, 4:] = 0.05
    decoder = TableDecoder(table)
    found = search(decoder, toy_memory(2), beam=3, longest=2, nbest=3)
    assert [hypothesis.tokens for hypothesis in found[0]] == [(4, 4), (4, 5), (4, 6)]
    assert found[0] == found[1]


def test_float32_model_gets_precise_sums() -> None:
    decoder, memory = ToyDecoder(vocabulary=23), toy_memory(SENTENCES)
    exact = search(decoder, memory, beam=4, nbest=4)
    for name in ("embedding", "recurrent", "output"):
        setattr(decoder, name, getattr(decoder, name).float())
    rough = search(decoder, memory._replace(states=memory.states.float()), beam=4, nbest=4)
    for expected, got in zip(exact, rough, strict=True):
        assert [hypothesis.tokens for hypothesis in got] == [hypothesis.tokens for hypothesis in expected]
        assert [h.log_prob for h in got] == pytest.approx([h.log_prob for h in expected], abs=1e-4)


def test_empty_batch() -> None:
    assert search(ToyDecoder(vocabulary=9), toy_memory(0), beam=3) == []


def test_diverged_model_is_a_clear_error() -> None:
    decoder = ToyDecoder(vocabulary=9)
    decoder.output[:] = math.nan
    with pytest.raises(UserError, match="nan"):
        search(decoder, toy_memory(2), beam=3)
