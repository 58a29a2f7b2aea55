"""`nmt align RUN --source F [--target F] -o OUT`: word alignments of given pairs, or of the run's own translations."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.align.links import Rule
    from nmt.align.pipeline import Linker
    from nmt.align.record import Header, Record
    from nmt.config import AlignmentConfig
    from nmt.translator import Translator

SUMMARY = "word alignments from a run's attention"
_DEFAULT_RULE: Rule = "grow-diag"
_LINES_AT_ONCE = 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    from nmt.align.export import FORMATS
    from nmt.align.links import RULES

    parser.add_argument("model", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--source", type=Path, required=True, help="source lines")
    parser.add_argument("--target", type=Path, help="target lines; without it the run's own translations are aligned")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    parser.add_argument("--format", choices=FORMATS, default="pharaoh", help="default: pharaoh")
    parser.add_argument("--layer", type=int, metavar="N", help="decoder layer, -1 the last (default: the run's choice)")
    parser.add_argument("--head", type=_head, metavar="N|mean", help="head of the layer (default: the run's choice)")
    parser.add_argument("--shift", type=int, metavar="N", help="read N rows later (default: the run's choice)")
    parser.add_argument(
        "--threshold", type=_threshold, metavar="X", help="link all pairs of weight X or more, not the best per word"
    )
    parser.add_argument("--reverse", type=Path, metavar="RUN2", help="a run of the opposite direction")
    parser.add_argument(
        "--symmetrize", choices=RULES, metavar="RULE", help=f"with --reverse: {', '.join(RULES)} (default: grow-diag)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check what can be checked before a model is loaded, then align and write."""
    from nmt.align.export import write_export
    from nmt.data.corpus import count_lines
    from nmt.progress import progress

    if arguments.symmetrize and not arguments.reverse:
        raise UserError("--symmetrize needs --reverse RUN2, a run of the opposite direction")
    given = _given_pairs(arguments.source, arguments.target)
    import nmt

    translator = nmt.load(arguments.model, arguments.overrides)
    alignment = _chosen(arguments, translator.alignment)
    linker = _linker(arguments.threshold)
    reverse = nmt.load(arguments.reverse) if arguments.reverse else None
    with progress("aligning", unit="lines", total=count_lines(arguments.source)) as bar:
        if given is None:
            records = _own_translations(translator, alignment, arguments.source, linker, bar.advance)
        else:
            records = bar.over(_records(translator, alignment, given, linker))
        if reverse is not None:
            records = _symmetrized(records, reverse, arguments.symmetrize or _DEFAULT_RULE, linker)
        write_export(arguments.format, arguments.output, records, _header(arguments, translator, alignment))
    return 0


def _threshold(text: str) -> float:
    try:
        threshold = float(text)
    except ValueError:
        threshold = 0.0
    if not 0 < threshold <= 1:
        raise argparse.ArgumentTypeError(f"{text} must be a number above 0 and at most 1")
    return threshold


def _head(text: str) -> int | str:
    if text != "mean" and not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} must be the number of a head, from 0, or `mean`")
    return text if text == "mean" else int(text)


def _chosen(arguments: argparse.Namespace, alignment: AlignmentConfig) -> AlignmentConfig:
    """The weights that the flags ask for; what they leave open is the run's choice."""
    head = alignment.head if arguments.head is None else arguments.head
    return replace(
        alignment,
        layer=alignment.layer if arguments.layer is None else arguments.layer,
        head=None if head == "mean" else head,
        shift=alignment.shift if arguments.shift is None else arguments.shift,
    )


def _given_pairs(source: Path, target: Path | None) -> Iterator[tuple[str, str]] | None:
    from nmt.data.corpus import count_lines, read_pairs

    if target is None:
        count_lines(source)  # a file that cannot be read is told of before the model is loaded
        return None
    return read_pairs(source, target)


def _own_translations(
    translator: Translator, alignment: AlignmentConfig, source: Path, linker: Linker, advance: Callable[[int], None]
) -> Iterator[Record]:
    from nmt.align.pipeline import translation_records
    from nmt.data.corpus import read_lines

    lines, first = read_lines(source), 0
    while chunk := list(islice(lines, _LINES_AT_ONCE)):
        found = translator.translate(chunk, weights=True, advance=advance)
        yield from translation_records(translator, chunk, found, alignment, linker=linker, first=first)
        first += len(chunk)


def _linker(threshold: float | None) -> Linker:
    from nmt.align.links import argmax_links, threshold_links

    return argmax_links if threshold is None else partial(threshold_links, threshold=threshold)


def _records(
    translator: Translator, alignment: AlignmentConfig, pairs: Iterator[tuple[str, str]], linker: Linker
) -> Iterator[Record]:
    from nmt.align.pipeline import align_records

    return align_records(
        translator,
        pairs,
        layer=alignment.layer,
        head=alignment.head,
        shift=alignment.shift,
        linker=linker,
    )


def _symmetrized(records: Iterator[Record], reverse: Translator, rule: Rule, linker: Linker) -> Iterator[Record]:
    from nmt.align.pipeline import symmetrize_records

    own = reverse.alignment
    return symmetrize_records(records, reverse, rule, layer=own.layer, head=own.head, shift=own.shift, linker=linker)


def _header(arguments: argparse.Namespace, translator: Translator, alignment: AlignmentConfig) -> Header:
    from nmt.align.pipeline import describe

    links = "argmax" if arguments.threshold is None else f"weight >= {arguments.threshold}"
    if arguments.reverse:
        links += f", {arguments.symmetrize or _DEFAULT_RULE} with {arguments.reverse.resolve().name}"
    return describe(translator, alignment, links=links)
