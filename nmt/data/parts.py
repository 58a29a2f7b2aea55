"""The parts of a configured corpus: what each is read from, its pairs, and their gold word links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from nmt.build import build
from nmt.config import DataConfig, Leaf
from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.digest import TextDigest
from nmt.data.lines import count_lines, is_blank
from nmt.data.pharaoh import Links, check_inside, iterate_links
from nmt.data.words import split_words
from nmt.errors import UserError

Part = Literal["train", "valid", "test"]
PARTS: tuple[Part, ...] = ("train", "valid", "test")


def has_part(data: DataConfig, part: Part) -> bool:
    """Whether the configuration names this part at all (`test` may be left out)."""
    return getattr(data, part) is not None


def part_corpus(data: DataConfig, part: Part) -> Corpus:
    """What the part is read from. UserError where it is not given, or its section does not describe a corpus."""
    leaf: Leaf | None = getattr(data, part)
    if leaf is None:
        raise UserError(f"data.{part} is not given")
    corpus = build(leaf, f"data.{part}", source_language=data.source_language, target_language=data.target_language)
    if not isinstance(corpus, Corpus):
        raise UserError(f"data.{part}._target_ is {leaf['_target_']!r}: this is no class of nmt.data.corpora")
    return corpus


def part_name(data: DataConfig, part: Part) -> str:
    """How people know the part."""
    return f"{part} ({part_corpus(data, part).name})"


def part_pairs(data: DataConfig, part: Part) -> Iterator[Pair]:
    """The part's pairs in order."""
    return part_corpus(data, part).pairs()


def check_part(data: DataConfig, part: Part) -> str:
    """Read the part once, so that what is wrong with its text is told before any training and not after it. What its
    text is known by.

    UserError: whatever `Corpus.pairs` and `part_links` raise; no pair with text on both sides.
    """
    digest = TextDigest()
    pairs = digest.over(part_pairs(data, part))
    filled = sum(not (is_blank(source) or is_blank(target)) for source, target in pairs)
    if not filled:
        raise UserError(f"{part_name(data, part)}: there is no pair with text on both sides")
    part_links(data, part)
    return digest.hexdigest()


def part_links(data: DataConfig, part: Part) -> list[Links] | None:
    """The gold links of the part's pairs, in order; None where the configuration names no file of them.

    UserError: whatever `links_of_part` raises.
    """
    file = part_corpus(data, part).links
    return None if file is None else list(links_of_part(data, part, Path(file)))


def links_of_part(data: DataConfig, part: Part, path: Path) -> Iterator[Links]:
    """The links that the file `path` has for the part's pairs, in order, one pair at a time.

    UserError: whatever `iterate_links` raises; another number of lines than pairs; a link to a word that is not there.
    """
    lines, pairs = count_lines(path), part_corpus(data, part).count()
    if lines != pairs:
        raise UserError(f"{path} has {lines} lines but {part_name(data, part)} has {pairs} pairs")
    both = zip(iterate_links(path), part_pairs(data, part), strict=True)
    for number, (links, pair) in enumerate(both, start=1):
        sources, targets = (len(split_words(line)) for line in pair)
        check_inside(links, sources, targets, f"{path}, line {number}")
        yield links
