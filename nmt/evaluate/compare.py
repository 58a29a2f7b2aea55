"""Whether systems differ by more than chance: paired bootstrap (Koehn 2004) by sacrebleu, on the same sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from nmt.errors import UserError
from nmt.evaluate.scores import check_lines, interval


@dataclass(frozen=True)
class Compared:
    """One metric of one system: score, 95 % bootstrap interval, and p-value of the difference to the first system.

    The first itself has no p-value.
    """

    score: float
    low: float
    high: float
    p_value: float | None

    def __str__(self) -> str:
        p_value = "" if self.p_value is None else f" p={self.p_value:.4f}"
        return f"{self.score:.2f} [{self.low:.2f}, {self.high:.2f}]{p_value}"


@dataclass(frozen=True)
class Comparison:
    """Several systems on one test set. The first is the baseline that the others are held against.

    systems: names in the given order; scores[metric] has a `Compared` for each; signatures[metric] is sacrebleu's;
    metrics are called "bleu", "chrf" and "ter".
    """

    systems: tuple[str, ...]
    scores: dict[str, tuple[Compared, ...]]
    signatures: dict[str, str]
    lines: int

    def __str__(self) -> str:
        head = ["system", *self.signatures]
        rows = [[name, *(str(column[i]) for column in self.scores.values())] for i, name in enumerate(self.systems)]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (head, *rows)]
        return "\n".join([*table, *map("  ".join, self.signatures.items()), f"{self.lines} lines, paired bootstrap"])

    def as_dict(self) -> dict[str, Any]:
        """{"systems": [{"name", "bleu": {"score", "low", "high", "p_value"}, ...}], "signatures": {...}, "lines"}."""
        systems = [
            {"name": name} | {metric: vars(column[i]) for metric, column in self.scores.items()}
            for i, name in enumerate(self.systems)
        ]
        return {"systems": systems, "signatures": self.signatures, "lines": self.lines}


def compare(systems: Sequence[tuple[str, Sequence[str]]], references: Sequence[Sequence[str]]) -> Comparison:
    """Compare (name, hypotheses) of at least two systems; the first is the baseline. References as for `evaluate`.

    UserError: fewer than two systems; a number of lines that differs from the references'.
    """
    if len(systems) < 2:
        raise UserError("a comparison needs at least two systems")
    for name, hypotheses in systems:
        check_lines(hypotheses, references, name)
    # Metrics that are given the references keep what they count in them; else each system would count anew.
    metrics = {
        "bleu": BLEU(references=references),
        "chrf": CHRF(references=references),
        "ter": TER(references=references),
    }
    signatures, results = PairedTest(list(systems), metrics, references=None, test_type="bs")()
    # The answer names the metrics its own way (chrF2), in the order in which they were given; "System" comes first.
    columns = [column for name, column in results.items() if name != "System"]
    return Comparison(
        systems=tuple(name for name, _ in systems),
        scores={
            key: tuple(_compared(c, column[0]) for c in column) for key, column in zip(metrics, columns, strict=True)
        },
        signatures={key: str(text) for key, text in zip(metrics, signatures.values(), strict=True)},
        lines=len(references[0]),
    )


def _compared(result: Any, baseline: Any) -> Compared:
    low, high = interval(result)
    p_value = None if result.p_value is None else float(result.p_value)
    if p_value is not None and (result.score, low, high) == (baseline.score, *interval(baseline)):
        # Equal in every sample: sacrebleu counts those that differ by *more* than 0, and would call that significant.
        p_value = 1.0
    return Compared(float(result.score), low, high, p_value)
