"""From a stream of sentences to train, dev and test: what is held out, what may repeat, what every word owes train."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import bitext, english, predicates, verbs
from .adjectives import ADJECTIVES
from .bitext import Dice
from .nouns import NOUNS
from .phrases import FITTING
from .sentences import Sentence, sentence

SIZES = {"train": 12_000, "dev": 500, "test": 500}
# One in HELD_OUT_RATE pairs of adjective and noun, or verb and object, never meets in train.
HELD_OUT_RATE = 40
HELD_OUT_SHARE = 0.25
FEWEST_OTHERS = 8
FEWEST_IN_TRAIN = 3
SHORTEST, LONGEST = 3, 30


@dataclass(frozen=True)
class Row:
    """One finished pair; `held_out`: it has such a pair of lemmas anywhere; `novel`: one of them is a real relation."""

    en: str
    gl: str
    words: tuple[bitext.Words, bitext.Words]
    held_out: bool
    novel: bool

    @property
    def gold(self) -> str:
        """Pharaoh links, `s-t` sure and `spt` possible."""
        return " ".join(f"{s}{'-' if sure else 'p'}{t}" for s, t, sure in bitext.links(*self.words))

    @property
    def length(self) -> int:
        return len(self.en.split())


def possible_relations() -> list[tuple[str, str]]:
    """Every (adjective or verb, noun) that the lexicon lets meet, of those that keep enough others in train."""
    fitted = [(a.en, [noun for noun in NOUNS if a in FITTING[noun.en]]) for a in ADJECTIVES]
    taken = [(verb.en, list(predicates.OBJECTS[verb])) for verb in verbs.VERBS]
    return sorted({(en, noun.en) for en, met in fitted + taken if len(met) >= FEWEST_OTHERS for noun in met})


def is_held_out(relation: tuple[str, str]) -> bool:
    return zlib.crc32(" ".join(relation).encode()) % HELD_OUT_RATE == 0


HELD_OUT = frozenset(filter(is_held_out, possible_relations()))


def _lemmas() -> dict[str, frozenset[str]]:
    """Every English form of a noun, verb or graded adjective with the lemmas that it may be of."""
    forms: dict[str, set[str]] = {}
    for noun in NOUNS:
        for form in (noun.en, noun.en_plural, noun.en + "'s"):
            forms.setdefault(form.lower(), set()).add(noun.en)
    for verb in verbs.VERBS:
        for inflect in (str, english.third_person, english.past, english.participle, english.gerund):
            forms.setdefault(inflect(verb.en), set()).add(verb.en)
    for adjective in ADJECTIVES:
        for inflect in (str, english.comparative, english.superlative):
            forms.setdefault(inflect(adjective.en), set()).add(adjective.en)
    return {form: frozenset(lemmas) for form, lemmas in forms.items()}


LEMMAS = _lemmas()


def held_out_pairs(sentence_en: str) -> frozenset[tuple[str, str]]:
    """The held-out pairs whose two lemmas are both among the words of a sentence, wherever they stand."""
    bare = (word.rstrip(".,?") for word in sentence_en.lower().split())
    lemmas = {lemma for word in bare for lemma in LEMMAS.get(word, ())}
    return frozenset(pair for pair in HELD_OUT if pair[0] in lemmas and pair[1] in lemmas)


def _commas(row: bitext.Words) -> bitext.Words:
    """A comma joins the word before it."""
    out: list[bitext.Word] = []
    for word in row:
        if word.text == ",":
            out[-1] = bitext.Word(out[-1].text + ",", out[-1].sure, out[-1].possible)
        else:
            out.append(word)
    return tuple(out)


def finished(made: Sentence) -> Row:
    """Contractions, commas, capital, final mark and links."""
    en, gl = _commas(made.text.en), _commas(bitext.contracted(made.text.gl))
    source = bitext.surface(en, made.end)
    return Row(
        source,
        bitext.surface(gl, made.end),
        (en, gl),
        bool(held_out_pairs(source)),
        bool(made.text.relations & HELD_OUT),
    )


def stream(dice: Dice) -> Iterator[Row]:
    """Rows that are new on both sides; one English sentence has one translation."""
    translations: dict[str, str] = {}
    seen: set[str] = set()
    while True:
        row = finished(sentence(dice))
        known = translations.setdefault(row.en, row.gl)
        assert known == row.gl, (row.en, known, row.gl)
        if row.gl in seen or not SHORTEST <= row.length <= LONGEST or len(row.gl.split()) > LONGEST:
            continue
        seen.add(row.gl)
        yield row


def fields(row: Row) -> Iterator[tuple[str, str]]:
    """Every word of both sides with its side."""
    yield from (("en", word) for word in row.en.split())
    yield from (("gl", word) for word in row.gl.split())


def _band(row: Row) -> int:
    return min(row.length, 25) // 5


def quotas(train: list[Row], size: int) -> Counter[int]:
    """How many rows of each band of length make `size` rows spread like train."""
    share = Counter(map(_band, train))
    wanted = Counter({band: size * n // len(train) for band, n in share.items()})
    wanted[1] += size - sum(wanted.values())
    return wanted


def collect(rows: Iterator[Row], wanted: Counter[int], accept: Callable[[Row], bool]) -> list[Row]:
    """The first acceptable rows that fill the bands."""
    left, out = wanted.copy(), []
    while left.total() > 0:
        row = next(rows)
        if left[_band(row)] > 0 and accept(row):
            left[_band(row)] -= 1
            out.append(row)
    return out


def corpora(dice: Dice) -> dict[str, list[Row]]:
    """Train, dev and test."""
    rows = stream(dice)
    train: list[Row] = []
    while len(train) < SIZES["train"]:
        row = next(rows)
        if not row.held_out:
            train.append(row)
    counts = Counter(field for row in train for field in fields(row))

    def known(row: Row) -> bool:
        return all(counts[field] >= FEWEST_IN_TRAIN for field in fields(row))

    novel = int(SIZES["test"] * HELD_OUT_SHARE)
    dev = collect(rows, quotas(train, SIZES["dev"]), lambda row: known(row) and not row.held_out)
    plain = collect(rows, quotas(train, SIZES["test"] - novel), lambda row: known(row) and not row.held_out)
    new = collect(rows, quotas(train, novel), lambda row: known(row) and row.novel)
    test = plain + new
    dice.rng.shuffle(test)
    return {"train": train, "dev": dev, "test": test}
