"""`nmt COMMAND ...`: finds the module of the command, parses, runs, and turns what goes wrong into a line and a code.

A command NAME is the module nmt/cli/NAME.py with SUMMARY (one line), add_arguments(parser) and run(arguments) -> exit
code. It is imported only when chosen, and imports what is heavy inside run(), so that help and version are instant.
Results go to stdout, all else to stderr. Exit codes: 0 done; 1 a check found something wanting or training
diverged; 2 the user's mistake; 130 and 143 interrupted by Ctrl-C and SIGTERM; 141 nobody reads our output any more.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple, NoReturn

from nmt.errors import Unsuccessful, UserError


class Command(NamedTuple):
    """`overrides` says where `key=value` settings may stand: nowhere, after the flags, or all is Hydra's ("all")."""

    summary: str
    overrides: Literal["none", "after", "all"]


COMMANDS = {
    "train": Command("train a model; ends in test BLEU and an alignment export", "all"),
    "translate": Command("translate lines: files or stdin to stdout", "after"),
    "score": Command("log-probability of given translations, a line each", "after"),
    "evaluate": Command("BLEU, chrF and TER of a run or of finished translations", "after"),
    "align": Command("word alignments by a run's attention, or by attribution", "after"),
    "aer": Command("precision, recall and alignment error rate of links", "none"),
    "heatmap": Command("picture of alignments: a sentence, heads, runs side by side", "none"),
    "inspect": Command("one offline HTML page of all alignments", "none"),
    "report": Command("one page of diagnostics over a test set", "none"),
    "data": Command("look after corpora: check, fetch, list", "after"),
    "average": Command("a new run with the mean of a run's kept weights", "none"),
    "compare": Command("train an experiment in several kinds and compare them", "after"),
}


OUTPUTS = {"output": "-o", "per_sentence": "--per-sentence"}  # the flags that name a file to write


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are the one line that every user's mistake gets."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see `{self.prog} --help`)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name) and return its exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in given
    _results_are_utf8()
    try:
        with _terminated_by_exception():
            code = _dispatch([argument for argument in given if argument != "--debug"])
            sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse's --help and SIGTERM
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _silence_stdout()
        return 141
    except (UserError, OSError, Unsuccessful) as error:
        if debug:
            traceback.print_exc()
        print("nmt: error:", _one_line(error), file=sys.stderr)
        return 1 if isinstance(error, Unsuccessful) else 2


def _dispatch(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if arguments[0] == "--version":
        from nmt import __version__

        print("nmt", __version__)
        return 0
    name, *rest = arguments
    command = COMMANDS.get(name)
    if command is None:
        raise UserError(unknown_command(name, COMMANDS))
    module = importlib.import_module(f"nmt.cli.{name}")
    parsed = _parse(module, command, _parser(name, module), rest)
    _keep_inputs(parsed)
    return int(module.run(parsed))


def _parser(name: str, module: ModuleType) -> Parser:
    parser = Parser(prog=f"nmt {name}", description=module.SUMMARY, allow_abbrev=False)
    module.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show where an error comes from")
    return parser


def _parse(module: ModuleType, command: Command, parser: Parser, rest: Sequence[str]) -> argparse.Namespace:
    """The command's namespace; `overrides` in it are the `key=value` settings, where the command takes any."""
    from nmt.cli.overrides import split_overrides

    if command.overrides == "all":
        if {"-h", "--help"} & set(rest):
            parser.print_help()
            parser.exit()
        return argparse.Namespace(overrides=list(rest))  # Hydra's own flags are not argparse's to judge
    if command.overrides == "none":
        return parser.parse_args(rest)
    ordinary, overrides = split_overrides(parser, rest)
    arguments = parser.parse_args(ordinary)
    arguments.overrides = overrides
    return arguments


def _keep_inputs(arguments: argparse.Namespace) -> None:
    """UserError where a command would write over a file that it reads."""
    from nmt.data.files import check_not_read

    given = vars(arguments)
    lists = [value if isinstance(value, list) else [value] for name, value in given.items() if name not in OUTPUTS]
    read = [path for paths in lists for path in paths if isinstance(path, Path)]
    for name, flag in OUTPUTS.items():
        if isinstance(given.get(name), Path):
            check_not_read(given[name], read, flag)


def _overview() -> str:
    width = max(map(len, COMMANDS))
    table = "\n".join(f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items())
    return (
        "usage: nmt COMMAND ...\n\nNeural machine translation with attention: train, translate, score, align, look.\n\n"
        f"commands:\n{table}\n\n"
        "`nmt COMMAND --help` explains one. --version prints the version, --debug adds the traceback of an error."
    )


def unknown_command(name: str, known: Collection[str], group: str = "") -> str:
    """What is said of it. group: what stands before the name, with a space."""
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean '{nearest[0]}'? " if nearest else ""
    return f"unknown command '{group}{name}'; {hint}commands: {', '.join(known)}"


def _one_line(error: Exception) -> str:
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return " ".join(text.splitlines()) or type(error).__name__


def _results_are_utf8() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")


def _silence_stdout() -> None:
    """Send what is still buffered nowhere, or the interpreter would complain about the pipe while it shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _terminated_by_exception() -> Iterator[None]:
    """While this is open, SIGTERM unwinds the stack, so that `finally` removes what is half-written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
