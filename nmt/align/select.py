"""Which layer, head and row of a model's attention are its alignment: ranked by what is not scored later.

With gold links of other pairs, by the error rate of the argmax links. Without any, by how well the argmax links of a
model and of one of the opposite direction agree: both find words that stand for each other, or one of them does not.
Letters: V views, T target, S source words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import tee
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt.align.aer import AlignmentScore, aer
from nmt.align.extract import Aligner, all_views
from nmt.align.links import argmax_links
from nmt.align.pipeline import align_records
from nmt.align.record import Record, View
from nmt.config import AlignmentConfig
from nmt.data.pharaoh import Links
from nmt.errors import UserError
from nmt.run import Run

SHIFTS = (0, 1)


class Scored(NamedTuple):
    """A view and how its links score on the gold that ranks."""

    view: View
    score: AlignmentScore


class Agreeing(NamedTuple):
    """Views of a model and of one of the opposite direction, with 2 |A & B| / (|A| + |B|) of their links, 0 to 1."""

    view: View
    reverse: View
    agreement: float


def rank_by_gold(aligner: Aligner, pairs: Iterable[tuple[str, str]], gold: Sequence[Links]) -> list[Scored]:
    """Every layer, head (and their mean) and shift of 0 or 1 by the error rate of its argmax links, the least first.

    `gold` must not be what is scored later, or the score is flattered: give a part kept for choosing. UserError where
    no pair has text on both sides.
    """
    views = all_views(aligner, SHIFTS)
    found: list[list[set[tuple[int, int]]]] = [[] for _ in views]
    for record in _readable(align_records(aligner, pairs, views)):
        for view, links in enumerate(found):
            links.append(argmax_links(record.words(view)))
    scored = [Scored(view, aer(gold, links)) for view, links in zip(views, found, strict=True)]
    return sorted(scored, key=lambda one: one.score.aer)


def rank_by_agreement(forward: Aligner, backward: Aligner, pairs: Iterable[tuple[str, str]]) -> list[Agreeing]:
    """Every view of `forward`, as `rank_by_gold` has them, with the one of `backward` that it agrees with most, the
    most agreement first. Both come first that are best together. UserError where no pair has text on both sides."""
    views, reverse = all_views(forward, SHIFTS), all_views(backward, SHIFTS)
    straight, turned = tee(pairs)
    both, sizes, reverse_sizes = np.zeros((len(views), len(reverse))), np.zeros(len(views)), np.zeros(len(reverse))
    for one, other in zip(
        _readable(align_records(forward, straight, views)),
        align_records(backward, ((target, source) for source, target in turned), reverse),
        strict=True,
    ):
        links, reverse_links = _link_table(one), _link_table(other).swapaxes(1, 2)
        both += np.tensordot(links, reverse_links, axes=((1, 2), (1, 2)))
        sizes += links.sum(axis=(1, 2))
        reverse_sizes += reverse_links.sum(axis=(1, 2))
    agreement = 2 * both / np.maximum(sizes[:, None] + reverse_sizes, 1)
    ranked = [
        Agreeing(view, reverse[int(row.argmax())], float(row.max())) for view, row in zip(views, agreement, strict=True)
    ]
    return sorted(ranked, key=lambda one: -one.agreement)


def check_ranked(path: Path, alignment: AlignmentConfig) -> None:
    """UserError for a run that aligns by another method than attention, whose views are ranked."""
    if alignment.method != "attention":
        raise UserError(
            f"{path}: it aligns by {alignment.method}, and --select ranks attention alone; "
            "alignment.method=attention behind the flags ranks it nevertheless"
        )


def check_free(run: Run) -> None:
    """UserError for a run that was trained to links, which decided what its alignment is."""
    if run.config().train.guided_alignment is not None:
        raise UserError(f"{run.path}: train.guided_alignment trained this run's choice to links, so it stays")


def keep_choice(run: Run, view: View) -> None:
    """From now on this view is the run's alignment: its configuration says so. UserError as `check_free`."""
    check_free(run)
    values = run.values()
    chosen = {"method": view.method, "layer": view.layer, "head": view.head, "shift": view.shift}
    run.write_config({**values, "alignment": {**values["alignment"], **chosen}})


def _link_table(record: Record) -> NDArray[np.float64]:
    """[V, T, S], 1 where a view's argmax links two words."""
    table = np.zeros((len(record.values), len(record.target_words), len(record.source_words)))
    for view, links in enumerate(table):
        for s, t in argmax_links(record.words(view)):
            links[t, s] = 1
    return table


def _readable(records: Iterable[Record]) -> Iterable[Record]:
    """The same records. UserError at their end if no pair had words on both sides."""
    readable = False
    for record in records:
        readable = readable or bool(record.source_words and record.target_words)
        yield record
    if not readable:
        raise UserError("there is no pair with text on both sides to choose by")
