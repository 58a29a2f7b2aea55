"""Which training pairs are left out, why, and how many.

A filter judges a pair as a whole, so that a line left out on one side never shifts the other side. Where texts are
compared, blanks at their ends do not count, and all else does.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from nmt.config import FiltersConfig
from nmt.data.corpora.corpus import Pair
from nmt.data.files import open_whole
from nmt.data.languages import Detector, is_foreign, usual_script
from nmt.data.lines import LINE_SEPARATORS, is_blank
from nmt.data.pairs import IdPair, TextPair
from nmt.data.reservoir import draw
from nmt.data.words import split_words
from nmt.progress import say

Check = Callable[[str, str], bool]  # source, target -> whether the pair is left out

SAMPLE = 5_000  # pairs that scripts and languages are learnt from
BROKEN = {"Cc", "Cn", "Co", "Cs"}  # control, unassigned (noncharacters too), private, surrogate
TO_SPACES = str.maketrans(dict.fromkeys(["\t", *LINE_SEPARATORS], " "))


class Filters:
    """Which pairs are left out: blank ones always, the others as the configuration says."""

    def __init__(
        self, config: FiltersConfig | None = None, *, held_out: Iterable[Pair] = (), sample: Iterable[Pair] = ()
    ) -> None:
        """None: nothing but blank pairs is left out, as development and test data want it.

        held_out: development and test pairs, for `overlap`. sample: pairs of the training corpus, all or some from all
        over it; SAMPLE of them, drawn at random, show its scripts and languages. Each is read only if it is needed.
        """
        self._max_pieces = config.max_pieces if config else None
        self._max_ratio = config.max_ratio if config else None
        self._seen = _Numbers()
        self._checks = self._text_checks(config, held_out, sample) if config else []

    def of_text(self, pair: TextPair) -> str | None:
        """The first reason to leave the pair out, "blank" or a key of FiltersConfig; None: it is kept.

        With `duplicates` each pair of a corpus is to be asked for once, in order: what was kept before is a duplicate.
        """
        source, target = pair.source, pair.target
        if is_blank(source) or is_blank(target):
            return "blank"
        for reason, fails in self._checks:
            if fails(source, target):
                return reason
        return None

    def of_pieces(self, pair: IdPair) -> str | None:
        """The same by the pieces, EOS not counted. A line of characters that the tokenizer removes (zero-width spaces)
        has none: it is as blank as an empty one."""
        shorter, longer = sorted((len(pair.source), len(pair.target)))
        if not shorter:
            return "blank"
        if self._max_pieces is not None and longer > self._max_pieces:
            return "max_pieces"
        if self._max_ratio is not None and longer > self._max_ratio * shorter:
            return "max_ratio"
        return None

    def _text_checks(
        self, config: FiltersConfig, held_out: Iterable[Pair], sample: Iterable[Pair]
    ) -> list[tuple[str, Check]]:
        """Cheap ones first; duplicates last, so that only pairs that are kept are remembered."""
        checks: list[tuple[str, Check]] = []
        if config.max_words is not None:
            checks.append(("max_words", partial(_is_long, config.max_words)))
        if config.identical:
            checks.append(("identical", _are_identical))
        if config.overlap:
            checks.append(("overlap", _overlap(held_out)))
        if config.characters:
            checks.append(("characters", _have_broken))
        drawn = draw(sample, SAMPLE, seed=0) if config.script or config.language else []
        if config.script:
            checks.append(("script", _foreign_script(drawn)))
        if config.language:
            checks.append(("language", _other_language(drawn)))
        if config.duplicates:
            checks.append(("duplicates", self._has_come))
        return checks

    def _has_come(self, source: str, target: str) -> bool:
        return not self._seen.add(_digest(f"{source.strip()}\n{target.strip()}"))


class Report:
    """What became of the pairs of one part of the data, counted by the member of the mixture that they are from."""

    def __init__(self, part: str, names: Sequence[str] = ()) -> None:
        """For people: the part ("train"), and what its members are called; () stands for one without a name."""
        self.part = part
        self.names = tuple(names)
        self._kept = [0] * max(1, len(names))
        self._dropped: list[Counter[str]] = [Counter() for _ in self._kept]

    def keep(self, corpus: int = 0) -> None:
        """Count a pair of this member (from 0) that is used."""
        self._kept[corpus] += 1

    def drop(self, corpus: int, reason: str) -> None:
        """Count a pair of this member that is left out."""
        self._dropped[corpus][reason] += 1

    @property
    def kept(self) -> int:
        """Pairs that are used, of all members."""
        return sum(self._kept)

    @property
    def kept_of_each(self) -> list[int]:
        """The same, member by member."""
        return list(self._kept)

    @property
    def dropped(self) -> Counter[str]:
        """How many pairs of all members each reason left out."""
        return sum(self._dropped, Counter())

    def describe(self) -> str:
        """For the log, a line a member."""
        names = [f"{self.part} ({name})" for name in self.names] or [self.part]
        return "\n".join(map(_describe, names, self._kept, self._dropped))

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON's values."""
        dropped = [dict(reasons) for reasons in self._dropped]
        return {"part": self.part, "names": list(self.names), "kept": list(self._kept), "dropped": dropped}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Report:
        """What `as_dict` gave."""
        report = cls(values["part"], values["names"])
        report._kept = list(values["kept"])
        report._dropped = [Counter(reasons) for reasons in values["dropped"]]
        return report


class Dropped:
    """A file of the pairs that are left out, there whole or not at all: a line each, tab-separated, of the pair's line
    (from 1), its corpus, the reason, source and target. Tabs and line breaks inside a text become spaces."""

    def __init__(self, path: Path, names: Sequence[str] = ()) -> None:
        """`names` are those of the mixture's members, as the report has them."""
        self._names = names
        self._file: AbstractContextManager[BinaryIO] = open_whole(path)

    def __enter__(self) -> Dropped:
        """UserError: the place can't be written to."""
        self._stream = self._file.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._file.__exit__(kind, error, trace)

    def write(self, pair: TextPair, reason: str) -> None:
        """One more line."""
        corpus = self._names[pair.corpus] if self._names else str(pair.corpus)
        fields = (str(pair.index + 1), corpus, reason, pair.source, pair.target)
        line = "\t".join(field.translate(TO_SPACES) for field in fields)
        self._stream.write(line.encode("utf-8", "backslashreplace") + b"\n")


class _Numbers:
    """A set of 64-bit numbers at 12 to 24 bytes each; Python's own takes 60 to 90. An open hash table by the numbers
    themselves, which are digests. 0 stands for an empty place, and a number 0 for 1."""

    def __init__(self) -> None:
        self._count = 0
        self._places = array("Q", bytes(8 * 1024))

    def add(self, number: int) -> bool:
        """Whether it was not there."""
        number = number or 1
        place = self._place(number)
        if self._places[place]:
            return False
        self._places[place] = number
        self._count += 1
        if 3 * self._count > 2 * len(self._places):
            self._grow()
        return True

    def _place(self, number: int) -> int:
        """Where it is or may be put."""
        places, mask = self._places, len(self._places) - 1
        place = number & mask
        while places[place] not in (0, number):
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        former, self._places = self._places, array("Q", bytes(16 * len(self._places)))
        for number in former:
            if number:
                self._places[self._place(number)] = number


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _is_long(limit: int, source: str, target: str) -> bool:
    return any(line.count(" ") >= limit and len(split_words(line)) > limit for line in (source, target))


def _are_identical(source: str, target: str) -> bool:
    return source.strip() == target.strip()


def _overlap(held_out: Iterable[Pair]) -> Check:
    """Blank lines of held-out pairs are none of theirs: a blank pair never comes here."""
    sources, targets = set(), set()
    for source, target in held_out:
        sources.add(_digest(source.strip()))
        targets.add(_digest(target.strip()))
    return lambda source, target: _digest(source.strip()) in sources or _digest(target.strip()) in targets


def _have_broken(source: str, target: str) -> bool:
    return _has_broken(source) or _has_broken(target)


def _has_broken(line: str) -> bool:
    """A line that is printable throughout, but for U+FFFD, needs no look at its characters."""
    if "\ufffd" in line:
        return True
    return not line.isprintable() and any(unicodedata.category(c) in BROKEN and c != "\t" for c in line)


def _foreign_script(sample: Sequence[Pair]) -> Check:
    source_script = usual_script(source for source, _ in sample)
    target_script = usual_script(target for _, target in sample)
    return lambda source, target: is_foreign(source, source_script) or is_foreign(target, target_script)


def _other_language(sample: Sequence[Pair]) -> Check:
    detector = Detector(sample)
    if not detector.tells_apart:
        say("data.filters.language: the text does not tell the two sides apart, so this filter leaves no pair out")
    return detector.misplaced


def _describe(name: str, kept: int, dropped: Counter[str]) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.most_common())
    left_out = f"{dropped.total()} dropped: {reasons}" if dropped else "none dropped"
    return f"{name}: {kept} pair{'s' if kept != 1 else ''} kept, {left_out}"
