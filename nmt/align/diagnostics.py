"""What matrices and links tell of a test set: how spread the reading is, what is left out, how far the order changes.

Everything is over words. The row of the target's EOS is left out everywhere; the column of the source's EOS counts
where a row is read. Pairs with a blank side tell nothing. Letters: T target, S source words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt.align.links import Link
from nmt.align.matrix import AlignmentMatrix
from nmt.align.signs import REPEATED, UNIFORM, UNREAD, row_shares, signs


class Diagnosis(NamedTuple):
    """One pair. `rows` is how many target words read anything; the means over them are None where none does.

    entropy: in nats. peak: greatest share of a row, eos: share of the source's EOS, both means over rows. unread,
    repeated: source words, uniform: target words (nmt/align/signs.py says which). steps: pairs of neighbouring linked
    target words, forward: those whose source does not go back. tau: see `order_tau`.
    """

    sources: int
    targets: int
    rows: int
    entropy: float | None
    peak: float | None
    eos: float | None
    unread: int
    repeated: int
    uniform: int
    forward: int
    steps: int
    tau: float | None

    @property
    def coverage(self) -> float | None:
        """The share of the source words that are read."""
        return 1 - self.unread / self.sources if self.rows else None


class Measure(NamedTuple):
    """A number of a test set with what it means; `value` is None where nothing could be counted."""

    name: str
    value: float | None
    unit: str
    meaning: str


def diagnose(matrix: AlignmentMatrix, links: AbstractSet[Link]) -> Diagnosis:
    """Of one pair and the links between its words."""
    sources, targets = len(matrix.source_words), len(matrix.target_words)
    shares = filled_shares(matrix)
    found = signs(matrix.weights)
    forward, steps = monotone_steps(links)
    return Diagnosis(
        sources=sources,
        targets=targets,
        rows=len(shares),
        entropy=float(found.entropy) if len(shares) else None,
        peak=float(shares.max(axis=1).mean()) if len(shares) else None,
        eos=float(shares[:, -1].mean()) if len(shares) else None,
        unread=int(found.unread),
        repeated=int(found.repeated),
        uniform=int(found.uniform),
        forward=forward,
        steps=steps,
        tau=order_tau(links),
    )


def filled_shares(matrix: AlignmentMatrix) -> NDArray[np.float64]:
    """[rows, S + 1]: for each target word that reads anything, how its reading is divided; none for a blank pair."""
    if not (matrix.source_words and matrix.target_words):
        return np.zeros((0, len(matrix.source_words) + 1))
    shares = row_shares(matrix.weights)
    return shares[shares.any(axis=1)]


def monotone_steps(links: AbstractSet[Link]) -> tuple[int, int]:
    """How many steps from a linked target word to the next linked one do not go back in the source, and of how many.

    A target word stands where the mean of its source words stands.
    """
    places: dict[int, list[int]] = {}
    for s, t in links:
        places.setdefault(t, []).append(s)
    means = [sum(places[t]) / len(places[t]) for t in sorted(places)]
    return sum(after >= before for before, after in pairwise(means)), max(len(means) - 1, 0)


def order_tau(links: AbstractSet[Link]) -> float | None:
    """Kendall's tau of the links' two orders: 1 the same, -1 reversed. None where it says nothing.

    Of the pairs of links with two source and two target words: those in the same order less those in opposite order,
    divided by all (without ties; Goodman and Kruskal's gamma).
    """
    pairs = np.array(sorted(links), dtype=np.int64).reshape(-1, 2)
    source, target = (np.sign(column[:, None] - column[None, :]) for column in pairs.T)
    orders = source * target
    counted = int(np.abs(orders).sum())
    return float(orders.sum() / counted) if counted else None


def weight_overlap(one: AlignmentMatrix, other: AlignmentMatrix) -> float | None:
    """The share of its reading that a target word has in common in both matrices: sum_s min(a_s, b_s), mean over words.

    None where they do not read something in equally many rows. ValueError for matrices of other words.
    """
    if (one.source_words, one.target_words) != (other.source_words, other.target_words):
        raise ValueError("only matrices over the same words can be compared")
    a, b = filled_shares(one), filled_shares(other)
    return float(np.minimum(a, b).sum(axis=1).mean()) if len(a) and len(a) == len(b) else None


def measures(diagnoses: Sequence[Diagnosis]) -> list[Measure]:
    """Of a test set. Words are counted over all pairs before anything is divided; tau is a mean over pairs."""
    read = [one for one in diagnoses if one.rows]
    sources, targets = sum(one.sources for one in read), sum(one.targets for one in read)
    unread = sum(one.unread for one in read)
    taus = [one.tau for one in diagnoses if one.tau is not None]
    return [
        Measure(
            "entropy",
            _mean_over_rows(read, [one.entropy for one in read]),
            "nats",
            "how spread the reading of a target word is: -\u03a3 share ln share, mean over target words; 0 where each "
            "reads one source word alone, ln(S + 1) where it reads S words and </s> alike",
        ),
        Measure(
            "greatest share",
            _percent(_mean_over_rows(read, [one.peak for one in read])),
            "%",
            "what the source word that is read most has of a target word's reading, mean over target words",
        ),
        Measure(
            "share of </s>",
            _percent(_mean_over_rows(read, [one.eos for one in read])),
            "%",
            "what the end of the source has of a target word's reading, mean over target words",
        ),
        Measure(
            "near uniform",
            _percent(_ratio(sum(one.uniform for one in read), targets)),
            "% of target words",
            f"whose entropy is at least {UNIFORM} of the largest possible",
        ),
        Measure(
            "coverage",
            _percent(_ratio(sources - unread, sources)),
            "% of source words",
            f"that are read: their shares, summed over the target words, come to {UNREAD} or more",
        ),
        Measure("never read", float(unread) if read else None, "source words", "the others, counted"),
        Measure(
            "read again and again",
            _percent(_ratio(sum(one.repeated for one in read), sources)),
            "% of source words",
            f"whose shares come to {REPEATED:g} or more",
        ),
        Measure(
            "forward steps",
            _percent(_ratio(sum(one.forward for one in diagnoses), sum(one.steps for one in diagnoses))),
            "% of steps",
            "from a linked target word to the next one, that do not go back in the source",
        ),
        Measure(
            "Kendall's tau",
            sum(taus) / len(taus) if taus else None,
            "-1 to 1",
            "of the links' order in source and target: 1 the same order, -1 reversed; mean over sentences",
        ),
    ]


def _mean_over_rows(read: Sequence[Diagnosis], means: Iterable[float | None]) -> float | None:
    total = sum(mean * one.rows for one, mean in zip(read, means, strict=True) if mean is not None)
    return _ratio(total, sum(one.rows for one in read))


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
