"""metrics.jsonl."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.train.metrics import Metrics


def test_events_are_there_at_once(tmp_path: Path) -> None:
    """A kill after the event loses nothing; what JSON cannot say is null."""
    metrics = Metrics(tmp_path / "new" / "metrics.jsonl")
    metrics.event(event="valid", loss=math.nan, bleu=math.inf, signature="é", update=1)
    (line,) = (tmp_path / "new" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"event": "valid", "loss": None, "bleu": None, "signature": "é", "update": 1}
    metrics.close()


@pytest.mark.parametrize("junk", [b"\xff\xfe", b"loss 3.1", b"[]", b'{"event": "train"}'])
def test_what_is_no_event_is_named(tmp_path: Path, junk: bytes) -> None:
    """E08: the line, and nothing is written over."""
    path = tmp_path / "metrics.jsonl"
    before = b'{"event": "train", "update": 1}\n' + junk + b"\n"
    path.write_bytes(before)
    with pytest.raises(UserError, match=r"metrics\.jsonl, line 2: this is no event of a training"):
        Metrics(path, after=1)
    assert path.read_bytes() == before


def test_a_disk_that_is_full_is_named(tmp_path: Path) -> None:
    """E01."""
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.close()
    metrics.file = open("/dev/full", "a")  # noqa: SIM115 - metrics closes it
    with pytest.raises(UserError, match=r"/dev/full: cannot be written: No space left on device"):
        metrics.event(event="train", update=1)
    metrics.close()
