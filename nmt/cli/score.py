"""`nmt score RUN --source F --target F`: ln p of given translations, by forced decoding."""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.translator import Score

SUMMARY = "log-probability of given translations, a line each"
PAIRS_AT_ONCE = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, two files of equal length, and how much is printed."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a trained run")
    parser.add_argument("--source", type=Path, required=True, metavar="F", help="source lines")
    parser.add_argument("--target", type=Path, required=True, metavar="F", help="their translations")
    parser.add_argument(
        "--tokens", action="store_true", help="after the sum, a tab and piece=ln p for every piece, </s> at the end"
    )


def run(arguments: argparse.Namespace) -> int:
    """A line a pair: the natural logarithm of p(target, EOS | source); 0 for a pair with a blank side."""
    import nmt
    from nmt.data.lines import count_lines, read_pairs
    from nmt.progress import progress

    pairs = read_pairs(arguments.source, arguments.target)
    translator = nmt.load(arguments.run, arguments.overrides)
    total = count_lines(arguments.source)
    first = 1
    with progress("scoring", unit="pairs", total=total, shown=not sys.stdout.isatty()) as bar:
        while chunk := list(islice(pairs, PAIRS_AT_ONCE)):
            for score in translator.score(chunk, first):
                print(line_of(score, arguments.tokens))
            first += len(chunk)
            bar.advance(len(chunk))
    return 0


def line_of(score: Score, tokens: bool) -> str:
    """The sum, and what it is the sum of if that is asked for."""
    pieces = zip(score.tokens, score.token_log_probs, strict=True)
    detail = " ".join(f"{piece}={value:.6f}" for piece, value in pieces)
    return f"{score.log_prob:.6f}" + (f"\t{detail}" if tokens else "")
