"""`nmt score RUN --source F --target F`: ln p of given translations, by forced decoding."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

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
    from nmt.data.corpus import read_pairs

    pairs = read_pairs(arguments.source, arguments.target)
    translator = nmt.load(arguments.run, arguments.overrides)
    first = 1
    while chunk := list(islice(pairs, PAIRS_AT_ONCE)):
        scores = translator.score(chunk, first)
        first += len(chunk)
        for score in scores:
            detail = " ".join(
                f"{piece}={value:.6f}" for piece, value in zip(score.tokens, score.token_log_probs, strict=True)
            )
            print(f"{score.log_prob:.6f}" + (f"\t{detail}" if arguments.tokens else ""))
    return 0
