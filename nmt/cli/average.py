"""`nmt average RUN [--last N | --best K] [-o OUT]`: a new run whose weights are the mean of those that RUN has kept."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

    from nmt.run import Run
    from nmt.train.kept import KeptWeights

SUMMARY = "a new run with the mean of a run's kept weights"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, which of its weights, and where the new run goes."""
    parser.epilog = (
        "A training keeps weights of several validations with train.keep_last=N and train.keep_best=N. OUT can be used "
        "as any run; its scores are told by `nmt evaluate OUT`. Nothing in RUN changes."
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a trained run")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--last", type=int, metavar="N", help="average the newest N (default: all that were kept)")
    which.add_argument("--best", type=int, metavar="K", help="average the K best by validation")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="the new run's directory (RUN-average)")


def run(arguments: argparse.Namespace) -> int:
    """Choose, average, write; the new run's directory goes to stdout."""
    from nmt.progress import say
    from nmt.run import Run
    from nmt.train.average import average_weights

    old = Run.open(arguments.run)
    new = Run(arguments.output or default_output(arguments.run))
    if new.best.exists() or new.last.exists():
        raise UserError(f"{new.path}: there is a trained run here; name another directory by -o OUT, or remove it")
    kept = chosen(old, arguments.last, arguments.best)
    write_run(old, new, average_weights([one.path for one in kept]))
    for one in kept:
        say(f"averaged: update {one.update}, {one.metric} {one.score:.4f}")
    print(new.path)
    return 0


def default_output(path: Path) -> Path:
    """RUN-average beside RUN."""
    named = path if path.name not in ("", "..") else path.resolve()
    return named.with_name(f"{named.name}-average")


def chosen(run: Run, last: int | None, best: int | None) -> list[KeptWeights]:
    """What is to be averaged, in order of update. UserError where the run has not kept as much."""
    from nmt.train.kept import best_of, list_kept, newest_of
    from nmt.train.loop import HIGHER_IS_BETTER

    kept = list_kept(run.last.parent)
    if not kept:
        raise UserError(f"{run.path}: this run has kept no weights: train with train.keep_last=N or train.keep_best=N")
    for flag, count in (("--last", last), ("--best", best)):
        if count is not None and not 1 <= count <= len(kept):
            raise UserError(f"{flag} is {count}: allowed is 1 to {len(kept)}, as many as {run.path} has kept")
    if best is not None:
        return best_of(kept, best, HIGHER_IS_BETTER[run.config().train.metric])
    return kept if last is None else newest_of(kept, last)


def write_run(old: Run, new: Run, weights: dict[str, Tensor]) -> None:
    """The old run with these weights. They come last: without them, nothing takes the directory for a run.

    UserError where its tokenizers are no longer those that it was trained with.
    """
    from nmt.data.files import write_atomically

    old.check_tokenizers()
    new.write_config(old.values() | {"run": str(new.path)})
    for side in ("source", "target"):
        write_atomically(new.tokenizer_file(side), old.tokenizer_file(side).read_bytes())
    new.save_best(weights)
