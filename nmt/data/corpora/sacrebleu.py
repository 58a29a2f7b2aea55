"""The test sets that sacrebleu knows by name (WMT's and others), which it downloads when they are first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.config import nearest
from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.corpora.values import check_text
from nmt.data.lines import count_pairs, read_pairs
from nmt.errors import UserError


@dataclass(frozen=True, kw_only=True)
class SacrebleuSet(Corpus):
    """One test set in the direction of the languages, with the first of its references.

    sacrebleu keeps what it has downloaded in $SACREBLEU, or else in ~/.sacrebleu.
    """

    test_set: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_text("test_set", self.test_set)

    @property
    def name(self) -> str:
        return f"{self.test_set} of sacrebleu"

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        return read_pairs(*self._files(), start)

    def count(self) -> int:
        return count_pairs(*self._files())

    def _files(self) -> tuple[Path, Path]:
        """Source and reference, downloaded where they are not there yet."""
        from sacrebleu.dataset import DATASETS

        languages = f"{self.source_language}-{self.target_language}"
        if self.test_set not in DATASETS:
            near = nearest(self.test_set, DATASETS) or f"; there are {', '.join(sorted(DATASETS))}"
            raise UserError(f"sacrebleu has no test set {self.test_set!r}{near}")
        test_set: Any = DATASETS[self.test_set]
        if languages not in test_set.langpairs:
            raise UserError(f"{self.name} has no {languages!r}; it has: {', '.join(sorted(test_set.langpairs))}")
        try:
            return Path(test_set.get_source_file(languages)), Path(test_set.get_reference_files(languages)[0])
        except (Exception, SystemExit) as error:  # sacrebleu raises plain Exception, and exits at a wrong checksum
            reason = " ".join(str(error).split())
            raise UserError(f"{self.name} could not be downloaded or unpacked: {reason}") from error
