"""`nmt evaluate`: sacrebleu's scores of a run, or of translations that are there already."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.data.pharaoh import Links
    from nmt.evaluate.compare import Comparison
    from nmt.evaluate.scores import Scores

SUMMARY = "BLEU, chrF and TER of a run or of finished translations"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "nmt evaluate RUN [--source FILE --reference FILE ...] [--json] [KEY=VALUE ...]\n"
        "       nmt evaluate --hypothesis FILE ... --reference FILE ... [--json]"
    )
    parser.epilog = (
        "Scores come with sacrebleu's signature and a 95 %% bootstrap interval; of TER, less is better. Text is "
        "detokenised and cased. A run's own test set with gold word links (data.test.links) has an alignment error "
        "rate too. Several hypotheses are compared with the first one by paired bootstrap."
    )
    parser.add_argument(
        "run", nargs="?", type=Path, metavar="RUN", help="directory of a trained model, to translate with"
    )
    parser.add_argument("--source", type=Path, metavar="FILE", help="what RUN translates; its own test set by default")
    parser.add_argument(
        "--hypothesis", type=Path, nargs="+", action="extend", metavar="FILE", help="translations, one file a system"
    )
    parser.add_argument(
        "--reference", type=Path, nargs="+", action="extend", metavar="FILE", help="one file a reference translation"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def run(arguments: argparse.Namespace) -> int:
    if (arguments.run is None) == (arguments.hypothesis is None):
        raise UserError("evaluate takes a RUN or --hypothesis, one of the two")
    result = _score_files(arguments) if arguments.run is None else _score_run(arguments)
    print(json.dumps(result.as_dict(), ensure_ascii=False, indent=2) if arguments.json else result)
    return 0


def _score_run(arguments: argparse.Namespace) -> Scores:
    from dataclasses import replace

    from nmt import load
    from nmt.align.error import alignment_error
    from nmt.evaluate.scores import evaluate
    from nmt.progress import progress

    # Everything that can be wrong with the text is known before the model is loaded and translates.
    given = arguments.source or arguments.reference
    lines, references, gold = (*_given_text(arguments), None) if given else _test_set(arguments.run)
    translator = load(arguments.run, arguments.overrides)
    with progress("translating", unit="lines", total=len(lines)) as bar:
        translations = translator.translate(lines, advance=bar.advance)
    scores = evaluate([translation.text for translation in translations], references, confidence=True)
    if gold is None:
        return scores
    pairs = zip(lines, references[0], strict=True)
    return replace(scores, aer=alignment_error(translator, pairs, gold, translator.alignment))


def _given_text(arguments: argparse.Namespace) -> tuple[list[str], list[list[str]]]:
    if arguments.source is None or arguments.reference is None:
        raise UserError("--source and --reference go together; without both, the test set of the run's data is scored")
    (lines,), references = _read([arguments.source], arguments.reference)
    return lines, references


def _test_set(run: Path) -> tuple[list[str], list[list[str]], list[Links] | None]:
    """The sources, references and, where they are known, gold links of the run's own test set."""
    from nmt.data.parts import has_part, part_links, part_pairs
    from nmt.run import Run

    data = Run.open(run).config().data
    if not has_part(data, "test"):
        raise UserError(f"{run}: its data has no test set; give --source and --reference")
    pairs = list(part_pairs(data, "test"))
    return [source for source, _ in pairs], [[target for _, target in pairs]], part_links(data, "test")


def _score_files(arguments: argparse.Namespace) -> Scores | Comparison:
    from nmt.evaluate.compare import compare
    from nmt.evaluate.scores import evaluate

    if arguments.source is not None or arguments.overrides:
        raise UserError("--source and KEY=VALUE settings are for a RUN; --hypothesis is already translated")
    if arguments.reference is None:
        raise UserError("--hypothesis needs --reference")
    systems, references = _read(arguments.hypothesis, arguments.reference)
    if len(systems) == 1:
        return evaluate(systems[0], references, confidence=True)
    return compare(list(zip(map(str, arguments.hypothesis), systems, strict=True)), references)


def _read(systems: Sequence[Path], references: Sequence[Path]) -> tuple[list[list[str]], list[list[str]]]:
    """The lines of all files, which must be equally many and not none."""
    from nmt.data.lines import read_lines

    texts = [list(read_lines(path)) for path in (*systems, *references)]
    for path, text in zip((*systems, *references), texts, strict=True):
        if not text:
            raise UserError(f"{path} has no lines: there is nothing to score")
        if len(text) != len(texts[0]):
            raise UserError(f"{systems[0]} has {len(texts[0])} lines but {path} has {len(text)}")
    return texts[: len(systems)], texts[len(systems) :]
