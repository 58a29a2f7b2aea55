"""Questions and commands; where `you` is one or many, the one called at the end tells."""

from __future__ import annotations

from dataclasses import replace

from . import conjugation, predicates, verbs
from .bitext import Bitext, Dice, linked, related, words
from .clauses import DESCRIBED, Clause, acted, description, person_subject, subject_for
from .compounds import COMMA, where_is
from .phrases import Phrase, name, noun_phrase, subject_of
from .verb_groups import Predicate, Setting


def _asked(subject: Phrase, said: Predicate) -> Bitext:
    """English inverts with its auxiliary; Galician keeps the order of the statement."""
    text = Bitext(said.aux + subject.text.en + said.rest, subject.text.gl + said.gl)
    return text.relating(subject.text.relations, said.relations)


def yes_no(dice: Dice) -> Bitext:
    tense = dice.pick(["present", "past", "past", "future"])
    if dice.chance(0.35):
        subject = person_subject(dice) if dice.chance(0.5) else subject_of(dice, dice.pick(DESCRIBED), 0.15)
        return _asked(subject, description(dice, subject, Setting(tense, question=True)))
    verb = dice.pick(verbs.VERBS)
    subject = subject_for(dice, verb)
    return _asked(subject, acted(dice, verb, subject, Setting(tense, question=True)))


_VOCATIVES = (
    ("children", "nenos", True, ""), ("boys", "rapaces", True, ""), ("girls", "rapazas", True, ""),
    ("my friends", "meus amigos", True, "0-0 1-1"), ("my friend", "meu amigo", False, "0-0 1-1"),
    ("my son", "meu fillo", False, "0-0 1-1"), ("grandfather", "avó", False, ""),
)  # fmt: skip


def vocative(dice: Dice) -> tuple[Bitext, bool]:
    """Whom one speaks to, and whether they are many."""
    if dice.chance(0.35):
        return name(dice).text, False
    en, gl, plural, links = dice.pick(_VOCATIVES)
    return linked(dice, en, gl, links), plural


_ASKED_OF_YOU = tuple(v for v in verbs.VERBS if "you" in v.flags)


def you_question(dice: Dice) -> Bitext:
    """`do you have a key, children?` = `tedes unha chave, nenos?`."""
    verb = dice.pick(_ASKED_OF_YOU)
    called, plural = vocative(dice)
    subject = Phrase(Bitext(words("you")), 2, plural, "m", kinds=frozenset({"person", "adult"}), gender_known=False)
    lasting = verb.en in {"have", "live", "work", "understand", "hear", "see"}
    tense = "present" if lasting and dice.chance(0.7) else "past"
    return _asked(subject, acted(dice, verb, subject, Setting(tense, question=True))) + COMMA + called


_COMMANDED = tuple(
    v for v in verbs.named("open close wash read eat drink buy clean sing write listen look sell", verbs.TRANSITIVE)
    if "person" in v.subjects.split() and v.particle != "for"
)  # fmt: skip


def command(dice: Dice) -> Bitext:
    """`close the door, children` = `pechade a porta, nenos`."""
    verb, number = dice.pick(_COMMANDED), dice.number()
    called, plural = vocative(dice)
    gl = verb.gl[:-1] + "de" if plural else conjugation.finite(verb.gl, "present", 3)
    noun = dice.pick([n for n in predicates.OBJECTS[verb] if not n.kinds & {"kin", "person"}])
    many, adjectives = noun.countable and dice.chance(0.3), int(dice.chance(0.2))
    thing = noun_phrase(dice, noun, kind=dice.pick(["the", "the", "demonstrative"]), plural=many, adjectives=adjectives)
    en = words(verb.en + " " + verb.particle, sure=number)
    text = Bitext(en, words(gl, sure=number), related(verb.en, noun.en)) + thing.text
    please = COMMA + linked(dice, "please", "por favor") if dice.chance(0.25) else Bitext()
    return text + please + COMMA + called


def _inverted(subject: Phrase, said: Predicate) -> Bitext:
    """After a question word the Galician verb comes before its subject, the rest after."""
    front = next(i for i, word in enumerate(said.gl) if word.text not in {"me", "nos", "lle", "lles", "se"}) + 1
    gl = said.gl[:front] + subject.text.gl + said.gl[front:]
    return Bitext(said.aux + subject.text.en + said.rest, gl).relating(subject.text.relations, said.relations)


_WHERE = verbs.named("live work sleep swim dance rest walk stay wait", verbs.BY_PERSONS)


def where_when_why(dice: Dice) -> Bitext:
    """`where does he live?`, `when did the train arrive?`, `why is the child crying?`."""
    en, gl = dice.pick([("where", "onde"), ("when", "cando"), ("why", "por que")])
    tense = dice.pick(["past", "past", "future"] if en == "when" else ["present", "past"])
    setting = Setting(tense, question=True, proclisis=True)
    if en == "where" and dice.chance(0.5):
        return where_is(dice, dice.pick(["present", "past"]), embedded=False)
    verb = dice.pick(_WHERE if en == "where" else verbs.VERBS)
    subject = subject_for(dice, verb)
    said = predicates.with_gap(dice, verb, subject, setting) if en == "where" else acted(dice, verb, subject, setting)
    return linked(dice, en, gl) + _inverted(subject, said)


def who(dice: Dice) -> Bitext:
    verb = dice.pick([v for v in verbs.VERBS if "person" in v.subjects.split()])
    subject = Phrase(linked(dice, "who", "quen"), 3, False, "m", kinds=frozenset({"person"}))
    tense = dice.pick(["present", "past", "past", "future"])
    return Clause(subject, acted(dice, verb, subject, Setting(tense, proclisis=True))).text


_THINGS = {
    verb: [n for n in predicates.OBJECTS[verb] if n.countable and not n.kinds & {"kin", "person"}]
    for verb in verbs.TRANSITIVE
    if not verb.gl_preposition and not verb.particle
}
# One `what` with two translations of the verb would not tell which is meant.
_PLAIN = tuple(
    v for v, things in _THINGS.items()
    if things and sum(other.en == v.en for other in verbs.VERBS) == 1 and "adult" not in v.objects
)  # fmt: skip


def what(dice: Dice) -> Bitext:
    """`what did he buy?`, `how many books did he buy?`, `which book did he buy?`."""
    verb = dice.pick(_PLAIN)
    subject = subject_for(dice, verb)
    setting = Setting(dice.pick(["present", "past", "past", "future"]), question=True, proclisis=True)
    asked = _inverted(subject, predicates.with_gap(dice, verb, subject, setting))
    kind = dice.pick(["what", "how many", "which"])
    if kind == "what":
        return linked(dice, "what", "que") + asked
    noun = dice.pick(_THINGS[verb])
    thing = noun_phrase(dice, noun, kind="bare", plural=kind == "how many" or dice.chance(0.2), adjectives=0)
    many = "cantas" if noun.gender == "f" else "cantos"
    text = linked(dice, kind, many if kind == "how many" else "que") + thing.text + asked
    return replace(text, relations=text.relations | related(verb.en, noun.en))


QUESTIONS = ((0.3, yes_no), (0.25, where_when_why), (0.12, who), (0.18, what), (0.15, you_question))
