"""Signals that end a training: the update under way is finished and the state saved before the program goes.

Ctrl-C (SIGINT) and SIGTERM are noted and told by `reason`; inside `breakable`, where nothing can be lost, they raise at
once. A second one does not wait either.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupted(BaseException):
    """A signal came while the work could be broken off."""


class Interruption:
    """While it is entered, the signals are ours; only the main thread can have them."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.can_break = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self.before = {number: signal.signal(number, self.note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def note(self, number: int, _: FrameType | None) -> None:
        """The first signal is remembered; the second ends the program as it would without us."""
        if self.number is not None:
            raise self.ending()
        self.number = number
        if self.can_break:
            raise Interrupted

    def ending(self) -> BaseException:
        """What unwinds the program: exit code 143 for SIGTERM, 130 for Ctrl-C."""
        return SystemExit(128 + signal.SIGTERM) if self.number == signal.SIGTERM else KeyboardInterrupt()

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """A stretch of work that may be broken off by `Interrupted`."""
        self.can_break = True
        try:
            yield
        finally:
            self.can_break = False
