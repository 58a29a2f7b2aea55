"""What torchrun tells a process of its job, by the environment, before the processes have met. Needs no torch."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from nmt.errors import UserError

PATIENCE = 10.0  # seconds


def may_restart() -> bool:
    """Whether this command is also what starts the job anew when one of its processes has died: --max-restarts. How
    often it has been is not known: each machine counts for itself, and not every time."""
    return int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")) > 0


def own_rank() -> int:
    """This process's number, known before it has met the others."""
    return int(os.environ.get("RANK", "0"))


@contextmanager
def told_once() -> Iterator[None]:
    """A mistake before the processes meet is most often one of all: the first of each machine tells it and ends, for
    which torchrun ends the others. One that is not ended has a mistake of its own, and tells it."""
    try:
        yield
    except UserError:
        if int(os.environ.get("LOCAL_RANK", "0")) > 0:
            time.sleep(PATIENCE)
        raise
