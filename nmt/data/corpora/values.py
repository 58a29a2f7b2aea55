"""What the readers' settings may be. Their constructors raise ValueError beginning with the key; `build` adds where."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from pathlib import Path

from nmt.data.lines import one_line
from nmt.errors import UserError

HINT = " (YAML reads no, on, yes, off so: quote it)"


def require(holds: bool, key: str, value: object, allowed: str) -> None:
    """ValueError that names key, value and what is allowed, unless it holds."""
    if value == "???":
        raise ValueError(f"{key} must be given")
    if not holds:
        hint = HINT if isinstance(value, bool) else ""
        raise ValueError(f"{key} is {value!r}{hint}: allowed is {allowed}")


def check_text(key: str, value: object) -> None:
    """ValueError unless it is a text that is not empty."""
    require(isinstance(value, str) and value != "", key, value, "a text")


def check_files(key: str, value: object) -> None:
    """ValueError unless it is the name of a file or a list of such names."""
    names = value if isinstance(value, list | tuple) else [value]
    texts = all(isinstance(name, str) and name != "" for name in names)
    require(texts and len(names) > 0, key, value, "a file or a list of files")


def check_different(keys: tuple[str, str], values: tuple[object, object]) -> None:
    """ValueError where both sides would be read from one place."""
    if values[0] == values[1]:
        raise ValueError(f"{keys[0]} and {keys[1]} are both {values[0]!r}: the sides are two")


def paths(value: str | Sequence[str]) -> list[Path]:
    """The files that a checked setting names."""
    return [Path(value)] if isinstance(value, str) else [Path(name) for name in value]


def describe(value: str | Sequence[str]) -> str:
    """The files in a few words."""
    first, *others = [value] if isinstance(value, str) else value
    return f"{first} and {len(others)} more" if others else first


def text_of(value: object, key: str, where: str) -> str:
    """A value of a row as a line of text. UserError for what is no text, which begins with `where`."""
    if not isinstance(value, str):
        raise UserError(f"{where}: {key!r} is {reprlib.repr(value)}, which is not text")
    return one_line(value)
