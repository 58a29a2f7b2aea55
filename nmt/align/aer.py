"""Alignment error rate against gold links with sure and possible ones (Och & Ney 2003, section 3).

With A the predicted links, S the sure and P the possible ones (S is part of P):
precision = |A & P| / |A|, recall = |A & S| / |S|, AER = 1 - (|A & S| + |A & P|) / (|A| + |S|).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from nmt.align.links import Link
from nmt.data.pharaoh import Links


@dataclass(frozen=True)
class AlignmentScore:
    """Fractions between 0 and 1 (for AER less is better), the number of sentences and of predicted links.

    A share of nothing counts as 1: without predicted links nothing is wrong, without sure links nothing is missing.
    """

    precision: float
    recall: float
    f1: float
    aer: float
    lines: int
    links: int

    def __str__(self) -> str:
        return (
            f"precision  {self.precision:.4f}\nrecall     {self.recall:.4f}\nF1         {self.f1:.4f}\n"
            f"AER        {self.aer:.4f}\nlines      {self.lines}\nlinks      {self.links}"
        )


def aer(gold: Sequence[Links], predicted: Sequence[AbstractSet[Link]]) -> AlignmentScore:
    """Score a corpus: the counts of all sentences are summed before anything is divided."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} sentences of gold links, but {len(predicted)} of predicted links")
    said = sure = said_sure = said_possible = 0
    for links, line in zip(predicted, gold, strict=True):
        said += len(links)
        sure += len(line.sure)
        said_sure += len(links & line.sure)
        said_possible += len(links & line.possible)
    precision, recall = _share(said_possible, said), _share(said_sure, sure)
    return AlignmentScore(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        aer=1 - _share(said_sure + said_possible, said + sure),
        lines=len(gold),
        links=said,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
