"""Length penalties: from a hypothesis's log-probability and length to the score that it is ranked by.

A sum of log-probabilities favours short translations; dividing it by something that grows with the length makes up for
that. The length counts EOS. `best_possible` bounds what a hypothesis that is still growing can reach, so that search
may stop early without changing its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nmt.errors import UserError


class LengthPenalty(Protocol):
    """score = penalty(log_prob, length); scores grow with log_prob, and log_prob only falls while tokens are added."""

    def __call__(self, log_prob: float, length: int) -> float: ...

    def best_possible(self, log_prob: float, max_length: int) -> float:
        """The highest score that a growing hypothesis with this log_prob can end with."""
        ...


@dataclass(frozen=True)
class WuPenalty:
    """log_prob / ((5 + length) / 6)^alpha (Wu et al. 2016, eq. 14). alpha >= 0; larger means longer translations.

    Raises UserError where alpha is negative or not a number.
    """

    alpha: float

    def __post_init__(self) -> None:
        if not self.alpha >= 0:
            raise UserError(f"the length penalty's alpha is {self.alpha}; it must be 0 or more")

    def __call__(self, log_prob: float, length: int) -> float:
        return float(log_prob / ((5 + length) / 6) ** self.alpha)

    def best_possible(self, log_prob: float, max_length: int) -> float:
        return self(log_prob, max_length)


@dataclass(frozen=True)
class MeanPenalty:
    """log_prob / length: the mean log-probability of a token."""

    def __call__(self, log_prob: float, length: int) -> float:
        return log_prob / length

    def best_possible(self, log_prob: float, max_length: int) -> float:
        return self(log_prob, max_length)


@dataclass(frozen=True)
class NoPenalty:
    """The log-probability itself."""

    def __call__(self, log_prob: float, length: int) -> float:
        return log_prob

    def best_possible(self, log_prob: float, max_length: int) -> float:
        return log_prob
