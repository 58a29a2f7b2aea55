"""Raw text -> lines and pairs of lines: plain files, one sentence a line, or a data set of the hub.

A line ends at LF and nowhere else, so that line i of our output belongs to line i of the input whatever tool counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from nmt.errors import UserError

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 20  # bytes read at a time when lines are only counted


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, one at a time, without their LF or CRLF and without a leading byte order mark.

    U+2028, U+0085, FF and a CR inside a line are text. A last line without LF counts.
    UserError: no such file, a directory, not readable; invalid UTF-8, with file and line (from 1).
    """
    with open_binary(path) as file:
        yield from decode_lines(file, str(path))


def decode_lines(raw_lines: Iterable[bytes], name: str) -> Iterator[str]:
    """The same of an open binary stream, which `name` stands for in errors."""
    for number, raw in enumerate(raw_lines, start=1):
        yield _decode(raw.removeprefix(BOM) if number == 1 else raw, name, number)


def count_lines(path: Path) -> int:
    """How many lines `read_lines` gives, without decoding them."""
    count, last = 0, b"\n"
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UserError(f"{path}: this is a pipe or device, and it would be read twice: write it to a file")
    with open_binary(path) as file:
        while block := file.read(BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def read_pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Line i of one file with line i of the other. The counts are compared at once, before the first pair is asked for.

    UserError: unequal counts, naming both files and both counts; a pipe, which can't be read twice; whatever
    `read_lines` raises.
    """
    counts = count_lines(source), count_lines(target)
    if counts[0] != counts[1]:
        raise UserError(f"{source} has {counts[0]} lines but {target} has {counts[1]}: a pair is line i of both")
    return zip(read_lines(source), read_lines(target), strict=True)


def is_blank(line: str) -> bool:
    """Whether the line has no character besides whitespace."""
    return not line.strip()


def hub_pairs(
    path: str, *, split: str, source_language: str, target_language: str, name: str | None = None
) -> Iterator[tuple[str, str]]:
    """Pairs of a data set of the hub, or of a local folder in its layout, through `datasets.load_dataset`.

    Two layouts: a column `translation` of {language: text}, or one column a language. Text arrives as it is stored,
    but for line breaks: those at the end are taken off and those inside become spaces, since a sentence is a line.
    UserError: what cannot be loaded; a language without column, with those there are; an entry that is missing or no
    string (a number, a date), with its row (from 1).
    """
    rows = _load(path, name, split)
    _check_languages(rows.features, path, source_language, target_language)
    return _texts(rows, path, source_language, target_language)


def open_binary(path: Path) -> BinaryIO:
    """A file, pipe or device to read. UserError: no such file, a directory, not readable."""
    try:
        return open(path, "rb")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def _decode(raw: bytes, name: str, number: int) -> str:
    try:
        return raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        raise UserError(f"{name}, line {number}: not valid UTF-8 (byte 0x{wrong:02x})") from error


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
