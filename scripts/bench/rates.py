"""Rates out of logs: what each update of a training read and how long it took, ours and the peers'.

Tokens are real target tokens, EOS counted and padding not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

WARM_UP = 10.0  # seconds that count for nobody: first touches of memory, caches, kernels chosen
OPENNMT_STEP = re.compile(r"Step +\d+/.* bsz: *\d+/ *(\d+)/.*; *\d+/ *(\d+) tok/s")


class Update(NamedTuple):
    """Target tokens of one update, and its seconds."""

    tokens: float
    seconds: float


def steady(updates: Sequence[Update]) -> list[Update]:
    """Without those that ended in the first ten seconds, or without the first quarter where that is fewer."""
    passed, cold = 0.0, 0
    for update in updates:
        passed += update.seconds
        if passed > WARM_UP:
            break
        cold += 1
    return list(updates[min(cold, len(updates) // 4) :])


def rate(updates: Sequence[Update]) -> float:
    """Target tokens a second, once warm."""
    kept = steady(updates)
    return sum(update.tokens for update in kept) / sum(update.seconds for update in kept)


def read_ours(text: str) -> list[Update]:
    """metrics.jsonl of a run with train.log_every=1: an event's rate is of the time since the one before."""
    events = [json.loads(line) for line in text.splitlines()]
    trained = [event for event in events if event["event"] == "train"]
    began = [0.0, *(event["seconds"] for event in trained)]
    return [
        Update(event["tokens_per_second"] * (event["seconds"] - before), event["seconds"] - before)
        for event, before in zip(trained, began, strict=False)
    ]


def read_hf(text: str) -> list[Update]:
    """What bench/hf_marian.py prints: an object an update, among the lines of libraries."""
    return [Update(**json.loads(line)) for line in text.splitlines() if line.startswith('{"tokens"')]


def read_opennmt(text: str) -> list[Update]:
    """onmt_train's log with report_every: 1, where `bsz` has the tokens of the one batch and `tok/s` their rate."""
    found = [(int(match[1]), int(match[2])) for match in OPENNMT_STEP.finditer(text)]
    return [Update(tokens, tokens / per_second) for tokens, per_second in found]
