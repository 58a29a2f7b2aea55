"""What someone or something is: ser, estar, ter; comparing, ageing, feeling."""

from __future__ import annotations

from . import english, nouns
from .adjectives import ADJECTIVES, Adjective, forms_of
from .bitext import Bitext, Dice, linked, related, words
from .phrases import FITTING, Phrase, adjective_text, object_of, preposition, subject_of
from .places import where, where_thing
from .verb_groups import Predicate, Setting, verb_group

_LOW = Adjective("low", forms_of("baixo"), frozenset(), frozenset({"ser"}))  # of prices alone


def adjective_of(dice: Dice, subject: Phrase) -> Adjective | None:
    """An adjective that may be said of the subject, or None."""
    options = FITTING[subject.noun.en] if subject.noun else tuple(a for a in ADJECTIVES if a.kinds & subject.kinds)
    if [word.text for word in subject.text.en] == ["it"]:
        # `it is cold` is said of the weather here, and Galician says that otherwise.
        options = tuple(a for a in options if a.en not in {"hot", "cold"})
    said_before = {modifier for modifier, _ in subject.text.relations}
    options = tuple(a for a in options if a.en not in said_before)
    options = tuple(a for a in options if "attributive" not in a.flags and ("before" not in a.flags or a.en == "good"))
    if not subject.gender_known:
        options = tuple(a for a in options if a.invariable)
    return dice.pick(options) if options else None


def being(dice: Dice, subject: Phrase, setting: Setting) -> Predicate | None:
    """`is` + adjective: ser or estar by the adjective."""
    adjective = adjective_of(dice, subject)
    if adjective is None:
        return None
    group = verb_group(dice, "be", adjective.copula, subject, setting, state=True)
    said = adjective_text(dice, adjective, subject.gender, subject.plural, adjective.by_degrees and dice.chance(0.25))
    if subject.noun:
        said = said.relating(related(adjective.en, subject.noun.en))
    return group.plus(said)


def being_named(dice: Dice, subject: Phrase, setting: Setting, quality: str) -> Predicate:
    """`is` + the adjective written as `english galician`."""
    adjective = next((a for a in ADJECTIVES if f"{a.en} {a.forms[0]}" == quality), None) or _LOW
    group = verb_group(dice, "be", adjective.copula, subject, setting, state=True)
    very = adjective.by_degrees and dice.chance(0.25)
    return group.plus(adjective_text(dice, adjective, subject.gender, subject.plural, very))


def being_somewhere(dice: Dice, subject: Phrase, setting: Setting) -> Predicate:
    group = verb_group(dice, "be", "estar", subject, setting, state=True)
    small = bool(subject.kinds & {"thing", "food"})
    return group.plus(where_thing(dice) if small else where(dice))


def _job(dice: Dice, subject: Phrase) -> Bitext:
    """`is a doctor` = `é médica`: no article in Galician, gender by the subject."""
    noun = dice.pick([n for n in nouns.of_kinds("job") if n.en in nouns.FEMININE_JOBS or n.gender == subject.gender])
    feminine = subject.gender == "f" and noun.en in nouns.FEMININE_JOBS
    number = dice.number()
    en = words(english.article(noun.en)) + words(noun.en, sure=number)
    gl = words(nouns.FEMININE_JOBS[noun.en] if feminine else noun.gl, sure=number)
    return Bitext(en, gl)


def being_something(dice: Dice, subject: Phrase, setting: Setting) -> Predicate:
    return verb_group(dice, "be", "ser", subject, setting, state=True).plus(_job(dice, subject))


_FEELINGS = {
    "hungry": "fame f",
    "thirsty": "sede f",
    "sleepy": "sono m",
    "afraid": "medo m",
    "cold": "frío m",
    "right": "razón f",
}


def feeling(dice: Dice, subject: Phrase, setting: Setting) -> Predicate:
    """`is very hungry` = `ten moita fame`: Galician has what English is."""
    en = dice.pick(list(_FEELINGS))
    gl, gender = _FEELINGS[en].split()
    group = verb_group(dice, "be", "ter", subject, setting, state=True)
    if dice.chance(0.3) and en not in {"right", "afraid"}:
        group = group.plus(linked(dice, "very", "moita" if gender == "f" else "moito"))
    group = group.plus(linked(dice, en, gl))
    if en == "afraid":
        feared = object_of(dice, dice.pick(nouns.of_kinds("wild dog storm wind night sea exam king")), 0.15)
        group = group.plus(preposition(dice, "of") + feared.text)
    return group


_YOUNG = (
    ("two", "dous"), ("three", "tres"), ("four", "catro"), ("five", "cinco"), ("six", "seis"), ("seven", "sete"),
    ("eight", "oito"), ("nine", "nove"), ("ten", "dez"),
)  # fmt: skip
_GROWN = (("twenty", "vinte"), ("thirty", "trinta"), ("forty", "corenta"), ("fifty", "cincuenta"), ("sixty", "sesenta"))


def age(dice: Dice, subject: Phrase, setting: Setting) -> Predicate:
    """`is ten years old` = `ten dez anos`."""
    grown, young = "adult" in subject.kinds, "young" in subject.kinds
    ages = _YOUNG + _GROWN if grown == young else _GROWN if grown else _YOUNG
    group = verb_group(dice, "be", "ter", subject, setting, state=True)
    year = linked(dice, "years", "anos")
    return group.plus(linked(dice, *dice.pick(ages)) + year + Bitext(words("old", possible=year.en[0].sure)))


def comparing(dice: Dice, subject: Phrase, setting: Setting) -> Predicate | None:
    """`is taller than the tree` = `é máis alto que a árbore`."""
    options = [a for a in FITTING[subject.noun.en] if "graded" in a.flags] if subject.noun else []
    if subject.noun is None or not options:
        return None
    adjective = dice.pick(options)
    alike = [n for n in nouns.NOUNS if n.kinds & subject.noun.kinds - {"thing", "place", "nature"} and n.countable]
    rival = dice.pick([n for n in alike if adjective in FITTING[n.en]] or [subject.noun])
    group = verb_group(dice, "be", "ser", subject, setting, state=True)
    more = linked(dice, english.comparative(adjective.en), "máis " + adjective.form(subject.gender, subject.plural))
    than = linked(dice, "than", "que") + subject_of(dice, rival, 0.1).text
    relations = related(adjective.en, subject.noun.en)
    return group.plus(more.relating(relations)).plus(than)
