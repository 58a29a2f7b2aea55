"""What a line is written in: the script of its letters, and which of a corpus's two languages it looks like.

Nothing is known of any language beforehand: scripts come from the names of Unicode's characters, and the two languages
from the corpus itself, by the letters that follow one another in the words of its two sides.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import log
from typing import TypeVar

Value = TypeVar("Value")

SAME_SCRIPT = {
    "CJK": "Han",
    "IDEOGRAPHIC": "Han",
    "HIRAGANA": "Kana",
    "KATAKANA": "Kana",
    "KATAKANA-HIRAGANA": "Kana",
    "HENTAIGANA": "Kana",
}  # by the first word of a character's name; every other script is named by that word itself
WIDTHS = ("FULLWIDTH", "HALFWIDTH", "SUPERSCRIPT")  # the script is the next word
NO_SCRIPT = {
    *("MODIFIER", "FEMININE", "MASCULINE", "MICRO", "CARON", "VERTICAL", "TURNED", "MATHEMATICAL", "DOUBLE-STRUCK"),
    *("SCRIPT", "BLACK-LETTER", "EULER", "PLANCK", "OHM", "KELVIN", "ANGSTROM", "INFORMATION", "ROMAN", "MASU"),
}  # letters of every text, such as º and µ
MIXED = {"Japanese": {"Han", "Kana"}, "Korean": {"Han", "Hangul"}}  # what is written in two scripts
LAST_LATIN = "\u02af"  # every letter up to here is Latin, or of no script

ORDER = 4  # letters of the longest n-gram
LARGE = 1_000  # letters of an alphabet, as Han has: n-grams of two tell enough there
LONGEST = 300  # characters of a line that are looked at
FEWEST = 15  # letters: a line of fewer, a name or a heading, is not judged
SHRINK = 20  # letters by which a short line's margin is made smaller
CLEAR = 0.3  # a margin that tells a language, in nats a letter
ROUNDS = 3  # of learning, each but the first from the pairs that the one before finds right
REMEMBERED = 100_000  # words, and n-grams, whose evidence is kept


@cache
def script_of(character: str) -> str | None:
    """The script of one character ("Latin", "Han", ...); None: no letter, or a letter of no script. Kana are one."""
    if not character.isalpha():
        return None
    words = unicodedata.name(character, "TANGUT").split()  # the only letters without a name
    first = words[1] if words[0] in WIDTHS else words[0]
    return None if first in NO_SCRIPT else SAME_SCRIPT.get(first, first.capitalize())


def main_script(text: str) -> str | None:
    """The script of the most letters; None where there are no letters. Han is Japanese beside kana, and Korean beside
    hangul, and counted together with them."""
    counts = _count_scripts(text)
    for name, own in ("Japanese", "Kana"), ("Korean", "Hangul"):
        if own in counts:
            counts[name] = sum(counts[script] for script in MIXED[name])
    return max(counts, key=lambda script: (counts[script], script in MIXED), default=None)


def usual_script(lines: Iterable[str]) -> str | None:
    """The script that is the main one of the most lines; None where there are no letters."""
    counts = Counter(filter(None, map(main_script, lines)))
    return max(counts, key=lambda script: counts[script], default=None)


def is_foreign(line: str, script: str | None) -> bool:
    """Whether more than half of the line's letters are of another script (None: never)."""
    if script is None or (script == "Latin" and max(line, default="") <= LAST_LATIN):
        return False
    counts = _count_scripts(line)
    return 2 * sum(counts[own] for own in MIXED.get(script, {script})) < sum(counts.values())


class Detector:
    """Tells the two sides of a corpus from one another by their letters.

    Two models of n-grams of letters within words (up to ORDER, lower case, word ends counted as letters), interpolated
    after Witten and Bell (1991), one of each side. tells_apart: whether they tell the sides of pairs that they have not
    seen; where not (both sides are one language, or the same text), nothing looks like either.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Learn from these pairs: a hundred help, five thousand are plenty. Some may be wrong: swapped, or one text
        twice. Every fifth is for a test."""
        learnt = [pair for place, pair in enumerate(pairs) if place % 5]
        self._learn(learnt)
        for _ in range(ROUNDS - 1):
            self._learn([pair for pair in learnt if self._evidence(pair[0])[0] > 0 > self._evidence(pair[1])[0]])
        self.tells_apart = True
        self.tells_apart = self._tells_apart(pairs[::5])

    def margin(self, line: str) -> float:
        """By how much the line looks more like the source than like the target, in nats a letter: negative for target,
        beyond CLEAR for certain; 0 for a line with fewer than FEWEST letters, and where the sides can't be told."""
        evidence, letters = self._evidence(line)
        return evidence / (letters + SHRINK) if letters >= FEWEST and self.tells_apart else 0.0

    def misplaced(self, source: str, target: str) -> bool:
        """Whether a side is clearly in the other side's language."""
        return self.margin(source) < -CLEAR or self.margin(target) > CLEAR

    def _learn(self, pairs: Sequence[tuple[str, str]]) -> None:
        source, target = (Counter(word for pair in pairs for word in _words(pair[side][:LONGEST])) for side in (0, 1))
        alphabet = len({letter for word in [*source, *target] for letter in word})
        self._order = ORDER if alphabet < LARGE else 2
        self._source, self._target = (_Letters(words, self._order, 1 / (1 + alphabet)) for words in (source, target))
        self._fields: dict[str, tuple[float, int]] = {}
        self._grams: dict[str, float] = {}

    def _evidence(self, line: str) -> tuple[float, int]:
        """The log of the ratio of both models' probabilities, and of how many letters."""
        evidence, letters = 0.0, 0
        for field in line[:LONGEST].split():
            own = self._fields.get(field) or _remember(self._fields, field, self._evidence_of_field(field))
            evidence += own[0]
            letters += own[1]
        return evidence, letters

    def _evidence_of_field(self, field: str) -> tuple[float, int]:
        words = _words(field)
        grams = (gram for word in words for gram in _grams(word, self._order))
        return sum(map(self._evidence_of_gram, grams)), sum(map(len, words))

    def _evidence_of_gram(self, gram: str) -> float:
        if (known := self._grams.get(gram)) is not None:
            return known
        return _remember(self._grams, gram, log(self._source.probability(gram) / self._target.probability(gram)))

    def _tells_apart(self, pairs: Sequence[tuple[str, str]]) -> bool:
        """Whether most lines that can be judged, and enough of them, are clearly told for what they are."""
        margins = [margin for pair in pairs for margin in (self.margin(pair[0]), -self.margin(pair[1])) if margin]
        return len(margins) >= FEWEST and 2 * sum(margin > CLEAR for margin in margins) > len(margins)


class _Letters:
    """The probability of a letter after others: P(c | h) = (n(hc) + t(h) P(c | h without its first)) / (n(h) + t(h)),
    where t(h) is how many different letters follow h, and `uniform` is what P ends in."""

    def __init__(self, words: Mapping[str, int], order: int, uniform: float) -> None:
        """Learn from words with their counts; order: letters of the longest n-gram."""
        self._uniform = uniform
        self._counts: Counter[str] = Counter()
        for word, count in words.items():
            for gram in _grams(word, order):
                for begin in range(len(gram)):
                    self._counts[gram[begin:]] += count
        self._followers: dict[str, tuple[int, int]] = {}  # what stands before -> n(h), t(h)
        for gram, count in self._counts.items():
            total, kinds = self._followers.get(gram[:-1], (0, 0))
            self._followers[gram[:-1]] = total + count, kinds + 1

    def probability(self, gram: str) -> float:
        """Of its last letter after those before."""
        result = self._uniform
        for begin in range(len(gram) - 1, -1, -1):
            followers = self._followers.get(gram[begin:-1])
            if followers is None:
                break
            total, kinds = followers
            result = (self._counts.get(gram[begin:], 0) + kinds * result) / (total + kinds)
        return result


def _grams(word: str, order: int) -> list[str]:
    """Each letter of the word and its end, after at most `order` less one before it; the word's begin is one too."""
    text = f" {word} "
    return [text[max(0, end - order) : end] for end in range(2, len(text) + 1)]


def _remember(known: dict[str, Value], key: str, value: Value) -> Value:
    if len(known) >= REMEMBERED:
        known.clear()
    known[key] = value
    return value


def _count_scripts(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if script := script_of(character):
            counts[script] += count
    return counts


def _words(line: str) -> list[str]:
    """The runs of letters and of the marks on them, in lower case."""
    return "".join(c if c.isalpha() or unicodedata.category(c)[0] == "M" else " " for c in line.lower()).split()
