"""Each score by hand, and against its paper's formula, one number after another.

By hand: tanh(ln(x) / 2) = (x - 1) / (x + 1), so that ln(3) / 2 becomes 1/2 and ln(2) / 2 + ln(2) / 2 becomes 3/5.

Shape letters: B sentences, T query positions, S source positions, Q query size, D memory size.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.model.attention.attention import Score
from nmt.model.attention.scores.additive import Additive
from nmt.model.attention.scores.dot import Dot
from nmt.model.attention.scores.general import General
from nmt.model.attention.scores.location import Location
from nmt.model.attention.scores.normed_additive import NormedAdditive
from nmt.model.attention.scores.scaled_dot import ScaledDot
from nmt.model.attention.scores.scaled_general import ScaledGeneral
from tests.model.attention.leaves import SCORES, make

B, T, S, Q, D = 2, 3, 5, 7, 11


def _inputs(query_size: int, memory_size: int) -> tuple[Tensor, Tensor]:
    return torch.randn(B, T, query_size).double(), torch.randn(B, S, memory_size).double()


def _set(parameter: Tensor, values: object) -> None:
    with torch.no_grad():
        parameter.copy_(torch.tensor(values))


@torch.no_grad()
def _energy(score: Score, query: list[float], state: list[float]) -> float:
    """Of one query and one state."""
    return float(score(torch.tensor([[query]]), score.project(torch.tensor([[state]]))))


def test_additive_by_hand() -> None:
    """W s + U h = (ln 3 / 2, ln 2 / 2 + ln 2 / 2), whose tanh is (1/2, 3/5); (2, 5) times that is 1 + 3."""
    score = Additive(query_size=2, memory_size=2)
    _set(score.query.weight, np.eye(2))
    _set(score.memory.weight, [[0, 1], [1, 0]])
    _set(score.energy.weight, [[2, 5]])
    assert _energy(score, [math.log(3) / 2, math.log(2) / 2], [math.log(2) / 2, 0.0]) == pytest.approx(4)


def test_normed_additive_by_hand() -> None:
    """The same (1/2, 3/5), where b gives a part; v = (30, 40) is (3/5, 4/5) times 50, and g = 10 takes the 50's place:
    10 (3/5 1/2 + 4/5 3/5) = 3 + 4.8."""
    score = NormedAdditive(query_size=2, memory_size=2)
    _set(score.query.weight, np.eye(2))
    _set(score.memory.weight, np.zeros((2, 2)))
    _set(score.energy.weight, [[30, 40]])
    _set(score.bias, [0, math.log(2) / 2])
    _set(score.gain, 10)
    assert _energy(score, [math.log(3) / 2, math.log(2) / 2], [7.0, 7.0]) == pytest.approx(7.8)


def test_dot_and_scaled_dot_by_hand() -> None:
    """(3, 4, 0, 0) . (1, 2, 9, 9) = 11, and 11 / sqrt(4) = 5.5."""
    query, state = [3.0, 4.0, 0.0, 0.0], [1.0, 2.0, 9.0, 9.0]
    assert _energy(Dot(query_size=4, memory_size=4), query, state) == 11.0
    assert _energy(ScaledDot(query_size=4, memory_size=4), query, state) == 5.5


def test_general_and_scaled_general_by_hand() -> None:
    """W h = (4 + 3 6, 5) = (22, 5); (1, 2) . (22, 5) = 32, and half of it with a gain of 1/2."""
    for score, wanted in ((General(query_size=2, memory_size=3), 32), (ScaledGeneral(query_size=2, memory_size=3), 16)):
        _set(score.matrix.weight, [[1, 0, 3], [0, 1, 0]])
        if isinstance(score, ScaledGeneral):
            _set(score.gain, 0.5)
        assert _energy(score, [1.0, 2.0], [4.0, 5.0, 6.0]) == wanted


@torch.no_grad()
def test_location_by_hand() -> None:
    """Rows (1, 0), (0, 1), (1, 1) of W and h = (2, 3): 2, 3 and 5, of which two words take the first two; a fourth word
    is not read."""
    score = Location(query_size=2, memory_size=11, maximum=3)
    _set(score.positions.weight, [[1, 0], [0, 1], [1, 1]])
    query = torch.tensor([[[2.0, 3.0]]])
    assert score(query, score.project(torch.randn(1, 2, 11))).tolist() == [[[2, 3]]]
    assert score(query, score.project(torch.randn(1, 3, 11))).tolist() == [[[2, 3, 5]]]
    long = score(query, score.project(torch.randn(1, 4, 11)))
    assert long[..., :3].tolist() == [[[2, 3, 5]]]
    assert long.isfinite().all()
    assert float(long.softmax(-1)[..., 3]) == 0


@pytest.mark.parametrize("kind", [Additive, NormedAdditive])
@pytest.mark.parametrize("size", [0, 13])
@torch.no_grad()
def test_additive(size: int, kind: type[Additive]) -> None:
    """Bahdanau 2015, A.1.2: v' tanh(W s + U h); Salimans & Kingma 2016, equation 2: g v / ||v|| for v."""
    score = kind(query_size=Q, memory_size=D, size=size).double()
    assert score.query.out_features == score.key_size == (size or Q)
    query, states = _inputs(Q, D)
    w, u, v = (part.weight.numpy() for part in (score.query, score.memory, score.energy))
    vector, bias = v[0], np.zeros(score.key_size)
    if isinstance(score, NormedAdditive):
        torch.nn.init.normal_(score.bias)
        torch.nn.init.normal_(score.gain)
        vector, bias = score.gain.numpy() * vector / np.sqrt((vector**2).sum()), score.bias.numpy()
    energies = score(query, score.project(states)).numpy()
    for b, t, s in np.ndindex(B, T, S):
        wanted = vector @ np.tanh(w @ query[b, t].numpy() + u @ states[b, s].numpy() + bias)
        assert energies[b, t, s] == pytest.approx(wanted, abs=1e-12)


@torch.no_grad()
def test_additive_is_luongs_concat() -> None:
    """Luong 2015, section 3.1: v' tanh(W [h_t; h_s]), with W = [W_1 W_2]."""
    score = Additive(query_size=Q, memory_size=D).double()
    query, states = _inputs(Q, D)
    joined = np.concatenate([score.query.weight.numpy(), score.memory.weight.numpy()], axis=1)
    pair = np.concatenate([query[1, 2].numpy(), states[1, 4].numpy()])
    wanted = score.energy.weight.numpy()[0] @ np.tanh(joined @ pair)
    assert float(score(query, score.project(states))[1, 2, 4]) == pytest.approx(wanted, abs=1e-12)


@torch.no_grad()
def test_normed_additive_starts_between_minus_one_and_one() -> None:
    """g = 1 / sqrt(K) and b = 0: |g v' tanh(.)| / ||v|| <= g sqrt(K) = 1, reached where every tanh is v's sign."""
    score = NormedAdditive(query_size=Q, memory_size=D, size=17)
    assert float(score.gain) == pytest.approx(17**-0.5)
    assert not score.bias.any()
    query, states = torch.randn(B, T, Q) * 1000, torch.randn(B, S, D) * 1000
    assert score(query, score.project(states)).abs().max() <= 1
    _set(score.energy.weight, np.ones((1, 17)))
    _set(score.query.weight, np.ones((17, Q)))
    _set(score.memory.weight, np.zeros((17, D)))
    assert _energy(score, [99.0] * Q, [0.0] * D) == pytest.approx(1)


@torch.no_grad()
def test_general() -> None:
    """Luong 2015, section 3.1: h_t' W h_s; the scaled one begins as the same."""
    score, scaled = General(query_size=Q, memory_size=D).double(), ScaledGeneral(query_size=Q, memory_size=D).double()
    scaled.matrix.load_state_dict(score.matrix.state_dict())
    query, states = _inputs(Q, D)
    energies = score(query, score.project(states))
    wanted = np.einsum("btq,qd,bsd->bts", query.numpy(), score.matrix.weight.numpy(), states.numpy())
    np.testing.assert_allclose(energies.numpy(), wanted, atol=1e-12)
    assert torch.equal(scaled(query, scaled.project(states)), energies)
    _set(scaled.gain, -0.7)
    np.testing.assert_allclose(scaled(query, scaled.project(states)).numpy(), -0.7 * wanted, atol=1e-6)


@pytest.mark.parametrize("maximum", [3, 5, 7])
@torch.no_grad()
def test_location(maximum: int) -> None:
    """Luong 2015, equation 8: W h_t, of which a short sentence takes the top; states play no part."""
    score = Location(query_size=Q, memory_size=D, maximum=maximum).double()
    query, states = _inputs(Q, D)
    energies = score(query, score.project(states))
    assert torch.equal(energies, score(query, score.project(torch.randn_like(states))))
    w = score.positions.weight.numpy()
    for b, t, s in np.ndindex(B, T, S):
        wanted = w[s] @ query[b, t].numpy() if s < maximum else torch.finfo(torch.float64).min / 2
        assert float(energies[b, t, s]) == pytest.approx(wanted, abs=1e-12)


def test_location_needs_a_position() -> None:
    with pytest.raises(ValueError, match="maximum is 0: at least 1 source position"):
        Location(query_size=Q, memory_size=D, maximum=0)


@pytest.mark.parametrize("kind", [Dot, ScaledDot])
def test_dot_needs_one_size(kind: type[Dot]) -> None:
    with pytest.raises(ValueError, match="one size, not 7 and 11"):
        kind(query_size=7, memory_size=11)


def test_variance_grows_with_the_size_unless_scaled() -> None:
    """Vaswani 2017, note 4: q . k of unit normals has variance d; divided by sqrt(d), 1."""
    for size in (4, 64, 256):
        query, keys = torch.randn(1, 200, size), torch.randn(1, 200, size)
        assert float(Dot(query_size=size, memory_size=size)(query, keys).var()) == pytest.approx(size, rel=0.15)
        scaled = ScaledDot(query_size=size, memory_size=size)(query, keys)
        assert float(scaled.var()) == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize("name", SCORES)
def test_every_score_says_its_keys_size(name: str) -> None:
    attention = make(name, query_size=Q)
    score = attention.score
    query, states = _inputs(Q, attention.context_size)
    keys = score.project(states)
    assert keys.shape == (B, S, score.key_size)
    assert score(query, keys).shape == (B, T, S)


@pytest.mark.parametrize("name", SCORES)
@torch.no_grad()
def test_every_pair_is_scored_alone(name: str) -> None:
    """An energy knows its own query and state and its place, nothing of the others."""
    attention = make(name, query_size=Q)
    score = attention.score
    query, states = _inputs(Q, attention.context_size)
    energies = score(query, score.project(states))
    other = torch.randn_like(states)
    other[:, 3] = states[:, 3]
    again = score(query[:, 2:], score.project(other))
    torch.testing.assert_close(again[..., 3], energies[:, 2:, 3], atol=1e-12, rtol=0)
