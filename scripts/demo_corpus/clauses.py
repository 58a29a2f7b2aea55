"""One clause: a subject with a verb of the lexicon or with what it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import copulas, nouns, predicates, verbs
from .bitext import Bitext, Dice
from .infinitives import modal
from .phrases import Phrase, both, name, pronoun, subject_of
from .verb_groups import Predicate, Setting
from .verbs import Verb


@dataclass(frozen=True)
class Clause:
    """A subject and what is said of it, in the order of a statement."""

    subject: Phrase
    predicate: Predicate

    @property
    def text(self) -> Bitext:
        said = self.predicate
        return self.subject.text + Bitext(said.aux + said.rest, said.gl).relating(said.relations)


def person_subject(dice: Dice, *, first_person: bool = False) -> Phrase:
    """Someone who acts; `I` only where asked, so that few verbs need its forms."""
    roll = dice.rng.random()
    if roll < 0.22:
        return name(dice)
    if roll < 0.40:
        return pronoun(dice.weighted(((0.4, "he"), (0.4, "she"), (0.2, "they"))))
    if roll < 0.48:
        return pronoun("I") if first_person else name(dice)
    if roll < 0.53:
        return both(dice, name(dice), subject_of(dice, dice.pick(nouns.of_kinds("kin")), 0))
    return subject_of(dice, dice.pick(nouns.of_kinds("person")))


def subject_for(dice: Dice, verb: Verb) -> Phrase:
    """A subject that fits the verb."""
    known = bool(verb.flags & {"you", "we"})
    if "we" in verb.flags and dice.chance(0.12):
        return pronoun("we")
    if set(verb.subjects.split()) & {"person", "adult"} and (verb.subjects in {"person", "adult"} or dice.chance(0.7)):
        someone = person_subject(dice, first_person=known)
        if someone.noun is None or someone.noun in predicates.SUBJECTS[verb]:
            return someone
    return subject_of(dice, dice.pick(predicates.SUBJECTS[verb]))


_ADVERBS = {
    "present": (("always", "sempre"), ("never", "nunca"), ("also", "tamén")),
    "past": (("never", "nunca"), ("also", "tamén"), ("already", "xa")),
    "future": (("never", "nunca"), ("also", "tamén"), ("always", "sempre")),
}


def setting_of(
    dice: Dice, tense: str, verb: Verb | None = None, *, proclisis: bool = False, adverbs: bool = True
) -> Setting:
    """Polarity, adverb and aspect by chance."""
    flags = verb.flags if verb else frozenset({"state"})
    if "prog" in flags and dice.chance({"present": 0.5, "past": 0.15}.get(tense, 0.0)):
        return Setting("progressive" if tense == "present" else "past progressive", proclisis=proclisis)
    if dice.chance(0.13):
        return Setting(tense, negated=True, proclisis=proclisis)
    adverb = dice.pick(_ADVERBS[tense]) if adverbs and dice.chance(0.09) else None
    if "state" in flags and adverb in {("already", "xa"), ("always", "sempre")}:
        adverb = None
    return Setting(tense, adverb=adverb, proclisis=proclisis)


def able(pool: tuple[Verb, ...], subject: Phrase) -> list[Verb]:
    """The verbs of `pool` that the subject can do."""
    found = [v for v in pool if v.done_by(subject.names)]
    return [v for v in found if v.flags & {"you", "we"}] if subject.person == 1 else found


def acting(
    dice: Dice, tense: str, subject: Phrase | None = None, *, proclisis: bool = False, adverbs: bool = True
) -> Clause:
    """A clause with a verb of the lexicon."""
    pool = dice.weighted(((0.62, verbs.TRANSITIVE), (0.26, verbs.INTRANSITIVE), (0.12, verbs.GIVING)))
    options = able(pool, subject) or able(verbs.VERBS, subject) if subject else list(pool)
    if subject and not options:
        return describing(dice, tense, subject, proclisis=proclisis)
    verb = dice.pick(options)
    subject = subject or subject_for(dice, verb)
    if "person" in subject.kinds and dice.chance(0.08):
        plain = Setting("past" if tense == "past" else "present", negated=dice.chance(0.15), proclisis=proclisis)
        return Clause(subject, modal(dice, subject, sensible(subject, plain)))
    setting = setting_of(dice, tense, verb, proclisis=proclisis, adverbs=adverbs)
    return Clause(subject, acted(dice, verb, subject, sensible(subject, setting)))


def sensible(subject: Phrase, setting: Setting) -> Setting:
    """`every man` and `many men` are not denied things."""
    counted = bool(subject.text.en) and subject.text.en[0].text in {"every", "many", "some"}
    return replace(setting, negated=False, adverb=None) if counted else setting


_ONGOING = tuple(verb for verb in verbs.VERBS if "prog" in verb.flags)


def ongoing(dice: Dice, tense: str) -> Clause:
    """What someone is or was doing: `while she was singing`."""
    verb = dice.pick(_ONGOING)
    subject = subject_for(dice, verb)
    setting = Setting("progressive" if tense == "present" else "past progressive", proclisis=True)
    return Clause(subject, acted(dice, verb, subject, setting))


def acted(dice: Dice, verb: Verb, subject: Phrase, setting: Setting) -> Predicate:
    """The predicate of any verb."""
    if "give" in verb.flags:
        return predicates.giving(dice, verb, subject, setting)
    if not verb.objects:
        return predicates.intransitive(dice, verb, subject, setting)
    return predicates.transitive(dice, verb, subject, setting)


DESCRIBED = tuple(n for n in nouns.NOUNS if not n.kinds & {"language", "sport", "weather", "sky", "body", "time"})


def _thing(dice: Dice) -> Phrase:
    return subject_of(dice, dice.pick(DESCRIBED), 0.2)


def describing(dice: Dice, tense: str, subject: Phrase | None = None, *, proclisis: bool = False) -> Clause:
    """A clause with `be`."""
    if subject is None:
        subject = person_subject(dice, first_person=True) if dice.chance(0.45) else _thing(dice)
    setting = sensible(subject, setting_of(dice, tense, proclisis=proclisis))
    return Clause(subject, description(dice, subject, setting))


def description(dice: Dice, subject: Phrase, setting: Setting) -> Predicate:
    """What the subject is, feels, or where it is."""
    person = "person" in subject.kinds
    plain = replace(setting, adverb=None)
    roll = dice.rng.random()
    if person and roll < 0.18:
        return copulas.feeling(dice, subject, setting)
    if person and roll < 0.26 and not subject.plural:
        return copulas.age(dice, subject, replace(plain, negated=False))
    if person and roll < 0.36 and subject.noun is None and not subject.plural and subject.gender_known:
        return copulas.being_something(dice, subject, plain)
    if roll < 0.42 and subject.noun and subject.noun.countable:
        compared = copulas.comparing(dice, subject, plain)
        if compared:
            return compared
    if roll < 0.62 and (person or subject.kinds & {"thing", "animal", "vehicle"}):
        return copulas.being_somewhere(dice, subject, plain)
    return copulas.being(dice, subject, setting) or copulas.being_somewhere(dice, subject, plain)
