"""Erasure against scoring the shortened sources by hand."""

from __future__ import annotations

import pytest
import torch

from nmt.align.methods.erasure import erasure
from nmt.data.batch import make_batch
from tests.align.methods.laws import CASES, cut, log_probs, model_of
from tests.laws.parts import EXACT

SOURCES = [[5, 6, 7, 8, 9], [10], [11, 12]]
TARGETS = [[13, 14], [15, 16, 17], [18]]
WORDS = [[0, 1, 1, 3, 1], [0], [0, 0]]  # word 2 has no piece; word 1 has three, one of them apart


@torch.no_grad()
def score(case: str, source: list[int], target: list[int]) -> torch.Tensor:
    """ln p of one pair's target tokens [T]."""
    model, batch = model_of(case), make_batch([source], [target])
    return log_probs(model, batch, model.encoder.embedding(batch.source))[0]


@pytest.mark.parametrize("case", CASES)
def test_a_word_is_worth_what_the_sentence_loses_without_it(case: str) -> None:
    found = erasure(model_of(case), make_batch(SOURCES, TARGETS), WORDS)[:, 0, 0]
    first = score(case, SOURCES[0], TARGETS[0])
    for word, rest, pieces in ((0, [6, 7, 8, 9], [0]), (1, [5, 8], [1, 2, 4]), (3, [5, 6, 7, 9], [3])):
        change = first - score(case, rest, TARGETS[0])
        torch.testing.assert_close(found[0, :3, pieces].sum(1), change, **EXACT, msg=f"word {word}")
        torch.testing.assert_close(
            found[0, :3, pieces], change.unsqueeze(1).expand(-1, len(pieces)) / len(pieces), **EXACT
        )
    assert not found[0, :, 5].any(), "EOS"


def test_of_a_single_word_eos_is_left() -> None:
    case = "recurrent-luong_general-gru"
    found = erasure(model_of(case), make_batch(SOURCES, TARGETS), WORDS)[:, 0, 0]
    for row in (1, 2):
        change = score(case, SOURCES[row], TARGETS[row]) - score(case, [], TARGETS[row])
        steps, size = len(TARGETS[row]) + 1, len(SOURCES[row])
        torch.testing.assert_close(found[row, :steps, :size].sum(1), change, **EXACT)


def test_batches_are_bounded_and_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = model_of("transformer-pre-sinusoidal"), make_batch(SOURCES, TARGETS)
    wanted = erasure(model, batch, WORDS)
    monkeypatch.setattr("nmt.align.methods.erasure.BATCH_TOKENS", 10)
    seen: list[int] = []
    model.register_forward_pre_hook(
        lambda _, given: seen.append(max(given[0].source.numel(), given[0].target_in.numel()))
    )
    for found, own in zip(cut(erasure(model, batch, WORDS), batch), cut(wanted, batch), strict=True):
        torch.testing.assert_close(found, own, **EXACT)
    assert max(seen[1:]) <= 10
    assert len(seen) == 4  # the whole batch; shortened pairs of widths 2 and 3, 4 and 5, and 5
