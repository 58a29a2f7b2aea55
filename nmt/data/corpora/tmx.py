"""Translation memories: TMX 1.4 and before. Read unit by unit, and never kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from xml.parsers import expat

from nmt.data.corpora.corpus import Corpus, Pair, begun
from nmt.data.corpora.values import check_different, check_files, describe, paths
from nmt.data.lines import check_file, one_line, open_binary
from nmt.errors import UserError

CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})  # elements of a segment whose text is another program's markup
BLOCK = 1 << 16  # bytes read at a time

Unit = list[tuple[str, str]]  # language and text of every segment


@dataclass(frozen=True, kw_only=True)
class Tmx(Corpus):
    """The segments of two languages, of one file or of several. Units that lack either are passed over.

    A segment is a language's if the codes are the same but for case (`en_US` is `en-US`), or else if one of them is
    the beginning of the other: `en` finds `en-GB`, `en-GB` finds `en` but not `en-US`. The first such segment counts.
    """

    path: str | list[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_files("path", self.path)
        check_different(("source_language", "target_language"), (self.source_language, self.target_language))

    @property
    def name(self) -> str:
        return describe(self.path)

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        files = paths(self.path)
        for file in files:
            check_file(file)
        each = (_read(file, _code(self.source_language), _code(self.target_language)) for file in files)
        return begun(islice((pair for pairs in each for pair in pairs), start, None))


def _read(file: Path, source: str, target: str) -> Iterator[Pair]:
    found, seen = False, dict[str, None]()  # languages in the order in which they come
    for unit in _units(file):
        pair = _segment(unit, source), _segment(unit, target)
        if pair[0] is not None and pair[1] is not None:
            found = True
            yield one_line(pair[0]), one_line(pair[1])
        elif not found:
            seen.update((language or "no xml:lang", None) for language, _ in unit)
    if seen and not found:
        raise UserError(f"{file}: no unit has both {source!r} and {target!r}; it has: {', '.join(seen)}")


def _segment(unit: Unit, language: str) -> str | None:
    """The unit's text in a language."""
    related = None
    for code, text in unit:
        if code == language:
            return text
        if related is None and (code.startswith(f"{language}-") or language.startswith(f"{code}-")):
            related = text
    return related


def _code(language: str) -> str:
    return language.lower().replace("_", "-")


def _units(file: Path) -> Iterator[Unit]:
    parser = _Parser(str(file))
    with open_binary(file) as stream:
        while block := stream.read(BLOCK):
            yield from parser.feed(block)
        yield from parser.feed(b"", last=True)


class _Parser:
    """Expat, and what of the document is open. A document that declares entities, of which a few lines can make
    gigabytes, is refused; nothing that a document names is ever fetched."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._root: str | None = None
        self._units: list[Unit] = []  # finished
        self._unit: Unit = []
        self._language = ""
        self._text: list[str] | None = None  # of the open segment
        self._codes = 0  # how many of CODES are open
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._characters
        self._expat.EntityDeclHandler = self._declaration
        self._expat.SkippedEntityHandler = self._skipped

    def feed(self, block: bytes, last: bool = False) -> list[Unit]:
        """The units that this block of bytes finishes."""
        try:
            self._expat.Parse(block, last)
        except UserError:
            raise
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise UserError(f"{self._name}, line {error.lineno}: damaged XML ({reason})") from error
        except (LookupError, ValueError) as error:
            raise UserError(f"{self._name}: its encoding cannot be read ({error})") from error
        finished, self._units = self._units, []
        return finished

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._root is None:
            self._root = tag
            if tag != "tmx":
                self._refuse(f"this is no TMX, whose outermost element is <tmx>, but <{tag}>")
        if tag == "tu":
            self._unit = []
        elif tag == "tuv":
            self._language = _code(attributes.get("xml:lang", attributes.get("lang", "")))
        elif tag == "seg":
            self._text = []
        elif tag in CODES:
            self._codes += 1

    def _end(self, tag: str) -> None:
        if tag == "seg" and self._text is not None:
            self._unit.append((self._language, "".join(self._text)))
            self._text = None
        elif tag == "tu":
            self._units.append(self._unit)
        elif tag in CODES:
            self._codes -= 1

    def _characters(self, data: str) -> None:
        if self._text is not None and not self._codes:
            self._text.append(data)

    def _declaration(self, name: str, *_: Any) -> None:
        self._refuse(f"the document declares the entity {name!r}, and entities are not read")

    def _skipped(self, name: str, _: bool) -> None:
        self._refuse(f"the entity {name!r} is declared nowhere")

    def _refuse(self, reason: str) -> None:
        raise UserError(f"{self._name}, line {self._expat.CurrentLineNumber}: {reason}")
