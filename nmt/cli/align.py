"""`nmt align RUN --source F [--target F] -o OUT`: word alignments of given pairs, or of the run's own translations.

With --select it ranks the layers and heads that could be the alignment instead, with --faithfulness it measures how
far attention explains what the model predicts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.align.links import Linker
    from nmt.align.pipeline import Reader
    from nmt.align.record import Header, Record, View
    from nmt.config import AlignmentConfig
    from nmt.data.pharaoh import Links
    from nmt.translator import Translator

SUMMARY = "word alignments by a run's attention, or by attribution"
MEAN = "mean"
MEAN_THRESHOLD = 0.4  # chosen on the Danish-English treebank (RESULTS.md)
_LINES_AT_ONCE = 1024
# The flags of each mode, besides --source and --target.
_FLAGS = {
    "align": {"output", "format", "method", "layer", "head", "shift", "all_heads", "raw"}
    | {"links", "threshold", "reverse", "symmetrize"},
    "select": {"gold", "reverse", "record"},
    "faithfulness": {"output"},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    from nmt.align.export import FORMATS
    from nmt.align.links import DEFAULT_RULE, LINKERS, RULES
    from nmt.config import AlignmentMethod

    parser.usage = (
        "nmt align RUN ... --source FILE [--target FILE] -o OUT [options] [KEY=VALUE ...]\n"
        "       nmt align RUN --select --source FILE --target FILE (--gold FILE | --reverse RUN2) [--record]\n"
        "       nmt align RUN --faithfulness --source FILE --target FILE -o OUT"
    )
    parser.add_argument(
        "models", type=Path, nargs="+", metavar="RUN", help="a run directory; several: with --symmetrize mean"
    )
    parser.add_argument("--source", type=Path, required=True, help="source lines")
    parser.add_argument("--target", type=Path, help="target lines; without it the run's own translations are aligned")
    parser.add_argument("-o", "--output", type=Path, help="the file to write")
    parser.add_argument("--format", choices=FORMATS, help="default: pharaoh")
    parser.add_argument(
        "--method",
        choices=get_args(AlignmentMethod),
        action="append",
        metavar="M",
        help=f"{', '.join(get_args(AlignmentMethod))} (default: the run's choice); may be repeated: the first makes "
        "the links, the others are further views in an npz",
    )
    parser.add_argument("--layer", type=int, metavar="N", help="decoder layer, -1 the last (default: the run's choice)")
    parser.add_argument("--head", type=_head, metavar="N|mean", help="head of the layer (default: the run's choice)")
    parser.add_argument(
        "--shift",
        type=int,
        metavar="N",
        help="0: a word's own row, 1: the next (default: the run's)",
    )
    parser.add_argument("--all-heads", action="store_true", help="all heads of all layers as further views in an npz")
    parser.add_argument("--raw", action="store_true", help="signed values of attributions as further views in an npz")
    rules = parser.add_mutually_exclusive_group()
    rules.add_argument("--links", choices=tuple(LINKERS), help="how weights become links (default: argmax)")
    rules.add_argument(
        "--threshold", type=_threshold, metavar="X", help="link all pairs of weight X or more, not the best per word"
    )
    parser.add_argument(
        "--reverse",
        type=Path,
        nargs="+",
        default=[],
        metavar="RUN2",
        help="a run of the opposite direction, or several",
    )
    parser.add_argument(
        "--symmetrize",
        choices=(*RULES, MEAN),
        metavar="RULE",
        help="how the links of both directions become one set: "
        f"{', '.join(RULES)} (default: {DEFAULT_RULE}); or {MEAN}: links by the mean of all runs' weights over words "
        f"(unless said otherwise, of {MEAN_THRESHOLD} or more)",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--select",
        action="store_true",
        help="rank layers, heads and shifts of attention by the error rate of their links on --gold, or by how well "
        "the links of RUN and RUN2 agree",
    )
    mode.add_argument(
        "--faithfulness",
        action="store_true",
        help="a line a pair: rank correlation of attention with the effect of leaving a source word out",
    )
    parser.add_argument(
        "--gold",
        type=Path,
        help="with --select: gold links of the pairs. Give a development part: what is scored later must not choose",
    )
    parser.add_argument(
        "--record", action="store_true", help="with --select: the best becomes the choice of the run(s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check what can be checked before a model is loaded, then do what the mode says."""
    mode = "select" if arguments.select else "faithfulness" if arguments.faithfulness else "align"
    _check_flags(arguments, mode)
    _check_directions(arguments)
    {"align": _align, "select": _select, "faithfulness": _faithfulness}[mode](arguments)
    return 0


def _check_flags(arguments: argparse.Namespace, mode: str) -> None:
    for flag in sorted(set().union(*_FLAGS.values()) - _FLAGS[mode]):
        given = getattr(arguments, flag)
        if given is not None and given is not False and given != []:
            name = f"--{flag.replace('_', '-')}"
            raise UserError(f"{name} needs --select" if mode == "align" else f"{name} does not go with --{mode}")
    if mode != "align" and arguments.target is None:
        raise UserError(f"--{mode} needs --target, the other side of the pairs")
    if mode != "select" and arguments.output is None:
        raise UserError("-o OUT is missing: the file to write")
    if mode == "select" and (arguments.gold is None) == (not arguments.reverse):
        raise UserError("--select needs --gold LINKS or --reverse RUN2, one of the two")
    several = {"method": len(arguments.method or ()) > 1, "all-heads": arguments.all_heads, "raw": arguments.raw}
    for name, asked in several.items():
        if asked and arguments.format != "npz":
            raise UserError(f"--{name}: further views are kept by --format npz alone")
    several_runs = len(arguments.models) > 1 or len(arguments.reverse) > 1
    if arguments.symmetrize and not (arguments.reverse or several_runs):
        raise UserError("--symmetrize needs --reverse RUN2, a run of the opposite direction")
    if several_runs and arguments.symmetrize != MEAN:
        raise UserError("several runs of a direction are joined by --symmetrize mean alone")
    if arguments.symmetrize == MEAN and sum(several.values()):
        raise UserError("--symmetrize mean has one view, the mean: leave out further ones")


def _check_directions(arguments: argparse.Namespace) -> None:
    """UserError where a run does not translate as the first one does or, of --reverse, the other way."""
    from nmt.run import Run

    first, *others = arguments.models
    if not (others or arguments.reverse):
        return
    languages = Run.open(first).languages()
    for group, wanted in ((others, languages), (arguments.reverse, languages[::-1])):
        for path in group:
            Run.open(path).check_beside(wanted)


def _align(arguments: argparse.Namespace) -> None:
    import nmt
    from nmt.align.export import write_export
    from nmt.align.links import DEFAULT_RULE
    from nmt.align.pipeline import align_records, mean_records, symmetrize_records
    from nmt.data.lines import count_lines
    from nmt.progress import progress

    given = _given_pairs(arguments.source, arguments.target)
    translator, *others = [nmt.load(run, arguments.overrides) for run in arguments.models]
    views, linker = _views(arguments, translator), _linker(arguments)
    reverse = [nmt.load(run, arguments.overrides) for run in arguments.reverse]
    with progress("aligning", unit="lines", total=count_lines(arguments.source)) as bar:
        if given is None:
            records = _own_translations(translator, views, arguments.source, linker, bar.advance)
        else:
            records = bar.over(align_records(translator, given, views, linker))
        readers = _readers(arguments, others, reverse)
        if arguments.symmetrize == MEAN:
            records = mean_records(records, readers, linker)
        elif reverse:
            rule = arguments.symmetrize or DEFAULT_RULE
            records = symmetrize_records(records, reverse[0], readers[0].view, rule, linker)
        header = _header(arguments, translator, views, readers)
        write_export(arguments.format or "pharaoh", arguments.output, records, header)


def _select(arguments: argparse.Namespace) -> None:
    """A table of the candidates on stdout, best first, and what is chosen."""
    import nmt
    from nmt.align.select import check_free, check_ranked, keep_choice, rank_by_agreement, rank_by_gold
    from nmt.data.lines import read_pairs
    from nmt.progress import say
    from nmt.run import Run

    pairs = list(read_pairs(arguments.source, arguments.target))
    table: list[tuple[str, ...]]
    gold = None if arguments.gold is None else _gold(arguments.gold, pairs)
    translator = nmt.load(arguments.models[0], arguments.overrides)
    reverse = [nmt.load(run, arguments.overrides) for run in arguments.reverse]
    for path, each in zip((arguments.models[0], *arguments.reverse), (translator, *reverse), strict=True):
        check_ranked(path, each.alignment)
        if arguments.record:
            check_free(Run(path))
    if gold is not None:
        scored = rank_by_gold(translator, pairs, gold)
        chosen = {arguments.models[0]: scored[0].view}
        table = [("AER", "F1", "layer", "head", "shift")]
        table += [(f"{one.score.aer:.4f}", f"{one.score.f1:.4f}", *_columns(one.view)) for one in scored]
    else:
        agreeing = rank_by_agreement(translator, reverse[0], pairs)
        chosen = {arguments.models[0]: agreeing[0].view, arguments.reverse[0]: agreeing[0].reverse}
        table = [("agreement", "layer", "head", "shift", "reverse_layer", "reverse_head", "reverse_shift")]
        table += [(f"{one.agreement:.4f}", *_columns(one.view), *_columns(one.reverse)) for one in agreeing]
    _print_table(table)
    by = arguments.gold or f"the agreement with {arguments.reverse[0]}"
    print(f"chosen on {arguments.source}, {arguments.target} by {by}")
    for run, view in chosen.items():
        if arguments.record:
            keep_choice(Run(run), view)
        print(f"{run}: {view}{', recorded' * arguments.record}")
        if arguments.record and Run(run).alignment.is_file():
            export = Run(run).alignment
            say(f"{export} is of the choice before: nmt align {run} --source F --format npz -o {export} makes it anew")


def _faithfulness(arguments: argparse.Namespace) -> None:
    """A JSON object a pair: `index` from 0, `tau`, `agreement` (null where nothing can be compared); and a summary."""
    import json

    import nmt
    from nmt.align.extract import chosen_view
    from nmt.align.faithfulness import compare, summarise
    from nmt.align.pipeline import align_records
    from nmt.data.files import open_whole
    from nmt.data.lines import count_lines, read_pairs
    from nmt.progress import progress

    pairs = read_pairs(arguments.source, arguments.target)
    translator = nmt.load(arguments.models[0], arguments.overrides)
    views = [chosen_view(translator, replace(translator.alignment, method=name)) for name in ("attention", "erasure")]
    found = []
    with (
        progress("comparing", unit="lines", total=count_lines(arguments.source)) as bar,
        open_whole(arguments.output) as stream,
    ):
        for record in bar.over(align_records(translator, pairs, views)):
            one = compare(record.words(0), record.words(1))
            found.append(one)
            figures = {"tau": one and one.tau, "agreement": one and one.agreement}
            stream.write((json.dumps({"index": record.index, **figures}) + "\n").encode())
    print(f"{views[0]} against erasure")
    print(summarise(found))


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


def _views(arguments: argparse.Namespace, translator: Translator) -> list[View]:
    """What the flags ask for, view 0 first; what they leave open is the run's choice."""
    from nmt.align.extract import AS_THEY_ARE, all_views, chosen_view

    alignment = _chosen(arguments, translator.alignment)
    methods = dict.fromkeys(arguments.method or [alignment.method])
    flags = [flag for flag in ("layer", "head", "shift") if getattr(arguments, flag) is not None]
    if flags and "attention" not in methods:
        raise UserError(f"--{flags[0]} is of attention, and the method is {', '.join(methods)}: add --method attention")
    views = [chosen_view(translator, replace(alignment, method=method)) for method in methods]
    if arguments.all_heads:
        heads = all_views(translator, (alignment.shift,))
        views += [view for view in heads if view.head is not None and view not in views]
    if arguments.raw:
        views += [view._replace(raw=True) for view in views if view.method not in AS_THEY_ARE]
    return views


def _chosen(arguments: argparse.Namespace, alignment: AlignmentConfig) -> AlignmentConfig:
    head = alignment.head if arguments.head is None else arguments.head
    return replace(
        alignment,
        layer=alignment.layer if arguments.layer is None else arguments.layer,
        head=None if head == "mean" else head,
        shift=alignment.shift if arguments.shift is None else arguments.shift,
    )


def _other_view(arguments: argparse.Namespace, translator: Translator) -> View:
    """Of another run than the first: by the method that makes the links; all else is that run's choice."""
    from nmt.align.extract import chosen_view

    own = translator.alignment
    return chosen_view(translator, replace(own, method=arguments.method[0]) if arguments.method else own)


def _readers(arguments: argparse.Namespace, others: list[Translator], reverse: list[Translator]) -> list[Reader]:
    """All runs but the first."""
    from nmt.align.pipeline import Reader

    return [
        Reader(translator, _other_view(arguments, translator), back)
        for back, group in ((False, others), (True, reverse))
        for translator in group
    ]


def _given_pairs(source: Path, target: Path | None) -> Iterator[tuple[str, str]] | None:
    from nmt.data.lines import count_lines, read_pairs

    if target is None:
        count_lines(source)  # a file that cannot be read is told of before the model is loaded
        return None
    return read_pairs(source, target)


def _own_translations(
    translator: Translator, views: list[View], source: Path, linker: Linker, advance: Callable[[int], None]
) -> Iterator[Record]:
    from nmt.align.pipeline import translation_records
    from nmt.data.lines import read_lines

    lines, first = read_lines(source), 0
    while chunk := list(islice(lines, _LINES_AT_ONCE)):
        found = translator.translate(chunk, advance=advance)
        yield from translation_records(translator, chunk, found, views, linker, first)
        first += len(chunk)


def _linker(arguments: argparse.Namespace) -> Linker:
    from nmt.align.links import LINKERS, threshold_links

    least = _least_weight(arguments)
    return LINKERS[arguments.links or "argmax"] if least is None else partial(threshold_links, threshold=least)


def _least_weight(arguments: argparse.Namespace) -> float | None:
    """Of a link; None where links are not made by a threshold."""
    if arguments.threshold is None and arguments.symmetrize == MEAN and arguments.links is None:
        return MEAN_THRESHOLD
    threshold: float | None = arguments.threshold
    return threshold


def _header(arguments: argparse.Namespace, translator: Translator, views: list[View], readers: list[Reader]) -> Header:
    from nmt.align.links import DEFAULT_RULE
    from nmt.align.pipeline import describe
    from nmt.align.record import View

    least = _least_weight(arguments)
    links = arguments.links or "argmax" if least is None else f"weight >= {least}"
    others = [run.resolve().name for run in (*arguments.models[1:], *arguments.reverse)]
    if others:
        named = [f"{name} ({reader.view})" for name, reader in zip(others, readers, strict=True)]
        links += f", {arguments.symmetrize or DEFAULT_RULE} with {', '.join(named)}"
    if arguments.symmetrize == MEAN:
        methods = dict.fromkeys([views[0].method, *(reader.view.method for reader in readers)])
        views = [View(f"{' and '.join(methods)}, mean of {1 + len(others)} runs", 0, None, 0)]
    return describe(translator, views, links=links)


def _gold(path: Path, pairs: list[tuple[str, str]]) -> list[Links]:
    """Gold links of these pairs. UserError for another number of lines, and for a link to a word that is not there."""
    from nmt.data.pharaoh import check_inside, read_links
    from nmt.data.words import split_words

    gold = read_links(path)
    if len(gold) != len(pairs):
        raise UserError(f"{path} has links of {len(gold)} sentences, and there are {len(pairs)} pairs")
    if not any(links.possible for links in gold):
        raise UserError(f"{path} has no link: nothing to choose by")
    for number, (links, pair) in enumerate(zip(gold, pairs, strict=True), start=1):
        sources, targets = (len(split_words(line)) for line in pair)
        check_inside(links, sources, targets, f"{path}, line {number}")
    return gold


def _columns(view: View) -> tuple[str, str, str]:
    return str(view.layer), "mean" if view.head is None else str(view.head), str(view.shift)


def _print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
