"""Length penalties by hand, and the bound that stops search early."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError
from nmt.search.penalty import LengthPenalty, MeanPenalty, NoPenalty, WuPenalty


def test_by_hand() -> None:
    """Seven tokens: (5 + 7) / 6 = 2, so alpha 1 halves and alpha 2 quarters."""
    assert WuPenalty(alpha=1.0)(-8.0, 7) == -4.0
    assert WuPenalty(alpha=2.0)(-8.0, 7) == -2.0
    assert WuPenalty(alpha=0.0)(-8.0, 7) == -8.0
    assert MeanPenalty()(-8.0, 4) == -2.0
    assert NoPenalty()(-8.0, 4) == -8.0


@pytest.mark.parametrize("penalty", [WuPenalty(alpha=0.0), WuPenalty(alpha=1.3), MeanPenalty(), NoPenalty()], ids=repr)
@given(log_prob=st.floats(-500, 0), loss=st.floats(0, 500), length=st.integers(1, 90), spare=st.integers(0, 60))
def test_nothing_that_grows_passes_the_bound(
    penalty: LengthPenalty, log_prob: float, loss: float, length: int, spare: int
) -> None:
    assert penalty(log_prob - loss, length) <= penalty.best_possible(log_prob, length + spare)


@pytest.mark.parametrize("alpha", [-0.1, float("nan")])
def test_alpha_must_not_be_negative(alpha: float) -> None:
    with pytest.raises(UserError, match=f"alpha is {alpha}"):
        WuPenalty(alpha=alpha)
