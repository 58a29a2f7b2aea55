"""Greedy search against arg max by hand, one position after the other."""

from __future__ import annotations

import torch

from nmt.data.special import BOS, EOS
from nmt.search.greedy import greedy_search
from nmt.search.penalty import MeanPenalty, NoPenalty
from tests.search.toy import BANNED, TableDecoder, ToyDecoder, one, toy_memory


def test_every_token_is_the_most_probable_one() -> None:
    decoder, memory = ToyDecoder(vocabulary=23), toy_memory(9)
    found = greedy_search(decoder, memory, max_lengths=torch.full((9,), 15), banned=BANNED, penalty=NoPenalty())
    for row, (hypothesis,) in enumerate(found):
        ids: list[int] = []
        while len(ids) < 15 and EOS not in ids:
            output = decoder.forward(torch.tensor([[BOS, *ids]]), decoder.prepare(one(memory, row)))
            logits = decoder.readout(output.states, None)[0, -1]
            logits[list(BANNED)] = -torch.inf
            ids.append(int(logits.argmax()))
        assert hypothesis.finished == (ids[-1] == EOS)
        assert hypothesis.tokens == tuple(token for token in ids if token != EOS)


def test_own_maximum_and_empty_translation_by_hand() -> None:
    """After BOS, EOS has .6: an empty translation, ln .6 over one token."""
    table = torch.zeros(5, 5)
    table[:, EOS], table[:, 4] = 0.6, 0.4
    (short,), (long,) = greedy_search(
        TableDecoder(table), toy_memory(2), max_lengths=torch.tensor([1, 8]), banned=BANNED, penalty=MeanPenalty()
    )
    assert short == long
    assert short.tokens == ()
    assert short.finished
    assert abs(short.score - torch.tensor(0.6, dtype=torch.double).log().item()) < 1e-6


def test_cut_at_the_maximum_says_so() -> None:
    table = torch.zeros(5, 5)
    table[:, EOS], table[:, 4] = 0.4, 0.6
    found = greedy_search(
        TableDecoder(table), toy_memory(2), max_lengths=torch.tensor([2, 3]), banned=BANNED, penalty=NoPenalty()
    )
    assert [(line[0].tokens, line[0].finished) for line in found] == [((4, 4), False), ((4, 4, 4), False)]


def test_no_sentence_no_hypothesis() -> None:
    decoder, none = ToyDecoder(vocabulary=9), torch.zeros(0, dtype=torch.long)
    assert greedy_search(decoder, toy_memory(0), max_lengths=none, banned=BANNED, penalty=NoPenalty()) == []
