"""One translation as search leaves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.data.special import EOS
from nmt.search.penalty import LengthPenalty


@dataclass(frozen=True)
class Hypothesis:
    """A sequence of target ids with what the model thinks of it.

    tokens: the ids without BOS and without EOS. finished: the model ended it with EOS; False where it was cut at the
    maximum length. token_log_probs: ln p of every token, EOS's own at the end where there is one. log_prob: their sum.
    score: log_prob after the length penalty, what hypotheses are ranked by.
    """

    tokens: tuple[int, ...]
    finished: bool
    log_prob: float
    score: float
    token_log_probs: tuple[float, ...]

    @property
    def length(self) -> int:
        """Tokens with EOS counted, the length that penalties mean; a cut hypothesis has no EOS to count."""
        return len(self.token_log_probs)

    @classmethod
    def of(cls, ids: Sequence[int], token_log_probs: Sequence[float], penalty: LengthPenalty) -> Hypothesis:
        """From the ids that search produced, EOS still at the end of a finished one, and their log-probabilities."""
        assert len(ids) == len(token_log_probs) > 0, "every token has its probability"
        finished = ids[-1] == EOS
        log_prob = math.fsum(token_log_probs)
        return cls(
            tokens=tuple(ids[:-1] if finished else ids),
            finished=finished,
            log_prob=log_prob,
            score=penalty(log_prob, len(ids)),
            token_log_probs=tuple(token_log_probs),
        )
