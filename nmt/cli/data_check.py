"""`nmt data check FILE FILE` or `nmt data check data=... `: the doctor of parallel corpora."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.data.doctor.reading import Part

SUMMARY = "what is wrong with a parallel corpus, line by line and as a whole; mends what can be mended"
PAIR = ("SOURCE", "TARGET")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The files, or the parts of a configuration, and what is told of them."""
    parser.usage = (
        "nmt data check FILE [FILE ...] [--valid SOURCE TARGET] [--test SOURCE TARGET] [options]\n"
        "       nmt data check [options] data=NAME [key=value ...]"
    )
    parser.epilog = (
        "FILE FILE are the two sides of a training corpus, line i with line i; one file is looked at alone. With "
        "data=NAME the parts of that configuration are read, in whatever form they are stored. Exit code 0: nothing "
        "needs a person (what is noted, training copes with); 1: something does; 2: something can't be read. With "
        "--write-clean what the clean copy puts right no longer counts."
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="the sides of the training corpus")
    parser.add_argument("--valid", nargs=2, type=Path, metavar=PAIR, help="a development corpus, to check as well")
    parser.add_argument("--test", nargs=2, type=Path, metavar=PAIR, help="a test corpus, to check as well")
    parser.add_argument(
        "--write-clean", type=Path, metavar="DIR", help="write the files there, mended, without unusable pairs"
    )
    parser.add_argument("--max-words", type=int, default=100, metavar="N", help="longer lines are told (default: 100)")
    parser.add_argument("--lines", type=int, default=5, metavar="N", help="line numbers shown a finding (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Check, print, and write the clean copy where one is wanted."""
    for option, value in (("--max-words", arguments.max_words), ("--lines", arguments.lines)):
        if value < 1:
            raise UserError(f"{option} is {value}: a positive number is wanted")
    from nmt.data.doctor.check import check, needs_a_person
    from nmt.data.doctor.cleaning import REMOVED, Clean
    from nmt.progress import say

    parts = _parts(arguments)
    clean = Clean(parts, arguments.write_clean) if arguments.write_clean else None
    checked = check(parts, shown=arguments.lines, max_words=arguments.max_words)
    if arguments.json:
        import json

        found = {"needs_a_person": needs_a_person(checked), "parts": [one.as_dict() for one in checked]}
        print(json.dumps(found, ensure_ascii=False))
    else:
        from nmt.data.doctor.report import report

        print(report(checked))
    if clean is not None:
        kept, dropped = clean.write([one.examined for one in checked])
        say(f"{clean.folder}: {kept:,} pairs written, {dropped:,} left out ({REMOVED})")
    return int(needs_a_person(checked, mended=clean is not None))


def _parts(arguments: argparse.Namespace) -> Sequence[Part]:
    from nmt.data.doctor.reading import file_part

    if arguments.overrides:
        if arguments.files or (arguments.valid or arguments.test):
            raise UserError(f"either files or a configuration: not both {arguments.overrides[0]} and files")
        from nmt.compose import compose
        from nmt.data.doctor.check import configured_parts

        return configured_parts(compose(arguments.overrides).data)
    misplaced = next((file for file in arguments.files if "=" in str(file) and not file.exists()), None)
    if misplaced is not None:
        raise UserError(f"{misplaced}: there is no such file, and settings stand after files and options")
    if not arguments.files:
        raise UserError("which corpus? FILE FILE or data=NAME (see `nmt data check --help`)")
    if len(arguments.files) != 2 and (arguments.valid or arguments.test):
        raise UserError("--valid and --test go with two files, SOURCE and TARGET")
    parts = [file_part("train", arguments.files)]
    if arguments.valid:
        parts.append(file_part("valid", arguments.valid))
    if arguments.test:
        parts.append(file_part("test", arguments.test))
    return parts
