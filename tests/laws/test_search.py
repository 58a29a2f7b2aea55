"""Search on real models: greedy is beam 1, probabilities are those of forced decoding, a wide beam misses nothing."""

from __future__ import annotations

import itertools

import pytest
import torch

from nmt.data.batch import make_batch
from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import Memory
from nmt.search.beam import beam_search
from nmt.search.greedy import greedy_search
from nmt.search.hypothesis import Hypothesis
from nmt.search.penalty import LengthPenalty, MeanPenalty, NoPenalty, WuPenalty
from tests.laws.models import CASES, FEW, build_model, sentences

BANNED = (UNK, BOS, PAD)
PIECES = range(PAD + 1, PAD + 6)  # a vocabulary of five pieces
COUNT = 5


def _memory(model: EncoderDecoder) -> Memory:
    return model.encode(make_batch(sentences(COUNT), [[] for _ in range(COUNT)]))


def _search(model: EncoderDecoder, beam: int, penalty: LengthPenalty, longest: int) -> list[list[Hypothesis]]:
    return beam_search(
        model.decoder,
        _memory(model),
        beam_size=beam,
        max_lengths=torch.full((COUNT,), longest),
        banned=BANNED,
        penalty=penalty,
        nbest=beam,
    )


def _forced(model: EncoderDecoder, row: int, ids: list[int]) -> list[float]:
    """ln p of each of these ids (EOS among them, if it is there) for one sentence alone."""
    batch = make_batch([sentences(COUNT)[row]], [ids])
    output = model(batch)
    log_probs = model.decoder.readout(output.states, output.log_prior).log_softmax(-1)[0, :-1]
    return log_probs[torch.arange(len(ids)), torch.tensor(ids)].tolist()


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_greedy_is_beam_of_one(case: str) -> None:
    model = build_model(case)
    limits = torch.tensor([9, 2, 7, 1, 12])
    greedy = greedy_search(model.decoder, _memory(model), max_lengths=limits, banned=BANNED, penalty=NoPenalty())
    beam = beam_search(
        model.decoder, _memory(model), beam_size=1, max_lengths=limits, banned=BANNED, penalty=NoPenalty()
    )
    for (one,), (other,) in zip(greedy, beam, strict=True):
        assert (one.tokens, one.finished) == (other.tokens, other.finished)
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_log_prob_is_the_forced_score(case: str) -> None:
    """Of every hypothesis of a beam of three; one that was cut has no EOS in it."""
    model = build_model(case)
    penalty = WuPenalty(alpha=0.7)
    for row, found in enumerate(_search(model, 3, penalty, 6)):
        assert found
        for hypothesis in found:
            ids = [*hypothesis.tokens, *([EOS] if hypothesis.finished else [])]
            forced = _forced(model, row, ids)
            assert hypothesis.token_log_probs == pytest.approx(forced, abs=1e-10)
            assert hypothesis.log_prob == pytest.approx(sum(forced), abs=1e-10)
            assert hypothesis.score == pytest.approx(sum(forced) / ((5 + len(ids)) / 6) ** 0.7, abs=1e-10)


@pytest.mark.parametrize("penalty", [NoPenalty(), MeanPenalty(), WuPenalty(alpha=1.0)], ids=["none", "mean", "wu"])
@pytest.mark.parametrize("case", FEW)
@torch.no_grad()
def test_wide_beam_is_exhaustive(case: str, penalty: LengthPenalty) -> None:
    """At most three tokens over five pieces: 1 + 5 + 25 that end by EOS and 125 that are cut, all of them, in order."""
    model = build_model(case, target=PAD + 6)
    ended = [[*ids, EOS] for length in range(3) for ids in itertools.product(PIECES, repeat=length)]
    everything = [*ended, *(list(ids) for ids in itertools.product(PIECES, repeat=3))]
    assert len(everything) == 156
    found = _search(model, 156, penalty, 3)
    for row in range(2):
        scores = _scores_of_all(model, row, everything, penalty)
        best = sorted(scores.values(), reverse=True)
        assert [hypothesis.score for hypothesis in found[row]] == pytest.approx(best, abs=1e-10)
        for hypothesis in found[row]:
            ids = (*hypothesis.tokens, *([EOS] if hypothesis.finished else []))
            assert hypothesis.score == pytest.approx(scores[ids], abs=1e-10)


def _scores_of_all(
    model: EncoderDecoder, row: int, everything: list[list[int]], penalty: LengthPenalty
) -> dict[tuple[int, ...], float]:
    batch = make_batch([sentences(COUNT)[row]] * len(everything), everything)
    output = model(batch)
    log_probs = model.decoder.readout(output.states, output.log_prior).log_softmax(-1)
    chosen = log_probs.gather(2, batch.target_out.unsqueeze(2)).squeeze(2)
    return {
        tuple(ids): penalty(float(values[: len(ids)].sum()), len(ids))
        for ids, values in zip(everything, chosen, strict=True)
    }
