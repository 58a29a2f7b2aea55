"""Verb groups: the finite verb with its tense, adverb, negation and object pronoun, on both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import conjugation, english, spelling
from .bitext import Bitext, Dice, Relations, Words, linked, words
from .phrases import Phrase


@dataclass(frozen=True)
class Predicate:
    """English `aux` goes before the subject in a question, `rest` after it; `gl` is whole."""

    aux: Words
    rest: Words
    gl: Words
    relations: Relations

    def plus(self, more: Bitext) -> Predicate:
        return replace(self, rest=self.rest + more.en, gl=self.gl + more.gl, relations=self.relations | more.relations)


@dataclass(frozen=True)
class Setting:
    """What the clause around asks of its verb."""

    tense: str
    negated: bool = False
    adverb: tuple[str, str] | None = None
    question: bool = False
    # Clitics stand before the verb: subordinate clauses, question words, `ninguén`.
    proclisis: bool = False


@dataclass(frozen=True)
class Clitic:
    """An object pronoun; `en` is empty for the `lle` that doubles a noun."""

    gl: str
    en: str = ""
    sure: frozenset[int] = frozenset()
    possible: frozenset[int] = frozenset()


def english_verb(
    en: str, subject: Phrase, setting: Setting, number: frozenset[int], adverb: Words
) -> tuple[Words, Words]:
    """(auxiliaries, rest) of an English verb; auxiliaries of one Galician word are possible links."""
    before = (words("not", sure=negation(number)) if setting.negated else ()) + adverb
    if setting.tense == "future":
        return words("will", possible=number), before + words(en, sure=number)
    finite = english_finite(en, subject, setting.tense)
    if en == "be":
        return words(finite, sure=number), before
    if setting.negated or setting.question:
        return words(english_finite("do", subject, setting.tense), possible=number), before + words(en, sure=number)
    return (), before + words(finite, sure=number)


def negation(number: frozenset[int]) -> frozenset[int]:
    """The number of `not`, made of its verb's: negative numbers are nobody else's."""
    return frozenset(-1 - n for n in number)


def english_finite(en: str, subject: Phrase, tense: str) -> str:
    if en == "be":
        present, past = {1: ("am", "was"), 3: ("is", "was")}.get(subject.gl_person, ("are", "were"))
        return past if tense == "past" else present
    if tense == "past":
        return english.past(en)
    return english.third_person(en) if subject.third_singular else en


_REFLEXIVE = {1: "me", 2: "te", 3: "se", 4: "nos", 5: "vos", 6: "se"}


def galician_verb(
    infinitive: str, subject: Phrase, setting: Setting, number: frozenset[int], *, state: bool, clitic: Clitic | None
) -> Words:
    """`non` + clitic + verb, or the verb with its enclitic."""
    reflexive = infinitive.endswith("se")
    infinitive = infinitive.removesuffix("se")
    tense = "imperfect" if setting.tense == "past" and state else setting.tense
    verb = words(conjugation.finite(infinitive, tense, subject.gl_person), sure=number)
    no = words("non", sure=negation(number)) if setting.negated else ()
    if reflexive:
        clitic = Clitic(_REFLEXIVE[subject.gl_person], possible=number)
    if clitic is None:
        return no + verb
    if setting.negated or setting.proclisis or setting.adverb:
        return no + words(clitic.gl, sure=clitic.sure, possible=clitic.possible) + verb
    return words(spelling.joined(verb[0].text, clitic.gl), sure=number | clitic.sure, possible=clitic.possible)


def verb_group(
    dice: Dice,
    en: str,
    gl: str,
    subject: Phrase,
    setting: Setting,
    *,
    state: bool = False,
    clitic: Clitic | None = None,
) -> Predicate:
    """The finite verb of a clause with its adverb, negation and object pronoun."""
    number = dice.number()
    adverb = linked(dice, *setting.adverb) if setting.adverb else Bitext()
    aux, rest = english_verb(en, subject, setting, number, adverb.en)
    if clitic and clitic.en:
        rest += words(clitic.en, sure=clitic.sure)
    found = galician_verb(gl, subject, setting, number, state=state, clitic=clitic)
    return Predicate(aux, rest, adverb.gl + found, frozenset())


def progressive(dice: Dice, en: str, gl: str, subject: Phrase, setting: Setting) -> Predicate:
    """`is reading` = `está lendo`."""
    being = verb_group(dice, "be", "estar", subject, setting, state=True)
    return being.plus(linked(dice, english.gerund(en), conjugation.gerund(gl)))


def spelled_alike(en: str, subject: Phrase, setting: Setting) -> bool:
    """`they read`: English does not tell present from past, so the grammar must not use it as a present."""
    plain = not (setting.negated or setting.question)
    return setting.tense == "present" and plain and not subject.third_singular and english.past(en) == en
