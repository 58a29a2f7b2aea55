"""`nmt aer --gold F --links F`: how good are these links?"""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.errors import UserError

SUMMARY = "precision, recall and alignment error rate of links"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument("--gold", type=Path, required=True, help="gold links a line: 1-2 sure, 1p2 or 1?2 possible")
    parser.add_argument("--links", type=Path, required=True, help="the links to score, source-target")
    parser.add_argument(
        "--one-based",
        nargs="?",
        const="both",
        choices=("both", "gold", "links"),
        help="which files count words from 1 (without a value: both)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, rates between 0 and 1")


def run(arguments: argparse.Namespace) -> int:
    """Score, print."""
    import json
    from dataclasses import asdict

    from nmt.align.aer import aer
    from nmt.data.pharaoh import read_links

    gold = read_links(arguments.gold, arguments.one_based in ("both", "gold"))
    predicted = read_links(arguments.links, arguments.one_based in ("both", "links"))
    if len(gold) != len(predicted):
        raise UserError(f"{arguments.gold} has {len(gold)} lines, but {arguments.links} has {len(predicted)}")
    if not gold:
        raise UserError(f"{arguments.gold} has no lines: nothing to score")
    score = aer(gold, [links.possible for links in predicted])
    print(json.dumps(asdict(score)) if arguments.json else score)
    return 0
