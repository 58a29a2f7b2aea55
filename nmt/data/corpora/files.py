"""Two plain files, one sentence a line: sentence i of one is sentence i of the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.lines import read_pairs


@dataclass(frozen=True, kw_only=True)
class Files(Corpus):
    """The files of the two sides."""

    source: str
    target: str

    @property
    def name(self) -> str:
        return f"{self.source}, {self.target}"

    def pairs(self) -> Iterator[Pair]:
        return read_pairs(Path(self.source), Path(self.target))
