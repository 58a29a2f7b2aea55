"""The table of a comparison: for people, as Markdown and as CSV.

table.csv has a row a kind: the varied keys, then `seeds` and `failed` (how many), `bleu`, `bleu_low`, `bleu_high`,
`chrf`, `aer`, `entropy`, `tokens_per_second`, `parameters` (means over the seeds), `bleu_least` and `bleu_most` (of
several seeds). bleu_by_length.csv has a row a kind and bin: the varied keys, `words` (of the source), `sentences`,
`bleu`. What is not known is empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from nmt.compare.kinds import Kind
from nmt.compare.lengths import Bin

UNKNOWN = "\u2013"
MEANS = {  # column of table.csv: number of a run
    "bleu": "bleu",
    "bleu_low": "low",
    "bleu_high": "high",
    "chrf": "chrf",
    "aer": "aer",
    "entropy": "entropy",
    "tokens_per_second": "tokens_per_second",
    "parameters": "parameters",
}
NOTES = (
    "All numbers are means over a kind's seeds. BLEU [low, high]: the 95 % interval of the bootstrap over the test "
    "set (it says nothing of seeds); seeds from-to: the lowest and the highest BLEU of the seeds.",
    "AER: alignment error rate of the attention that reads the references (less is better); which weights are read is "
    "`alignment` in the configuration.",
    "entropy: of the weights with which a word of the translation reads the source, in nats; the mean over words. A "
    "word's row is the mean of its pieces', and of many heads the mean that `alignment` names: neither is one head's.",
    "tokens/s: target tokens in training, the median; of this machine, with all else that ran on it.",
)


def varied_keys(kinds: Sequence[Kind]) -> list[str]:
    """Every key that some kind sets, in order."""
    return list(dict.fromkeys(key for kind in kinds for key, _ in kind.settings))


def text_rows(kinds: Sequence[Kind]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells as people read them. The seeds' range has a column where a kind has several seeds."""
    keys = varied_keys(kinds)
    several = any(kind.spread() for kind in kinds)
    spread = ["seeds from-to"] if several else []
    heads = [*keys, "seeds", "BLEU", *spread, "chrF", "AER", "entropy", "tokens/s", "parameters"]
    return heads, [_text_row(kind, keys, several) for kind in kinds]


def markdown(kinds: Sequence[Kind]) -> str:
    """The table as Markdown, its columns aligned so that it can be read as it stands."""
    heads, rows = text_rows(kinds)
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    words = len(varied_keys(kinds))  # so many columns hold words; the others hold numbers, and go to the right
    rule = ["-" * width if place < words else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    forms = [f"<{width}" if place < words else f">{width}" for place, width in enumerate(widths)]
    padded = [list(map(format, line, forms)) for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in (padded[0], rule, *padded[1:]))


def table_csv(kinds: Sequence[Kind]) -> str:
    """A row a kind; the module says which columns."""
    keys = varied_keys(kinds)
    rows: list[list[object]] = [[*keys, "seeds", "failed", *MEANS, "bleu_least", "bleu_most"]]
    for kind in kinds:
        means = [kind.mean(name) for name in MEANS.values()]
        rows.append([*_settings(kind, keys), len(kind.seeds), kind.failed, *means, *(kind.spread() or (None, None))])
    return _csv(rows)


def lengths_csv(kinds: Sequence[Kind], bins: Sequence[Bin]) -> str:
    """A row a kind and bin; the module says which columns."""
    keys = varied_keys(kinds)
    rows: list[list[object]] = [[*keys, "words", "sentences", "bleu"]]
    for kind in kinds:
        for one, score in zip(bins, kind.mean_by_length(), strict=False):
            rows.append([*_settings(kind, keys), str(one), one.sentences, score])
    return _csv(rows)


def _text_row(kind: Kind, keys: Sequence[str], several: bool) -> list[str]:
    seeds = str(len(kind.seeds)) + (f" ({kind.failed} failed)" if kind.failed else "")
    spread = kind.spread()
    ranges = [UNKNOWN if spread is None else f"{spread[0]:.1f}-{spread[1]:.1f}"] if several else []
    return [
        *_settings(kind, keys),
        seeds,
        _bleu(kind),
        *ranges,
        _number(kind.mean("chrf"), ".1f"),
        _number(kind.mean("aer"), ".3f"),
        _number(kind.mean("entropy"), ".2f"),
        _number(kind.mean("tokens_per_second"), ",.0f"),
        _number(kind.mean("parameters"), ",.0f"),
    ]


def _bleu(kind: Kind) -> str:
    if not kind.measured:
        return "failed"
    return f"{kind.mean('bleu'):.1f} [{kind.mean('low'):.1f}, {kind.mean('high'):.1f}]"


def _number(value: float | None, form: str) -> str:
    return UNKNOWN if value is None else format(value, form)


def _settings(kind: Kind, keys: Sequence[str]) -> list[str]:
    """The kind's values, empty where it leaves a key as the experiment has it."""
    return [dict(kind.settings).get(key, "") for key in keys]


def _csv(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
