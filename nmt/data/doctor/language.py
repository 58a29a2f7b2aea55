"""Lines in the wrong language, pairs the wrong way round: judged by what the corpus itself teaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from statistics import fmean

from nmt.data.corpora.corpus import Pair
from nmt.data.doctor.findings import Finding, Tally
from nmt.data.doctor.reading import Part
from nmt.data.languages import CLEAR, Detector, is_foreign, usual_script

SAMPLE = 2_000  # pairs of a part that teach
FEWEST_SWAPPED = 5  # pairs, and
SHARE = 0.05  # of all, from which on it is no accident
OWN = 4  # times that a word of a language is more frequent there than in the other
CAUGHT = 0.9  # of the lines of a language that its own words must be in, for other lines to be passed over


class Languages:
    """What a corpus teaches about its two languages. scripts: the usual one of each side."""

    def __init__(self, detector: Detector, pairs: Sequence[Pair]) -> None:
        self.detector = detector
        self.scripts = [usual_script(side) for side in zip(*pairs, strict=True)]
        margins = [(line, detector.margin(line)) for pair in pairs for line in pair]
        lines = [line for line, margin in margins if margin > 0], [line for line, margin in margins if margin < 0]
        counts = [Counter(word for line in side for word in line.split()) for side in lines]
        own = [_own_words(*counts), _own_words(*reversed(counts))]
        # Words are looked up much faster than the detector judges, which then sees only suspects.
        caught = [_share_with(words, side) for words, side in zip(own, lines, strict=True)]
        self.own_words = own if min(caught) >= CAUGHT else None

    def margins(self, source: str, target: str) -> tuple[float, float]:
        """The detector's, but 0 for a line without any word that is the other language's."""
        if self.own_words is None:
            return self.detector.margin(source), self.detector.margin(target)
        of_source, of_target = self.own_words
        left = 0.0 if of_target.isdisjoint(source.split()) else self.detector.margin(source)
        return left, 0.0 if of_source.isdisjoint(target.split()) else self.detector.margin(target)


def _own_words(counts: Counter[str], others: Counter[str]) -> frozenset[str]:
    return frozenset(word for word, count in counts.items() if count > 1 and count > OWN * others[word])


def _share_with(words: frozenset[str], lines: Sequence[str]) -> float:
    return fmean(not words.isdisjoint(line.split()) for line in lines) if lines else 0.0


class Judge:
    """Of the pairs of one part, in mended text."""

    def __init__(self, part: Part, languages: Languages) -> None:
        self.sides, self.languages = part.sides, languages
        self.pairs = self.swapped = 0

    def look(self, tally: Tally, number: int, source: str, target: str) -> None:
        """At line `number` (from 1) of both sides."""
        for name, line, script in zip(self.sides, (source, target), self.languages.scripts, strict=True):
            if not (script == "Latin" and line.isascii()) and is_foreign(line, script):
                tally.note("script", name, number, line)
        left, right = self.languages.margins(source, target)
        self.pairs += 1
        if left < -CLEAR and right > CLEAR:
            self.swapped += 1
            tally.note("swapped", None, number, source, target)
        elif left < -CLEAR:
            tally.note("foreign", self.sides[0], number, source, badness=-left)
        elif right > CLEAR:
            tally.note("foreign", self.sides[1], number, target, badness=right)

    def sum_up(self, tally: Tally) -> None:
        """Swapped pairs that are too many for single mistakes become a finding for a person."""
        if self.swapped >= max(FEWEST_SWAPPED, SHARE * self.pairs):
            swapped: Finding = tally.take("swapped", None)
            swapped.kind = "exchanged"
            swapped.detail = f"of {self.pairs:,} with text"
            tally.add(swapped)


def judges(parts: Sequence[Part]) -> list[Judge | None]:
    """One for each of these parts of two sides; all learn from the first part that tells its sides apart, training
    before the others. None where no part does, and for parts of other than two sides."""
    for part in parts:
        pairs = sample(part) if len(part.sides) == 2 else []
        detector = Detector(pairs)
        if detector.tells_apart:
            languages = Languages(detector, pairs)
            return [Judge(other, languages) if len(other.sides) == 2 else None for other in parts]
    return [None for _ in parts]


def sample(part: Part) -> list[Pair]:
    """Up to SAMPLE pairs with text on both sides: from all over files, and the first of other corpora."""
    count = part.count()
    rows = part.rows() if count is None else islice(part.rows(), 0, None, -(-count // SAMPLE) or 1)
    pairs = ((source, target) for (source, target), _ in rows if source and target)
    return list(islice(pairs, SAMPLE))
