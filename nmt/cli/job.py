"""One training of a sweep, as a launcher calls it: in the sweep's own process, or in one of the launcher's.

A process of the launcher's may serve several trainings, one after another. There, what a training says goes to a file
of its own, and a signal ends the training, which saves, but not the process: joblib would kill the others for it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from nmt.errors import Unsuccessful, UserError
from nmt.train.interrupt import Interruption

if TYPE_CHECKING:
    from omegaconf import DictConfig

KEY = "training"  # what Hydra's sweeper varies: the name
STOPPED = threading.Event()  # a signal has ended a training in this process of a launcher's: it begins no other
BY_SIGNAL = "stopped by a signal"

Values = dict[str, Any]  # a composed configuration


@dataclass(frozen=True)
class Job:
    """What the launcher calls for each training; it goes to other processes by pickle.

    values: name -> configuration; process: the number of the sweep's own.
    """

    values: Mapping[str, Values]
    process: int

    def __call__(self, settings: DictConfig) -> tuple[str, str]:
        """(name, what went wrong; empty where nothing did)."""
        from nmt.progress import say

        name = settings[KEY]
        values = self.values[name]
        if STOPPED.is_set():
            return name, BY_SIGNAL
        if os.getpid() == self.process:
            say(f"{name}: begins")
            reason = train(values)
        else:
            log = Path(f"{values['run']}.log")
            say(f"{name}: begins  (log: {log})")
            reason = train_elsewhere(values, log)
        say(f"{name}: {f'failed: {reason}' if reason else 'finished'}")
        return name, reason


def train(values: Values) -> str:
    """Train a run, or go on with it; what went wrong."""
    from nmt.config import read_config
    from nmt.experiment import run_experiment
    from nmt.run import Run

    config = read_config(values)
    try:
        run_experiment(values, config, resume=Run(Path(config.run)).last.is_file())
    except (UserError, OSError, Unsuccessful) as error:
        return " ".join(str(error).split())
    except Exception as error:  # the other trainings may do better
        return unforeseen(error)
    return ""


def unforeseen(error: Exception) -> str:
    """What nobody can have meant to happen, in one line; its traceback is said."""
    traceback.print_exception(error)
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def train_elsewhere(values: Values, log: Path) -> str:
    """The same in a process of the launcher's."""
    with log.open("a", encoding="utf-8") as stream, redirect_stderr(stream), heeding_signals():
        try:
            return train(values)
        except (KeyboardInterrupt, SystemExit) as end:
            if isinstance(end, SystemExit) and end.code != 128 + signal.SIGTERM:
                raise  # the launcher's own: submitit has put this job into the queue again
            STOPPED.set()
            return BY_SIGNAL


@contextmanager
def heeding_signals() -> Iterator[None]:
    """Signals raise meanwhile, and afterwards, when the process waits for another training, do nothing.

    Only in a process that `multiprocessing` has started: submitit's have handlers of their own.
    """
    if multiprocessing.parent_process() is None:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


class PassedOn(Interruption):
    """While it is entered, the first signal ends the trainings in processes of ours, and `number` tells of it; where
    there are none, it raises at once."""

    def note(self, number: int, _: FrameType | None) -> None:
        """The second signal does not wait for them."""
        children = multiprocessing.active_children()
        if self.number is not None or not children:
            self.number = number
            raise self.ending()
        self.number = number
        if number == signal.SIGTERM:  # Ctrl-C has reached them as it has us
            for child in children:
                child.terminate()
