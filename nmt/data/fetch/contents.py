"""Reading a corpus once, counting what is in it, and writing it as plain files of one sentence a line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nmt.config import DataConfig
from nmt.data.corpora.corpus import Pair
from nmt.data.files import open_whole
from nmt.data.lines import is_blank
from nmt.data.parts import Part, links_of_part, part_corpus, part_name, part_pairs
from nmt.errors import Unsuccessful, UserError
from nmt.progress import progress


@dataclass
class Contents:
    """What a part holds. blank: pairs with nothing on one side; characters: of all sources, of all targets; first: its
    first pair with text on both sides."""

    part: Part
    name: str
    pairs: int = 0
    blank: int = 0
    source_characters: int = 0
    target_characters: int = 0
    first: Pair | None = None

    def add(self, pair: Pair) -> None:
        """One pair more."""
        source, target = pair
        self.pairs += 1
        self.source_characters += len(source)
        self.target_characters += len(target)
        if is_blank(source) or is_blank(target):
            self.blank += 1
        elif self.first is None:
            self.first = pair


def read_parts(data: DataConfig, parts: Sequence[Part], output: Path | None = None) -> list[Contents]:
    """Read these parts through, downloading what is not here; with `output`, write them there as `plain_files` says,
    all of them or none.

    UserError: what a corpus raises, links that don't fit, files of one name. Unsuccessful: a part has no pair with text
    on both sides.
    """
    if output is not None and data.source_language == data.target_language:
        raise UserError(
            f"data.source_language and data.target_language are both {data.source_language!r}, and so would be the "
            f"names of both sides' files in {output}"
        )
    with ExitStack() as files:
        return [_read_part(data, part, _open(data, part, output, files)) for part in parts]


def plain_files(data: DataConfig, part: Part, output: Path) -> list[Path]:
    """The files of a part below `output`: its sources, its targets and, where there are any, its gold links."""
    sides = [output / f"{part}.{language}" for language in (data.source_language, data.target_language)]
    return sides if part_corpus(data, part).links is None else [*sides, output / f"{part}.gold"]


def without_separators(text: str) -> str:
    """The text without LINE_SEPARATORS, which some program takes for the end of a line: spaces stand in their place."""
    return " ".join(text.splitlines())


def _open(data: DataConfig, part: Part, output: Path | None, files: ExitStack) -> list[BinaryIO]:
    paths = [] if output is None else plain_files(data, part, output)
    return [files.enter_context(open_whole(path)) for path in paths]


def _read_part(data: DataConfig, part: Part, files: Sequence[BinaryIO]) -> Contents:
    contents = Contents(part, part_corpus(data, part).name)
    with progress(f"reading {part}", unit="pairs") as bar:
        for pair in bar.over(part_pairs(data, part)):
            contents.add(pair)
            for file, text in zip(files[:2], pair, strict=False):
                file.write(without_separators(text).encode("utf-8", "replace") + b"\n")
    if contents.first is None:
        raise Unsuccessful(f"{part_name(data, part)}: there is no pair with text on both sides")
    links = part_corpus(data, part).links
    if links is not None:
        for _ in links_of_part(data, part, Path(links)):
            pass
        for file in files[2:]:
            file.write(Path(links).read_bytes())
    return contents
