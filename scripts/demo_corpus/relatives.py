"""Relative clauses, and clauses whose subject or object has one."""

from __future__ import annotations

from dataclasses import replace

from . import predicates, verbs
from .bitext import Bitext, Dice, linked, related, words
from .clauses import Clause, acted, acting, describing, person_subject, sensible, setting_of, subject_for
from .phrases import ARTICLES, Phrase, agreeing, noun_phrase, subject_of
from .verb_groups import Setting

_WHERE = verbs.named("live work sleep rest dance wait walk", verbs.BY_PERSONS)
_WITH = verbs.named("live work dance walk", verbs.BY_PERSONS)


def _who(dice: Dice, head: Phrase, tense: str) -> Bitext:
    """`who sells fish`, `that ate the cheese`."""
    silent = replace(head, text=Bitext())
    make = acting if dice.chance(0.75) else describing
    said = make(dice, tense, silent, proclisis=True).text
    return linked(dice, "who" if "person" in head.kinds else "that", "que") + said


def _with_whom(dice: Dice, head: Phrase, tense: str) -> Bitext:
    """`with whom she works` = `co que traballa`."""
    verb, subject = dice.pick(_WITH), person_subject(dice)
    said = predicates.with_gap(dice, verb, subject, Setting(tense, proclisis=True))
    with_, whom = dice.number(), dice.number()
    article = words(agreeing(ARTICLES, head.gender, head.plural))
    text = Bitext(
        words("with", sure=with_) + words("whom", sure=whom),
        words("con", sure=with_) + article + words("que", sure=whom),
    )
    return text + Clause(subject, said).text


def _where(dice: Dice, tense: str) -> Bitext:
    """`where they dance`."""
    verb, subject = dice.pick(_WHERE), person_subject(dice)
    said = predicates.with_gap(dice, verb, subject, setting_of(dice, tense, verb, proclisis=True))
    return linked(dice, "where", "onde") + Clause(subject, said).text


def _that(dice: Dice, head: Phrase, tense: str, not_by: str) -> Bitext | None:
    """`that the girl bought`, of another verb than `not_by`."""
    options = [
        v for v in verbs.TRANSITIVE if head.noun in predicates.OBJECTS[v] and not v.gl_preposition and v.en != not_by
    ]
    if not options or head.noun is None:
        return None
    verb = dice.pick(options)
    subject = subject_for(dice, verb)
    said = predicates.with_gap(dice, verb, subject, setting_of(dice, tense, verb, proclisis=True))
    text = linked(dice, "that", "que") + Clause(subject, said).text
    return replace(text, relations=text.relations | related(verb.en, head.noun.en))


def relative(dice: Dice, head: Phrase, tense: str, not_by: str = "") -> Bitext | None:
    """A relative clause on `head`, where one fits."""
    assert head.noun is not None
    roll = dice.rng.random()
    if "person" in head.kinds and roll < 0.15:
        return _with_whom(dice, head, tense)
    if ("person" in head.kinds and roll < 0.7) or ("animal" in head.kinds and roll < 0.5):
        return _who(dice, head, tense)
    if head.kinds & {"building", "town", "outdoors"} and roll < 0.5:
        return _where(dice, tense)
    return _that(dice, head, tense, not_by)


def extended(dice: Dice, phrase: Phrase, tense: str, not_by: str = "") -> Phrase:
    """`phrase` with a relative clause where one fits: not on names, kin, masses or what is long already."""
    noun = phrase.noun
    if noun is None or not noun.countable or "kin" in phrase.kinds or len(phrase.text.en) > 4:
        return phrase
    more = relative(dice, phrase, tense, not_by)
    return replace(phrase, text=phrase.text + more) if more else phrase


_CLOSED = {"kin", "language", "sport", "mass", "time"}


def with_relative(dice: Dice, tense: str) -> Bitext:
    """A clause whose subject or object has a relative clause."""
    verb = dice.pick(verbs.TRANSITIVE)
    setting = setting_of(dice, tense, verb)
    inner = {"future": "present"}.get(tense, tense)
    if dice.chance(0.4):
        subject = extended(dice, subject_of(dice, dice.pick(predicates.SUBJECTS[verb]), 0.15), inner)
        return Clause(subject, acted(dice, verb, subject, sensible(subject, setting))).text
    subject = subject_for(dice, verb)
    open_ = [n for n in predicates.OBJECTS[verb] if not n.kinds & _CLOSED and n.countable]
    if not open_:
        return Clause(subject, acted(dice, verb, subject, sensible(subject, setting))).text
    kind = dice.pick(["the", "the", "a", "demonstrative"])
    plural = kind != "a" and dice.chance(0.3)
    thing = noun_phrase(dice, dice.pick(open_), kind=kind, plural=plural, adjectives=int(dice.chance(0.2)))
    thing = extended(dice, thing, "past" if dice.chance(0.5) else inner, verb.en)
    return Clause(subject, predicates.transitive(dice, verb, subject, setting, thing)).text
