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
    """Fractions between 0 and 1 (for AER less is better), and the counts that they are made of.

    `lines` sentences have `links` predicted links, |A|, and `sure` sure ones, |S|; `sure_found` is |A & S| and
    `possible_found` |A & P|. A share of nothing counts as 1: without predicted links nothing is wrong, without
    sure links nothing is missing.
    """

    precision: float
    recall: float
    f1: float
    aer: float
    lines: int
    links: int
    sure: int
    sure_found: int
    possible_found: int

    def __str__(self) -> str:
        return (
            f"precision  {self.precision:.4f}\nrecall     {self.recall:.4f}\nF1         {self.f1:.4f}\n"
            f"AER        {self.aer:.4f}\nlines      {self.lines}\nlinks      {self.links}"
        )


def aer(gold: Sequence[Links], predicted: Sequence[AbstractSet[Link]]) -> AlignmentScore:
    """Score a corpus: the counts of all sentences are summed before anything is divided."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} sentences of gold links, but {len(predicted)} of predicted links")
    links = sum(map(len, predicted))
    sure = sum(len(line.sure) for line in gold)
    sure_found = sum(len(found & line.sure) for found, line in zip(predicted, gold, strict=True))
    possible_found = sum(len(found & line.possible) for found, line in zip(predicted, gold, strict=True))
    precision, recall = _share(possible_found, links), _share(sure_found, sure)
    return AlignmentScore(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        aer=1 - _share(sure_found + possible_found, links + sure),
        lines=len(gold),
        links=links,
        sure=sure,
        sure_found=sure_found,
        possible_found=possible_found,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
