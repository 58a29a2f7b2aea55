"""`nmt translate RUN [FILE ...]`: a filter, line for line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice, starmap
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from nmt.search.hypothesis import Hypothesis
    from nmt.translator import Translation, Translator

SUMMARY = "translate lines: files or stdin to stdout"
LINES_AT_ONCE = 1000  # read, sorted by length, translated and written together


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, the files, and what is written."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a trained run")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="text to translate; without any, stdin")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="write here instead of stdout")
    parser.add_argument("--nbest", type=int, default=1, metavar="N", help="hypotheses a line, at most search.beam_size")
    parser.add_argument(
        "--format",
        choices=("text", "jsonl"),
        default="text",
        help="text: N lines a line; jsonl: one object a hypothesis, with scores, tokens and links",
    )


def run(arguments: argparse.Namespace) -> int:
    """Translate what is read, a thousand lines at a time."""
    import nmt
    from nmt.data.files import open_whole
    from nmt.data.lines import decode_lines, open_binary
    from nmt.progress import progress

    with ExitStack() as open_files:
        # Opened once, before the model is loaded: what cannot be read is told at once, and a pipe is read but once.
        inputs = [(open_files.enter_context(open_binary(file)), str(file)) for file in arguments.files]
        lines = chain.from_iterable(starmap(decode_lines, inputs or [(sys.stdin.buffer, "stdin")]))
        translator = nmt.load(arguments.run, arguments.overrides)
        out = open_files.enter_context(open_whole(arguments.output)) if arguments.output else sys.stdout.buffer
        total = count_all(arguments.files)
        with progress("translating", unit="lines", total=total, shown=not shares_terminal(arguments)) as bar:
            jsonl = arguments.format == "jsonl"
            write_all(translator, lines, out, nbest=arguments.nbest, jsonl=jsonl, advance=bar.advance)
    return 0


def count_all(files: Sequence[Path]) -> int | None:
    """The lines of all files; None for stdin and for pipes, which can be read but once."""
    from nmt.data.lines import count_lines

    return sum(map(count_lines, files)) if files and all(file.is_file() for file in files) else None


def shares_terminal(arguments: argparse.Namespace) -> bool:
    """Whether lines are typed, or translations appear, where a bar would be."""
    return (not arguments.files and sys.stdin.isatty()) or (arguments.output is None and sys.stdout.isatty())


def write_all(
    translator: Translator,
    lines: Iterator[str],
    out: BinaryIO,
    *,
    nbest: int,
    jsonl: bool,
    advance: Callable[[int], None],
) -> None:
    """Every line's translation to `out`, in order; notes about a line go to stderr."""
    from nmt.progress import say

    first = 0
    while chunk := list(islice(lines, LINES_AT_ONCE)):
        found = translator.translate(chunk, nbest=nbest, advance=advance)
        for index, one in enumerate(found, start=first):
            for note in one.notes:
                say(f"line {index + 1}: {note}")
        written = json_lines(translator, chunk, found, first) if jsonl else text_lines(translator, found, nbest)
        out.writelines(f"{line}\n".encode() for line in written)
        out.flush()
        first += len(chunk)


def text_lines(translator: Translator, found: list[Translation], nbest: int) -> Iterator[str]:
    """`nbest` lines a line, best first; empty ones where there are fewer hypotheses."""
    for one in found:
        texts = [translator.target_tokenizer.decode(hypothesis.tokens) for hypothesis in one.hypotheses]
        yield from (texts + [""] * nbest)[:nbest]


def json_lines(translator: Translator, lines: list[str], found: list[Translation], first: int) -> Iterator[str]:
    """One object a hypothesis (a blank line has one without score): index (from 0), source, translation, score,
    log_prob, tokens, token_log_probs (EOS's at the end), links (source-target words, from 0), notes."""
    from nmt.align.extract import chosen_view
    from nmt.align.pipeline import translation_records
    from nmt.data.pharaoh import format_links

    views = [chosen_view(translator, translator.alignment)]
    records = translation_records(translator, lines, found, views, first=first)
    for one in found:
        for hypothesis in one.hypotheses or (None,):
            record = next(records)
            entry = {"index": record.index, "source": record.source, "translation": record.target}
            rest = {"links": format_links(record.links), "notes": list(one.notes)}
            yield json.dumps({**entry, **scores(translator, hypothesis), **rest}, ensure_ascii=False)


def scores(translator: Translator, hypothesis: Hypothesis | None) -> dict[str, object]:
    """What search knows of a hypothesis."""
    if hypothesis is None:
        return {"score": None, "log_prob": None, "tokens": [], "token_log_probs": []}
    return {
        "score": hypothesis.score,
        "log_prob": hypothesis.log_prob,
        "tokens": translator.target_tokenizer.pieces(hypothesis.tokens),
        "token_log_probs": list(hypothesis.token_log_probs),
    }
