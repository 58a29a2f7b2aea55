"""Two sides of one phrase whose words know what they translate.

Every word carries numbers; two words of the two sides that share a number are linked, so links survive any reordering
and a contraction is a union of numbers.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
Link = tuple[int, int, bool]

_SETS = {
    "o": ("o", "a", "os", "as"),
    "un": ("un", "unha", "uns", "unhas"),
    "este": ("este", "esta", "estes", "estas"),
    "ese": ("ese", "esa", "eses", "esas"),
    "outro": ("outro", "outra", "outros", "outras"),
    "algún": ("algún", "algunha", "algúns", "algunhas"),
}


def _contractions() -> dict[tuple[str, str], str]:
    table = {}
    for preposition, letter, families in (("de", "d", _SETS), ("en", "n", _SETS), ("con", "c", ("o", "un"))):
        for family in families:
            for word in _SETS[family]:
                # `co`, `coa` but `cun`, `cunha`: only the article `a` keeps the o of `con`.
                stem = "co" if preposition == "con" and word.startswith("a") else letter
                table[preposition, word] = stem + word
    table.update({("a", "o"): "ao", ("a", "a"): "á", ("a", "os"): "aos", ("a", "as"): "ás"})
    table.update({("por", word): "pol" + word for word in _SETS["o"]})
    return table


CONTRACTIONS = _contractions()


@dataclass(frozen=True)
class Word:
    """A word with the numbers of its sure and of its possible links."""

    text: str
    sure: frozenset[int] = frozenset()
    possible: frozenset[int] = frozenset()

    def merged(self, other: Word, text: str) -> Word:
        return Word(text, self.sure | other.sure, self.possible | other.possible)


Words = tuple[Word, ...]


Relations = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Bitext:
    """The English and the Galician words of one phrase, and the English (adjective or verb, noun) that it relates."""

    en: Words = ()
    gl: Words = ()
    relations: Relations = frozenset()

    def __add__(self, other: Bitext) -> Bitext:
        return Bitext(self.en + other.en, self.gl + other.gl, self.relations | other.relations)

    def replaced(self, *, en: Words | None = None, gl: Words | None = None) -> Bitext:
        """The same relations about other words."""
        return Bitext(self.en if en is None else en, self.gl if gl is None else gl, self.relations)

    def relating(self, *more: Relations) -> Bitext:
        """The same words with more relations: for orders that are not plain concatenation."""
        return Bitext(self.en, self.gl, self.relations.union(*more))


@dataclass
class Dice:
    """The one source of chance and of link numbers."""

    rng: random.Random
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def number(self) -> frozenset[int]:
        return frozenset({next(self.numbers)})

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.rng.random() * len(options))]

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        point = self.rng.random() * sum(weight for weight, _ in options)
        for weight, option in options:
            point -= weight
            if point < 0:
                return option
        return options[-1][1]


def related(modifier: str, noun: str) -> Relations:
    """One relation."""
    return frozenset({(modifier, noun)})


def words(text: str, *, sure: frozenset[int] = frozenset(), possible: frozenset[int] = frozenset()) -> Words:
    """The words of `text`, all with the same numbers."""
    return tuple(Word(word, sure, possible) for word in text.split())


def linked(dice: Dice, en: str, gl: str, links: str = "") -> Bitext:
    """A fixed phrase; `links` is Pharaoh inside it, by default every word with every word."""
    en_words, gl_words = en.split(), gl.split()
    if not links:
        number = dice.number()
        return Bitext(words(en, sure=number), words(gl, sure=number))
    source: list[frozenset[int]] = [frozenset()] * len(en_words)
    target: list[frozenset[int]] = [frozenset()] * len(gl_words)
    for link in links.split():
        s, t = map(int, link.split("-"))
        number = dice.number()
        source[s] |= number
        target[t] |= number
    return Bitext(tuple(map(Word, en_words, source)), tuple(map(Word, gl_words, target)))


def contracted(gl: Words) -> Words:
    """`de` + `o` is one word `do` that translates what both translated."""
    out: list[Word] = []
    for word in gl:
        joined = CONTRACTIONS.get((out[-1].text, word.text)) if out else None
        if joined:
            out[-1] = out[-1].merged(word, joined)
        else:
            out.append(word)
    return tuple(out)


def links(en: Words, gl: Words) -> list[Link]:
    """(source, target, sure) of all words that share a number, in order."""
    found = []
    for s, source in enumerate(en):
        for t, target in enumerate(gl):
            if source.sure & target.sure:
                found.append((s, t, True))
            elif source.sure & target.possible or source.possible & target.sure:
                found.append((s, t, False))
    return found


def surface(row: Words, end: str) -> str:
    """Text with a capital and its final mark; a comma stands alone until here and joins the word before it."""
    text = " ".join(word.text for word in row) + end
    return text[0].upper() + text[1:]
