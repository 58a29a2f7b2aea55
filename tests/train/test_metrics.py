"""metrics.jsonl."""

from __future__ import annotations

import json
import math
from pathlib import Path

from nmt.train.metrics import Metrics


def test_events_are_there_at_once(tmp_path: Path) -> None:
    """A kill after the event loses nothing; what JSON cannot say is null."""
    metrics = Metrics(tmp_path / "new" / "metrics.jsonl")
    metrics.event(event="valid", loss=math.nan, bleu=math.inf, signature="é", update=1)
    (line,) = (tmp_path / "new" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"event": "valid", "loss": None, "bleu": None, "signature": "é", "update": 1}
    metrics.close()
