"""A data set of the Hugging Face hub, or a local folder in its layout, through `datasets.load_dataset`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nmt.data.corpora.corpus import Corpus, Pair
from nmt.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Hub(Corpus):
    """One split. Two layouts: a column `translation` of {language: text}, or one column a language.

    path: the data set's name on the hub, or a folder; config: which of its configurations.
    """

    path: str
    split: str
    config: str | None = None

    @property
    def name(self) -> str:
        return f"{self.path}:{self.split}"

    def pairs(self) -> Iterator[Pair]:
        rows = _load(self.path, self.config, self.split)
        _check_languages(rows.features, self.path, self.source_language, self.target_language)
        return _texts(rows, self.path, self.source_language, self.target_language)


def _load(path: str, name: str | None, split: str) -> Any:
    import datasets  # a second of imports that reading files does not need

    datasets.disable_progress_bars()
    try:
        return datasets.load_dataset(path, name, split=split)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = str(error.__cause__ or error).splitlines() or [type(error).__name__]
        raise UserError(f"data set {path!r}, split {split!r}: {reason[0]}") from error


def _check_languages(features: Mapping[str, Any], path: str, *languages: str) -> None:
    """Refuse a language that no column has. Where rows of one column differ in kind, only reading them can tell."""
    nested = features.get("translation", features)
    known = nested if isinstance(nested, Mapping) else getattr(nested, "languages", languages)
    for language in languages:
        if language not in known:
            where = "column 'translation' of " if "translation" in features else ""
            raise UserError(f"no {language!r} in {where}data set {path!r}; it has: {', '.join(sorted(known))}")


def _texts(rows: Any, path: str, source: str, target: str) -> Iterator[tuple[str, str]]:
    for number, row in enumerate(rows, start=1):
        entry = row.get("translation", row)
        yield _text(entry, source, path, number), _text(entry, target, path, number)


def _text(entry: Mapping[str, Any] | None, language: str, path: str, number: int) -> str:
    text = entry.get(language) if isinstance(entry, Mapping) else None
    if not isinstance(text, str):
        raise UserError(f"data set {path!r}, row {number}: {language!r} is {text!r}, which is not text")
    return text.rstrip("\r\n").replace("\n", " ")
