"""`nmt aer --gold F --links F`: how good are these links?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.align.links import Link
    from nmt.data.pharaoh import Links

SUMMARY = "precision, recall and alignment error rate of links"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument(
        "--gold",
        type=Path,
        required=True,
        help="gold links a line, 1-2 sure, 1p2 or 1?2 possible; or the NAACL form, `sentence source target S|P` a line",
    )
    parser.add_argument("--links", type=Path, required=True, help="the links to score, source-target, in either form")
    parser.add_argument(
        "--one-based",
        nargs="?",
        const="both",
        choices=("both", "gold", "links"),
        help="which files count words from 1 (without a value: both; the NAACL form always does)",
    )
    parser.add_argument("--swap", action="store_true", help="the links to score are target-source: turn them")
    parser.add_argument(
        "--per-sentence", type=Path, metavar="FILE", help="also write rates and counts, a JSON object a sentence"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, rates between 0 and 1")


def run(arguments: argparse.Namespace) -> int:
    """Score, warn of what looks misread, print."""
    import json
    from dataclasses import asdict

    from nmt.align.aer import aer
    from nmt.data.pharaoh import read_links

    gold = read_links(arguments.gold, arguments.one_based in ("both", "gold"))
    read = read_links(arguments.links, arguments.one_based in ("both", "links"))
    if len(gold) != len(read):
        raise UserError(f"{arguments.gold} has {len(gold)} lines, but {arguments.links} has {len(read)}")
    if not gold:
        raise UserError(f"{arguments.gold} has no lines: nothing to score")
    predicted = [frozenset((t, s) for s, t in links.possible) if arguments.swap else links.possible for links in read]
    score = aer(gold, predicted)
    if arguments.per_sentence:
        _write_sentences(arguments.per_sentence, gold, predicted)
    _warn(arguments, gold, predicted, score.aer)
    print(json.dumps(asdict(score)) if arguments.json else score)
    return 0


def _write_sentences(path: Path, gold: Sequence[Links], predicted: Sequence[frozenset[Link]]) -> None:
    import json
    from dataclasses import asdict

    from nmt.align.aer import aer
    from nmt.data.files import open_whole

    with open_whole(path) as file:
        for number, (line, links) in enumerate(zip(gold, predicted, strict=True), start=1):
            score = asdict(aer([line], [links]))
            del score["lines"]
            file.write(json.dumps({"line": number, **score}).encode() + b"\n")


def _warn(
    arguments: argparse.Namespace, gold: Sequence[Links], predicted: Sequence[frozenset[Link]], rate: float
) -> None:
    from nmt.align.misread import misreadings
    from nmt.progress import say

    looks = {"counted from 1": "counted from 1 (see --one-based)", "exchanged": "target-source (see --swap)"}
    if arguments.swap:
        looks["exchanged"] = "source-target (see --swap)"
    for other in misreadings(gold, predicted):
        path = arguments.gold if other.file == "gold" else arguments.links
        say(f"warning: {path} looks {looks[other.looks]}: AER would be {other.aer:.4f} instead of {rate:.4f}")
