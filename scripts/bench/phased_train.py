"""`nmt train` that says when its phases begin, for scripts/bench_data.py.

    python scripts/bench/phased_train.py MARKS [nmt train's settings]

MARKS gets a line a phase, its beginning (time.monotonic) and its name: `reading` (the corpus is checked), `tokenizer`
(its training), `encoding` (pieces written, the model made), `training` (validation too), and `end`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nmt.cli.main import main
from nmt.data.tokenizer import Tokenizer
from nmt.train.loop import Trainer


class Marks:
    """The file of beginnings."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, phase: str) -> None:
        """This phase begins now."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic()} {phase}\n")

    def around(self, function: Callable[..., Any], phase: str, after: str) -> Callable[..., Any]:
        """The function, which is a phase of its own."""

        def call(*given: Any, **named: Any) -> Any:
            self.begin(phase)
            result = function(*given, **named)
            self.begin(after)
            return result

        return call


if __name__ == "__main__":
    marks = Marks(Path(sys.argv[1]))
    setattr(Tokenizer, "train", marks.around(Tokenizer.train, "tokenizer", after="encoding"))  # noqa: B010
    setattr(Trainer, "train", marks.around(Trainer.train, "training", after="end"))  # noqa: B010
    marks.begin("reading")
    raise SystemExit(main(["train", *sys.argv[2:]]))
