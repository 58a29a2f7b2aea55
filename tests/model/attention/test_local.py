"""Local attention by hand: where the window stands, what its Gaussian gives, and that a sentence's own length counts.

Shape letters: B sentences, T target positions, S source positions.
"""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from nmt.model.attention.attention import Attention
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.dot import Dot
from nmt.model.attention.windows.local_m import LocalM
from nmt.model.attention.windows.local_p import LocalP
from nmt.model.attention.windows.window import Windowed

VALID = torch.arange(5) < torch.tensor([[5], [3]])  # sentences of 5 and of 3 tokens, EOS counted
QUERY = torch.zeros(2, 1, 2)


def shown(windowed: Windowed) -> list[list[int]]:
    """The positions that each sentence's first query may read."""
    return [row[0].nonzero()[:, 0].tolist() for row in windowed.allowed.expand(2, -1, 5)]


def centred(reach: int, centre: float, *, eos: bool = True, renormalise: bool = False) -> LocalP:
    """A window whose centre is S x `centre`, whatever the query: v' tanh(0) is 0, and only 1/2 needs no weights."""
    window = LocalP(query_size=2, reach=reach, eos=eos, renormalise=renormalise).double()
    with torch.no_grad():
        window.hidden.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        # tanh(query) is tanh(1) in both units for a query of ones
        window.centre.weight.fill_(math.log(centre / (1 - centre)) / (2 * math.tanh(1.0)))
    return window


@pytest.mark.parametrize(
    ("step", "eos", "long", "short"),
    [
        (0, True, [0, 1], [0, 1]),
        (2, True, [1, 2, 3], [1, 2]),
        (4, True, [3, 4], [1, 2]),
        (9, True, [3, 4], [1, 2]),  # a target longer than the source stays at S - 1
        (9, False, [2, 3], [0, 1]),  # EOS is neither counted nor read
    ],
)
def test_monotonic_windows(step: int, eos: bool, long: list[int], short: list[int]) -> None:
    """p_t = min(t, S - 1), one position to either side."""
    window = LocalM(query_size=2, reach=1, eos=eos)
    assert shown(window(QUERY, VALID, torch.tensor([[step]]))) == [long, short]


def test_each_row_has_its_own_step() -> None:
    """In search the rows of a batch may stand at different positions."""
    window = LocalM(query_size=2, reach=1)
    assert shown(window(QUERY, VALID, torch.tensor([[0], [2]]))) == [[0, 1], [1, 2]]


def test_predicted_window_by_hand() -> None:
    """S = 5 and sigmoid = 1/2: p = 2.5, so that reach 1 shows 2 and 3, half a position away. S = 3: p = 1.5 shows 1, 2.

    sigma = 1/2: the Gaussian is exp(-0.5^2 / (2 x 0.25)) = exp(-1/2) at both.
    """
    windowed = centred(1, 0.5)(torch.ones(2, 1, 2).double(), VALID, torch.tensor([[7]]))
    assert shown(windowed) == [[2, 3], [1, 2]]
    assert windowed.log_gain is not None
    torch.testing.assert_close(windowed.log_gain[0, 0, 2:4], torch.tensor([-0.5, -0.5]).double())
    torch.testing.assert_close(windowed.log_gain[1, 0, 1:3], torch.tensor([-0.5, -0.5]).double())


def test_the_true_length_counts_and_not_the_batchs() -> None:
    """p = 0.9 S: 4.5 of five tokens, 2.7 of three; without EOS 3.6 of four, and 1.8 of two."""
    ones = torch.ones(2, 1, 2).double()
    assert shown(centred(1, 0.9)(ones, VALID, torch.tensor([[0]]))) == [[4], [2]]
    assert shown(centred(1, 0.9, eos=False)(ones, VALID, torch.tensor([[0]]))) == [[3], [1]]


def test_a_worked_example() -> None:
    """Luong 2015, equations 7, 9 and 10, for one sentence of four tokens and a reach of 2 (sigma = 1).

    sigmoid = 1/2 puts the centre at p = 2. All four tokens are near enough: |0 - 2| <= 2. Energies ln 1, ln 2, ln 3,
    ln 4 make the softmax 1/10, 2/10, 3/10, 4/10. The Gaussian is exp(-2), exp(-1/2), 1, exp(-1/2).
    """
    energies = torch.tensor([1.0, 2.0, 3.0, 4.0]).double().log()
    attention = _attention(centred(2, 0.5))
    weights = _weights(attention, energies)
    gauss = torch.tensor([math.exp(-2), math.exp(-0.5), 1.0, math.exp(-0.5)]).double()
    torch.testing.assert_close(weights, torch.tensor([0.1, 0.2, 0.3, 0.4]).double() * gauss)
    assert weights.sum() < 1
    renormalised = _weights(_attention(centred(2, 0.5, renormalise=True)), energies)
    torch.testing.assert_close(renormalised, weights / weights.sum())


def test_the_softmax_is_over_the_window_alone() -> None:
    """Reach 1 at p = 2 of four tokens: 1, 2, 3 share the softmax, 2/9, 3/9, 4/9; sigma = 1/2 makes exp(-2) beside."""
    energies = torch.tensor([1.0, 2.0, 3.0, 4.0]).double().log()
    weights = _weights(_attention(centred(1, 0.5)), energies)
    beside = math.exp(-2)
    torch.testing.assert_close(weights, torch.tensor([0.0, 2 / 9 * beside, 3 / 9, 4 / 9 * beside]).double())


def _attention(window: LocalP) -> Attention:
    """The dot score of queries (1, 1) with what `_weights` gives."""
    return Attention(
        query_size=2, memory_size=2, score=Dot, window=lambda query_size: window, normalizer=Softmax
    ).double()


def _weights(attention: Attention, energies: Tensor) -> Tensor:
    """The weights [S] of a query of ones over states whose dot product with it is `energies`."""
    states = torch.stack([energies, torch.zeros_like(energies)], dim=-1).unsqueeze(0)
    valid = torch.ones(1, len(energies), dtype=torch.bool)
    prepared = attention.prepare(states, valid, states[:, 0])
    attended, _ = attention(torch.ones(1, 1, 2).double(), prepared, (), torch.tensor([[0]]))
    torch.testing.assert_close(attended.context[0, 0], attended.weights[0, 0, 0] @ states[0])
    return attended.weights[0, 0, 0]


def test_the_centre_learns_through_the_gaussian() -> None:
    """Its gradient is that of the Gaussian alone: d weight / d p = weight (s - p) / sigma^2, times S sigmoid'."""
    window = centred(2, 0.5)
    energies = torch.tensor([1.0, 2.0, 3.0, 4.0]).double().log()
    weights = _weights(_attention(window), energies)
    (gradient,) = torch.autograd.grad(weights[3], [window.centre.weight])
    slope = float(weights[3].detach()) * (3 - 2) * 4 * 0.25 * math.tanh(1.0)
    torch.testing.assert_close(gradient, torch.full((1, 2), slope).double())


def test_a_sentence_of_eos_alone() -> None:
    """Nothing may be read where EOS does not count: zeros, and gradients that are numbers."""
    window = centred(2, 0.5, eos=False)
    weights = _weights(_attention(window), torch.zeros(1, requires_grad=True).double())
    assert weights.tolist() == [0.0]
    weights.sum().backward()
    assert window.centre.weight.grad is not None
    assert window.centre.weight.grad.isfinite().all()


def test_a_decoder_does_not_know_its_own_length() -> None:
    """All at once, S would be the whole target's length; step by step it grows. Only p_t = t is the same in both."""
    for window in (partial(LocalP, reach=2), partial(LocalM, reach=2, eos=False)):
        with pytest.raises(ValueError, match="does not know the length of what it writes"):
            Attention(query_size=2, memory_size=2, score=Dot, window=window, normalizer=Softmax, causal=True)
    Attention(query_size=2, memory_size=2, score=Dot, window=partial(LocalM, reach=2), normalizer=Softmax, causal=True)


@pytest.mark.parametrize("kind", [LocalM, LocalP])
def test_no_window_without_reach(kind: type[LocalM] | type[LocalP]) -> None:
    with pytest.raises(ValueError, match="reach is 0: a window reaches at least 1 position to either side"):
        kind(query_size=3, reach=0)
