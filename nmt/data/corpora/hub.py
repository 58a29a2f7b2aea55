"""Data sets of the Hugging Face hub, and local ones in its formats, through the library `datasets`."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.data.corpora.corpus import Corpus, Pair, begun
from nmt.data.corpora.values import check_different, check_files, check_text, text_of
from nmt.errors import UserError

BATCH = 1000  # rows taken from the library at a time
FORMATS = {".parquet": "parquet", ".arrow": "arrow"}  # of single files
CONVERTED = "refs/convert/parquet"  # the branch where the hub keeps what it has made of data sets with scripts
MADE_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")


@dataclass(frozen=True, kw_only=True)
class Hub(Corpus):
    """One split, in either of two layouts: a column of {language: text}, or one column a language.

    path: a data set's name on the hub, a folder in the hub's layout, one that `save_to_disk` made, or a .parquet or
    .arrow file; a file, or a folder with a single saved split, is whatever split is asked for.
    config: which of the data set's configurations. revision: a branch, tag or commit of it. data_files: which of its
    files. column: the column of {language: text}. source_column, target_column: a key in it, or a column of the data
    set; None stands for the language. stream: rows are fetched as they are read, and nothing is kept on disk.
    """

    path: str
    split: str
    config: str | None = None
    revision: str | None = None
    data_files: str | list[str] | Mapping[str, str | list[str]] | None = None
    column: str = "translation"
    source_column: str | None = None
    target_column: str | None = None
    stream: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_text("path", self.path)
        check_text("split", self.split)
        for key in ("config", "revision", "source_column", "target_column"):
            if getattr(self, key) is not None:
                check_text(key, getattr(self, key))
        if isinstance(self.data_files, Mapping):
            for split, files in self.data_files.items():
                check_text("a split in data_files", split)
                check_files(f"data_files.{split}", files)
        elif self.data_files is not None:
            check_files("data_files", self.data_files)
        check_different(("source_column", "target_column"), self._sides)

    @property
    def name(self) -> str:
        return ":".join(part for part in (self.path, self.config, self.split) if part is not None)

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        rows = self._load()
        nested = self._is_nested(rows)
        wanted = rows.select_columns([self.column] if nested else list(self._sides))
        if start and start >= _size(rows):
            return iter(())
        return begun(self._read(wanted.skip(start) if start else wanted, nested, start))

    def count(self) -> int:
        rows = self._load()
        return int(_size(rows)) if _size(rows) < math.inf else super().count()

    @property
    def _sides(self) -> tuple[str, str]:
        return self.source_column or self.source_language, self.target_column or self.target_language

    @property
    def _where(self) -> str:
        return f"data set {self.path!r}"

    def _load(self) -> Any:
        with self._told():
            rows = self._open()
        if rows.info.builder_name == "csv":
            raise UserError(
                f"{self._where} consists of CSV files, and the library `datasets` makes a number of the text 007 and "
                "nothing of NA: read its files by data=tsv"
            )
        return rows

    def _open(self) -> Any:
        import datasets  # a second of imports that reading files does not need

        datasets.disable_progress_bars()
        datasets.logging.set_verbosity(datasets.logging.CRITICAL)  # what goes wrong is told by a UserError
        logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)
        path = Path(self.path)
        if path.is_file():
            self._refuse_choices("a file")
            if path.suffix not in FORMATS:
                kinds = ", ".join(FORMATS)
                raise UserError(f"{path}: single files that can be read so end in {kinds}; data=jsonl reads JSON lines")
            files = {_first_split(self.split): self.path}
            return datasets.load_dataset(
                FORMATS[path.suffix], data_files=files, split=self.split, streaming=self.stream
            )
        if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
            self._refuse_choices("a saved folder")
            return _saved_split(datasets.load_from_disk(self.path), self.split)
        return datasets.load_dataset(
            self.path,
            self.config,
            split=self.split,
            revision=self.revision,
            data_files=self.data_files,
            streaming=self.stream,
        )

    def _refuse_choices(self, what: str) -> None:
        for key in ("config", "revision", "data_files"):
            if getattr(self, key) is not None:
                raise UserError(f"{self._where} is {what}, and has no {key} to choose")

    def _is_nested(self, rows: Any) -> bool:
        """Whether the texts are inside one column. UserError for a column or language that is not there.

        Where rows of the column differ in kind, or a stream doesn't tell its columns, only reading them can tell.
        """
        with self._told():
            features = rows.features or dict.fromkeys(next(iter(rows), self._sides))
        if all(side in features for side in self._sides):
            return False
        if self.column not in features:
            self._check_sides(features, "")
        inner = features[self.column]
        known = inner if isinstance(inner, Mapping) else getattr(inner, "languages", self._sides)
        self._check_sides(known, f"column {self.column!r} of ")
        return True

    def _check_sides(self, known: Any, place: str) -> None:
        for side in self._sides:
            if side not in known:
                raise UserError(f"no {side!r} in {place}{self._where}; it has: {', '.join(sorted(known))}")

    def _read(self, rows: Any, nested: bool, start: int) -> Iterator[Pair]:
        guessed = rows.info.builder_name == "json"
        for number, entry in enumerate(self._entries(rows, nested), start=start + 1):
            where = f"{self._where}, row {number}"
            for side, text in zip(self._sides, entry, strict=True):
                if guessed and isinstance(text, str) and MADE_TIME.fullmatch(text):
                    raise UserError(
                        f"{where}: {side!r} is {text!r}, which the library `datasets` makes of dates as well"
                    )
            yield text_of(entry[0], self._sides[0], where), text_of(entry[1], self._sides[1], where)

    def _entries(self, rows: Any, nested: bool) -> Iterator[tuple[object, object]]:
        """The values of both sides, row by row."""
        source, target = self._sides
        batches = rows.with_format(None).iter(batch_size=BATCH)
        while True:
            with self._told():
                batch = next(batches, None)
            if batch is None:
                return
            if nested:
                yield from (_both(entry, source, target) for entry in batch[self.column])
            else:
                yield from zip(batch[source], batch[target], strict=True)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever the library raises, as a UserError in one line."""
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # of damaged and empty data sets and of the network, dozens of kinds
            reason = " ".join(str(error.__cause__ or error).split()) or type(error).__name__
            if "scripts are no longer supported" in reason:
                reason += f"; its Parquet files may be there as revision={CONVERTED} (with data_files)"
            raise UserError(f"{self._where}, split {self.split!r}: {reason}") from error


def _size(rows: Any) -> float:
    """How many rows there are; infinity for a stream, of which only reading can tell."""
    return len(rows) if hasattr(rows, "__len__") else math.inf


def _both(entry: object, source: str, target: str) -> tuple[object, object]:
    return (entry.get(source), entry.get(target)) if isinstance(entry, Mapping) else (None, None)


def _first_split(split: str) -> str:
    """The name in `train`, `train[:100]` and `train+validation`."""
    return re.split(r"[\[+]", split)[0]


def _saved_split(saved: Any, split: str) -> Any:
    """The split, which may be a slice or a sum of some, of what `load_from_disk` has opened."""
    import datasets

    splits = saved if isinstance(saved, datasets.DatasetDict) else {_first_split(split): saved}
    parts = datasets.ReadInstruction.from_spec(split).to_absolute({name: len(rows) for name, rows in splits.items()})
    chosen = [splits[part.splitname].select(range(part.from_ or 0, part.to or 0)) for part in parts]
    return chosen[0] if len(chosen) == 1 else datasets.concatenate_datasets(chosen)
