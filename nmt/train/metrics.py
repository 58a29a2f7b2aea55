"""What training tells machines: events in metrics.jsonl.

Every event has `event`, `update`, `epoch` (fractions count), `seconds` since training began. `train` events have the
means since the one before, per target token: `loss` (smoothed, all terms), `nll`, with guided alignment `guided` (the
links' cross-entropy, before its weight), and `learning_rate`, `gradient_norm` (of the last update, before clipping),
`tokens_per_second` (target tokens, EOS counted, no padding; validation time left out), `padding` (the share of source
and target positions that hold no token), `waiting` (the share of that time that training waited for its data).
`valid` events have `loss` (-ln p per target token, without smoothing), `perplexity`, `tokens`, `bleu`, `chrf`,
`signature`, `better`. A number that is not finite is null, and so are the means where all updates were skipped.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from nmt.data.files import write_atomically
from nmt.errors import UserError
from nmt.train.board import Board


class Metrics:
    """Writes metrics.jsonl, and tells a board the same. A line is written at once and flushed, so a kill loses none.

    path: None for a process that keeps none. A training that goes on after update `after` keeps the events up to it,
    that update's validation only where it is `validated`; what a killed one wrote later comes again.
    """

    def __init__(self, path: Path | None, after: int = 0, board: Board | None = None, validated: bool = True) -> None:
        self.board = board
        self.file: TextIO | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = events_up_to(path, after, validated) if after and path.exists() else b""
            write_atomically(path, kept)
            self.file = open(path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115 - it lives as long as training

    def event(self, **values: Any) -> None:
        """One object on a line of its own; a number that is not finite, which JSON has no word for, is null."""
        known = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in values.items()
        }
        if self.file is not None:
            try:
                self.file.write(json.dumps(known, ensure_ascii=False, allow_nan=False) + "\n")
                self.file.flush()
            except OSError as error:
                raise UserError(f"{self.file.name}: cannot be written: {error.strerror}") from error
        if self.board is not None:
            self.board.event(known)

    def close(self) -> None:
        """No more events."""
        if self.file is not None:
            with suppress(OSError):  # what could not be written has been told
                self.file.close()
        if self.board is not None:
            self.board.close()


def percent(share: float) -> str:
    """A share of 1, for people."""
    return f"{100 * share:.0f} %"


def events_up_to(path: Path, update: int, validated: bool) -> bytes:
    """The whole lines of metrics.jsonl whose events are not later than the update, or than its validation; a line that
    a kill cut short has no end. UserError for a line that is no event."""
    kept = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        try:
            event = json.loads(line)
            when, is_valid = int(event["update"]), event["event"] == "valid"
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}, line {number}: this is no event of a training") from error
        if when < update or (when == update and (validated or not is_valid)):
            kept.append(line + b"\n")
    return b"".join(kept)
