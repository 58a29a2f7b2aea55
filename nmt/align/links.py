"""From a matrix to links, and from two directions to one set of links.

A link is (source word, target word), both counted from 0. Links never point at EOS, and a word whose weights are all
zero has none. `LINKERS` are the ways from one matrix to links; `RULES` say how `symmetrize` makes one set of two. (The
mean of several models' matrices, which is linked as a whole: `nmt.align.pipeline.mean_records`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, get_args

import numpy as np

from nmt.align.matrix import AlignmentMatrix
from nmt.align.transport import transport_plan

Link = tuple[int, int]
Linker = Callable[[AlignmentMatrix], set[Link]]
Rule = Literal[
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "grow-diag-strict",
    "grow-diag-final-strict",
]
RULES: tuple[Rule, ...] = get_args(Rule)
DEFAULT_RULE: Rule = "grow-diag"

# A link carries at least this share of the most that the plan could move between two words.
TRANSPORT_SHARE = 0.4

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def argmax_links(matrix: AlignmentMatrix) -> set[Link]:
    """For each target word the source word with the greatest weight, the first of equals.

    EOS does not take part: a word that mostly reads EOS is linked to the best real word. A row of zeros makes no
    link. So every target word has at most one link, and a source word may have none or many.
    """
    words = matrix.weights[:-1, :-1]
    if not words.size:
        return set()
    best = words.argmax(axis=1)
    return {(int(s), t) for t, s in enumerate(best) if words[t, s] > 0}


def argmax_null_links(matrix: AlignmentMatrix) -> set[Link]:
    """As `argmax_links`, but EOS takes part: a target word that reads EOS more than any word gets no link."""
    best = matrix.weights.argmax(axis=1)
    return {(s, t) for s, t in argmax_links(matrix) if best[t] == s}


def mutual_links(matrix: AlignmentMatrix) -> set[Link]:
    """The pairs of words that are each other's best: s has the greatest weight of row t, and t of column s.

    EOS does not take part, the first of equals wins. Every word, source or target, has at most one link.
    """
    links = argmax_links(matrix)
    if not links:
        return links
    best = matrix.weights[:-1, :-1].argmax(axis=0)
    return {(s, t) for s, t in links if best[s] == t}


def transport_links(matrix: AlignmentMatrix) -> set[Link]:
    """The pairs of words between which the optimal transport plan moves much.

    The words of a side share a mass of 1 evenly; the weights say how cheap it is to move mass from one word to
    another. Much is `TRANSPORT_SHARE` of the most that can be moved, 1 / max(S, T). Unlike argmax this sees the whole
    sentence: a source word that everything reads a little cannot take all links, and a word may have several. Words
    that are read by none and words that read none take no part, nor does EOS. `nmt.align.transport` has the source.
    """
    words = np.maximum(matrix.weights[:-1, :-1], 0)
    targets, sources = np.flatnonzero(words.any(axis=1)), np.flatnonzero(words.any(axis=0))
    if not targets.size:
        return set()
    plan = transport_plan(words[np.ix_(targets, sources)])
    found = np.argwhere(plan * max(plan.shape) >= TRANSPORT_SHARE)
    links = ((int(sources[s]), int(targets[t])) for t, s in found)
    return {(s, t) for s, t in links if words[t, s] > 0}


def threshold_links(matrix: AlignmentMatrix, threshold: float) -> set[Link]:
    """All pairs of words whose weight is at least `threshold`, which is above 0."""
    if not threshold > 0:
        raise ValueError(f"a threshold for links must be above 0, not {threshold}")
    return {(int(s), int(t)) for t, s in np.argwhere(matrix.weights[:-1, :-1] >= threshold)}


LINKERS: Mapping[str, Linker] = {
    "argmax": argmax_links,
    "argmax-null": argmax_null_links,
    "mutual": mutual_links,
    "transport": transport_links,
}


def symmetrize(
    forward: set[Link], backward: set[Link], rule: Rule, source_length: int, target_length: int
) -> set[Link]:
    """Combine the links of a source-target and a target-source model, both given as (source, target).

    `grow-diag`, `grow-diag-final` and `grow-diag-final-and` are Koehn et al. 2005's: from the intersection, add
    neighbours of links which the union holds if the source word *or* the target word is still free; `-final` then adds
    links of either direction under the same condition, `-final-and` only if both words are free. The `-strict` rules
    ask for both words free in each step, which is what the published alignment-scripts call grow-diagonal(-final).
    Links are visited by source word, then target word; another order moves a corpus's AER by up to 0.0005.
    """
    both, either = forward & backward, forward | backward
    outside = [(s, t) for s, t in either if not (0 <= s < source_length and 0 <= t < target_length)]
    if outside:
        raise ValueError(f"link {min(outside)} lies outside a pair of {source_length} and {target_length} words")
    if rule == "intersection":
        return both
    if rule == "union":
        return either
    growing = _Growing(both)
    strict = rule.endswith("-strict")
    growing.grow(either, strict=strict)
    if rule in ("grow-diag-final", "grow-diag-final-and", "grow-diag-final-strict"):
        for direction in (forward, backward):
            growing.add_free(sorted(direction), strict=rule != "grow-diag-final")
    return growing.links


class _Growing:
    """A set of links that knows which words are already linked."""

    def __init__(self, links: set[Link]) -> None:
        self.links = set(links)
        self._sources = {s for s, _ in links}
        self._targets = {t for _, t in links}

    def grow(self, candidates: set[Link], *, strict: bool) -> None:
        """Add neighbours of links until nothing more can be added; a link just added may grow in the same sweep."""
        before = -1
        while len(self.links) > before:
            before = len(self.links)
            for s, t in sorted(candidates):
                if (s, t) in self.links:
                    around = [(s + i, t + j) for i, j in _NEIGHBOURS]
                    self.add_free([link for link in around if link in candidates], strict=strict)

    def add_free(self, candidates: Iterable[Link], *, strict: bool) -> None:
        """Add each link one of whose words (`strict`: both of whose words) is free at its turn."""
        for s, t in candidates:
            free = (s not in self._sources, t not in self._targets)
            if all(free) if strict else any(free):
                self.links.add((s, t))
                self._sources.add(s)
                self._targets.add(t)
