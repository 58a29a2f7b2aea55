"""The parts of a configured corpus: which files or hub split a part is, its pairs, and their gold word links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from nmt.config import DataConfig, FilesConfig
from nmt.data.corpus import count_lines, hub_pairs, is_blank, read_pairs
from nmt.data.pharaoh import Links, check_inside, iterate_links
from nmt.data.words import split_words
from nmt.errors import UserError

Part = Literal["train", "valid", "test"]


def has_part(data: DataConfig, part: Part) -> bool:
    """Whether the configuration names this part at all (`test` may be left out)."""
    return getattr(data, part) is not None


def part_name(data: DataConfig, part: Part) -> str:
    """How people know the part: its files, or its split on the hub."""
    if data.root is None and data.hub is not None:
        return f"{data.hub.path}:{getattr(data.hub, part)}"
    files: FilesConfig = getattr(data, part)
    return f"{part} ({files.source}, {files.target})"


def part_pairs(data: DataConfig, part: Part) -> Iterator[tuple[str, str]]:
    """The part's pairs in order, from files where `data.root` is given and otherwise from the hub."""
    if data.root is None and data.hub is not None:
        return hub_pairs(
            data.hub.path,
            split=getattr(data.hub, part),
            source_language=data.source_language,
            target_language=data.target_language,
            name=data.hub.name,
        )
    files: FilesConfig | None = getattr(data, part)
    if files is None:
        raise UserError(f"data.{part} is not given")
    return read_pairs(Path(files.source), Path(files.target))


def check_part(data: DataConfig, part: Part) -> None:
    """Read the part once, so that what is wrong with its text is told before any training and not after it.

    UserError: whatever `read_pairs`, `hub_pairs` and `part_links` raise; no pair with text on both sides.
    """
    filled = sum(not (is_blank(source) or is_blank(target)) for source, target in part_pairs(data, part))
    if not filled:
        raise UserError(f"{part_name(data, part)}: there is no pair with text on both sides")
    part_links(data, part)


def links_file(data: DataConfig, part: Part) -> str | None:
    """The file of the part's gold links, None where the configuration names none."""
    files: FilesConfig | None = getattr(data, part)
    return None if files is None else files.links


def part_links(data: DataConfig, part: Part) -> list[Links] | None:
    """The gold links of the part's pairs, in order; None where the configuration names no file of them.

    UserError: whatever `links_of_part` raises.
    """
    file = links_file(data, part)
    return None if file is None else list(links_of_part(data, part, Path(file)))


def links_of_part(data: DataConfig, part: Part, path: Path) -> Iterator[Links]:
    """The links that the file `path` has for the part's pairs, in order, one pair at a time.

    UserError: whatever `iterate_links` raises; another number of lines than pairs; a link to a word that is not there.
    """
    lines, pairs = count_lines(path), sum(1 for _ in part_pairs(data, part))
    if lines != pairs:
        raise UserError(f"{path} has {lines} lines but {part_name(data, part)} has {pairs} pairs")
    both = zip(iterate_links(path), part_pairs(data, part), strict=True)
    for number, (links, pair) in enumerate(both, start=1):
        sources, targets = (len(split_words(line)) for line in pair)
        check_inside(links, sources, targets, f"{path}, line {number}")
        yield links
