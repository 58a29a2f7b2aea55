"""Plain files, one sentence a line: sentence i of one side is sentence i of the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.corpora.values import check_files, describe, paths
from nmt.data.lines import count_pairs, read_lines


@dataclass(frozen=True, kw_only=True)
class Files(Corpus):
    """The files of the two sides; of several a side, file i of one belongs to file i of the other."""

    source: str | list[str]
    target: str | list[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_files("source", self.source)
        check_files("target", self.target)
        counts = len(paths(self.source)), len(paths(self.target))
        if counts[0] != counts[1]:
            raise ValueError(
                f"source names {counts[0]} files but target {counts[1]}: file i of one belongs to file i of the other"
            )

    @property
    def name(self) -> str:
        return f"{describe(self.source)}, {describe(self.target)}"

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        both = self._both()
        return _from(both, [count_pairs(*files) for files in both], start)

    def count(self) -> int:
        return sum(count_pairs(*files) for files in self._both())

    def _both(self) -> list[tuple[Path, Path]]:
        return list(zip(paths(self.source), paths(self.target), strict=True))


def _from(both: list[tuple[Path, Path]], counts: list[int], start: int) -> Iterator[Pair]:
    for (source, target), count in zip(both, counts, strict=True):
        if start < count:
            yield from zip(read_lines(source, start), read_lines(target, start), strict=True)
        start = max(0, start - count)
