"""`nmt compare --experiment E --vary KEY=A,B,C --seeds N`: train each kind alike, and show what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import Unsuccessful, UserError

if TYPE_CHECKING:
    from nmt.compare.kinds import Kind

SUMMARY = "train an experiment in several kinds and compare them"
PACKAGES = ("torch", "sacrebleu", "sentencepiece")  # whose versions may move a number of the table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.usage = (
        "nmt compare --experiment NAME --vary KEY=A,B,C [--vary ...] [--seeds N] [--folder DIR] [--jobs N] "
        "[KEY=VALUE ...]"
    )
    parser.epilog = (
        "Example: nmt compare --experiment demo --vary attention=none,bahdanau,luong_general --seeds 3 "
        "train.updates=500. Every combination of the sweeps is trained once a seed, each with the settings of the "
        "experiment and the KEY=VALUE that follow. The table goes to stdout; DIR then holds a run and a log for each "
        "training, table.csv, table.md, and BLEU by source length as bleu_by_length.csv, .png and .svg. What has been "
        "trained is not trained again: the same call goes on where it was stopped, and further calls into the same DIR "
        "add kinds or seeds to its table. Trainings that fail are told, and the exit code is then 1."
    )
    parser.add_argument("--experiment", required=True, metavar="NAME", help="what all have in common: experiment=NAME")
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="SWEEP",
        help="a sweep in Hydra's grammar: attention=bahdanau,none or model.decoder.layers=range(1,4); several of them: "
        "every combination",
    )
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="train each kind with the seeds 1 to N (1)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where runs and tables go (compare/NAME)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="trainings at a time (1); with more than one each has a single thread, unless threads=N is given, and "
        "tokens/s says less",
    )
    parser.add_argument(
        "--config-dir", type=Path, metavar="DIR", help="your own configuration groups, as for nmt train"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check every cell, train those that are missing, show all that are there."""
    from nmt.compare.cells import expand
    from nmt.compare.comparison import Comparison
    from nmt.compare.kinds import gather
    from nmt.compare.report import write_report
    from nmt.compare.training import train_cells
    from nmt.progress import say

    if arguments.jobs < 1:
        raise UserError(f"--jobs is {arguments.jobs}: allowed is 1 or more")
    comparison = Comparison(
        folder=arguments.folder or Path("compare") / arguments.experiment,
        experiment=arguments.experiment,
        fixed=arguments.overrides,
        config_dir=arguments.config_dir,
    )
    asked = expand(arguments.vary, arguments.seeds)
    comparison.check(list(dict.fromkeys([*asked, *filter(comparison.is_finished, comparison.earlier())])))
    with comparison.locked() as lock:
        cells = comparison.remember(asked, command_line(arguments))
        missing = [cell for cell in asked if not comparison.is_finished(cell)]
        say(f"{len(asked)} cells, {len(missing)} to be trained, in {comparison.folder}")
        failures = train_cells(comparison, missing, jobs=arguments.jobs, lock=lock) if missing else {}
        kinds, bins = gather(comparison, cells)
        write_report(comparison, kinds, bins, versions())
    show(kinds)
    say(f"{comparison.folder}: table.md, table.csv, bleu_by_length.csv, .png, .svg")
    if failures:
        told = "; ".join(f"{cell}: {reason}" for cell, reason in failures.items())
        raise Unsuccessful(f"{len(failures)} of {len(missing)} trainings failed: {told}")
    return 0


def command_line(arguments: argparse.Namespace) -> str:
    """What was typed, but for the folder."""
    import shlex

    words = ["nmt", "compare", "--experiment", arguments.experiment]
    words += [word for sweep in arguments.vary for word in ("--vary", sweep)]
    words += ["--seeds", str(arguments.seeds)]
    words += ["--jobs", str(arguments.jobs)] if arguments.jobs > 1 else []
    words += ["--config-dir", str(arguments.config_dir)] if arguments.config_dir else []
    return shlex.join([*words, *arguments.overrides])


def versions() -> dict[str, str]:
    """Of this program and what it computes with."""
    from importlib.metadata import version

    import nmt

    return {"nmt": nmt.__version__, **{name: version(name) for name in PACKAGES}}


def show(kinds: Sequence[Kind]) -> None:
    """A table for a terminal, Markdown for a file or a pipe."""
    from nmt.compare.table import markdown, text_rows, varied_keys

    if not sys.stdout.isatty():
        print(markdown(kinds), end="")
        return
    from rich.console import Console
    from rich.table import Table

    heads, rows = text_rows(kinds)
    table = Table()
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < len(varied_keys(kinds)) else "right")
    for row in rows:
        table.add_row(*row)
    Console().print(table, markup=False)
