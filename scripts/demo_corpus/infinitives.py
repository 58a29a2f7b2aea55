"""Verbs that take another verb: modal verbs and the infinitive after them."""

from __future__ import annotations

from dataclasses import replace

from . import spelling, verbs
from .bitext import Bitext, Dice, linked, related, words
from .phrases import Phrase, object_of
from .predicates import OBJECTS, complement, object_pronoun, object_text
from .verb_groups import Predicate, Setting, galician_verb, negation, verb_group

# English, what leads to the infinitive, Galician with its own link word.
_MODALS = (
    ("want", "to", "querer"), ("can", "", "poder"), ("must", "", "deber"), ("have", "to", "ter que"),
    ("begin", "to", "empezar a"), ("try", "to", "intentar"), ("need", "to", "precisar"), ("decide", "to", "decidir"),
    ("know", "how to", "saber"), ("be", "to", "ir"),
)  # fmt: skip


def _auxiliary(dice: Dice, en: str, gl: str, subject: Phrase, setting: Setting) -> Predicate:
    """`can`, `could`, `must`: they take no `do`, and `can` grows together with its negation."""
    number = dice.number()
    past = en == "can" and setting.tense == "past"
    finite = "could" if past else en
    no = negation(number) if setting.negated else frozenset()
    known = replace(setting, tense="past" if past else "present")
    found = galician_verb(gl, subject, known, number, state=True, clitic=None)
    if finite == "can" and setting.negated and not setting.question:
        return Predicate(words("cannot", sure=number | no), (), found, frozenset())
    return Predicate(words(finite, sure=number), words("not", sure=no) if no else (), found, frozenset())


def _going(dice: Dice, subject: Phrase, setting: Setting) -> Predicate:
    """`is going to` = `vai`."""
    group = verb_group(dice, "be", "ir", subject, setting, state=True)
    return group.plus(Bitext(words("going", sure=group.aux[0].sure) + words("to")))


def modal_group(dice: Dice, en: str, particle: str, gl: str, subject: Phrase, setting: Setting) -> Predicate:
    """The first verb of the two, with the words that lead to the second."""
    if en == "be":
        return _going(dice, subject, setting)
    if en in {"can", "must"}:
        return _auxiliary(dice, en, gl, subject, setting)
    gl, _, link = gl.partition(" ")
    group = verb_group(dice, en, gl, subject, setting, state=en in {"want", "know", "have", "need"})
    return group.plus(linked(dice, particle, link) if link else Bitext(words(particle)))


def modal(dice: Dice, subject: Phrase, setting: Setting, known: Phrase | None = None) -> Predicate:
    """A verb with an infinitive: `wants to see him` = `quere velo`."""
    en, particle, gl = dice.pick([m for m in _MODALS if m[0] != "must" or setting.tense == "present"])
    setting = replace(setting, adverb=None)
    if en in {"decide", "begin", "try"} and setting.tense == "present":
        setting = replace(setting, tense="past")
    group = modal_group(dice, en, particle, gl, subject, setting)
    return group.plus(infinitive(dice, subject, known, pool=_SKILLS if en == "know" else _ANY))


_ANY = tuple(v for v in verbs.TRANSITIVE + 2 * verbs.INTRANSITIVE if "state" not in v.flags and v.gl != "erguerse")
_SKILLS = verbs.named("swim cook play dance sing draw repair read write", _ANY)
PURPOSES = verbs.named("buy see visit look eat drink work sleep rest study dance swim sell play listen wait read", _ANY)


def infinitive(dice: Dice, subject: Phrase, known: Phrase | None, *, pool: tuple[verbs.Verb, ...]) -> Bitext:
    """A bare infinitive of `pool` with its object or place, or with a pronoun for what is `known`."""
    options = [v for v in pool if v.done_by(subject.names)]
    able = [v for v in options if "clitic" in v.flags and known and known.noun in OBJECTS[v]]
    if known and able:
        return _with_pronoun(dice, dice.pick(able), known)
    verb = dice.pick(options)
    number = dice.number()
    particle = words(verb.particle, sure=number) if verb.particle and not verb.gl_preposition else ()
    text = Bitext(words(verb.en, sure=number) + particle, words(verb.gl, sure=number))
    if not verb.objects:
        return text + complement(dice, verb)
    return text + object_text(dice, verb, object_of(dice, dice.pick(OBJECTS[verb]), 0.25))


def _with_pronoun(dice: Dice, verb: verbs.Verb, known: Phrase) -> Bitext:
    assert known.noun is not None
    clitic, number = object_pronoun(dice, known), dice.number()
    en = words(verb.en, sure=number) + words(clitic.en, sure=clitic.sure)
    gl = words(spelling.joined(verb.gl, clitic.gl), sure=number | clitic.sure)
    return Bitext(en, gl, related(verb.en, known.noun.en))
