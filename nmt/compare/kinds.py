"""The finished cells of a kind taken together: means over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from nmt.compare.cells import Cell, Settings
from nmt.compare.comparison import Comparison
from nmt.compare.lengths import Bin, bleu_by_length, choose_bins, read_test, source_lengths
from nmt.compare.measure import Measured, measure


@dataclass(frozen=True)
class Kind:
    """The seeds of a kind that are trained, what each came to, and its BLEU in each bin of lengths."""

    settings: Settings
    seeds: tuple[int, ...]
    failed: int
    measured: tuple[Measured, ...]
    by_length: tuple[tuple[float | None, ...], ...]

    def mean(self, name: str) -> float | None:
        """Of one of `Measured`'s numbers, over the seeds that have it; None where none has."""
        return _mean([getattr(one, name) for one in self.measured])

    def spread(self) -> tuple[float, float] | None:
        """The lowest and the highest BLEU of several seeds."""
        scores = [one.bleu for one in self.measured]
        return (min(scores), max(scores)) if len(scores) > 1 else None

    def mean_by_length(self) -> list[float | None]:
        """BLEU in each bin, over the seeds."""
        return [_mean(column) for column in zip(*self.by_length, strict=True)]


def gather(comparison: Comparison, cells: Sequence[Cell]) -> tuple[list[Kind], list[Bin]]:
    """The kinds in the order of `cells`, and the bins, which are those of the first finished cell's test set.

    A cell that was begun and is not finished, in this call or an earlier one, has failed. A kind without a finished
    cell is left out, unless one of its cells has failed.
    """
    finished = [cell for cell in cells if comparison.is_finished(cell)]
    failed = [cell for cell in cells if cell not in finished and comparison.log(cell).is_file()]
    bins = choose_bins(source_lengths(read_test(comparison.run(finished[0]))[0])) if finished else []
    kinds = []
    for settings in dict.fromkeys(cell.kind for cell in cells if cell in finished or cell in failed):
        own = sorted((cell for cell in finished if cell.kind == settings), key=lambda cell: cell.seed)
        runs = [comparison.run(cell) for cell in own]
        kinds.append(
            Kind(
                settings=settings,
                seeds=tuple(cell.seed for cell in own),
                failed=sum(cell.kind == settings for cell in failed),
                measured=tuple(map(measure, runs)),
                by_length=tuple(tuple(bleu_by_length(run, bins)) for run in runs),
            )
        )
    return kinds, bins


def label(kind: Kind, kinds: Sequence[Kind]) -> str:
    """What tells the kind from the others: its values, with their keys where these are not the same for all.

    A key is shortened to its last part, unless two keys end alike.
    """
    keys = {key for one in kinds for key, _ in one.settings}
    if len(keys) == 1:
        return kind.settings[0][1]
    ends = [key.rpartition(".")[2] for key in keys]
    names = {key: key if ends.count(end) > 1 else end for key, end in zip(keys, ends, strict=True)}
    return ", ".join(f"{names[key]}={value}" for key, value in kind.settings)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
