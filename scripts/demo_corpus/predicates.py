"""What the verbs of the lexicon say: objects, recipients, places, and the passive."""

from __future__ import annotations

from dataclasses import replace

from . import conjugation, english, nouns, verbs
from .adjectives import forms_of
from .bitext import Bitext, Dice, linked, related, words
from .phrases import Phrase, object_of, preposition, subject_of
from .places import arrival, beneficiary, companion, duration, has_place, motion, where
from .verb_groups import Clitic, Predicate, Setting, progressive, spelled_alike, verb_group
from .verbs import Verb

OBJECTS = {verb: nouns.of_kinds(verb.objects) for verb in verbs.VERBS}
SUBJECTS = {verb: nouns.of_kinds(verb.subjects) for verb in verbs.VERBS}


def object_text(dice: Dice, verb: Verb, found: Phrase) -> Bitext:
    """The object with the verb's particle and preposition: `look for the key` = `buscar a chave`."""
    text = found.text
    if verb.gl_preposition:
        number = dice.number()
        particle = words(verb.particle, sure=number)
        # `answer the question` = `responder á pregunta`: the preposition is the verb's own.
        before = Bitext(particle, words(verb.gl_preposition, sure=number if particle else frozenset()))
        text = before + text
    return text.relating(related(verb.en, found.noun.en)) if found.noun else text


def _particle(verb: Verb, group: Predicate) -> Predicate:
    """A particle with no Galician preposition belongs to the verb: both words link to it."""
    if not verb.particle or verb.gl_preposition:
        return group
    sure = next(word.sure for word in reversed(group.rest) if word.sure)
    return replace(group, rest=group.rest + words(verb.particle, sure=sure))


def with_gap(dice: Dice, verb: Verb, subject: Phrase, setting: Setting, clitic: Clitic | None = None) -> Predicate:
    """The verb alone or with a pronoun; a full object is said elsewhere."""
    if setting.tense in {"progressive", "past progressive"}:
        tense = "present" if setting.tense == "progressive" else "past"
        return _particle(verb, progressive(dice, verb.en, verb.gl, subject, replace(setting, tense=tense)))
    if spelled_alike(verb.en, subject, setting):
        if clitic is None:
            return _particle(verb, progressive(dice, verb.en, verb.gl, subject, setting))
        setting = replace(setting, negated=True)
    state = "state" in verb.flags
    return _particle(verb, verb_group(dice, verb.en, verb.gl, subject, setting, state=state, clitic=clitic))


def transitive(dice: Dice, verb: Verb, subject: Phrase, setting: Setting, found: Phrase | None = None) -> Predicate:
    """Verb and object; what the grammar chose itself may have company or a place too."""
    group = with_gap(dice, verb, subject, setting)
    if found is not None:
        return group.plus(object_text(dice, verb, found))
    chosen = object_of(dice, dice.pick(OBJECTS[verb]))
    return group.plus(object_text(dice, verb, chosen)).plus(_circumstance(dice, verb, subject, setting))


def object_pronoun(dice: Dice, thing: Phrase) -> Clitic:
    """The pronoun of a known thing: `it` is `o` or `a` by what it stands for."""
    animate = thing.noun is None or "person" in thing.kinds
    en = "them" if thing.plural else ({"m": "him", "f": "her"}[thing.gender] if animate else "it")
    gl = ("o", "a", "os", "as")[(thing.gender == "f") + 2 * thing.plural]
    return Clitic(gl, en, dice.number())


def _recipient(dice: Dice, subject: Phrase) -> tuple[Clitic, Bitext]:
    """A pronoun alone, or a noun doubled by `lle`."""
    if dice.chance(0.4):
        first = [("me", "me"), ("nos", "us")] if subject.person == 3 else []
        gl, en = dice.pick([*first, ("lle", "him"), ("lle", "her"), ("lles", "them")])
        return Clitic(gl, en, dice.number()), Bitext()
    person = subject_of(dice, dice.pick(nouns.of_kinds("person")), 0.15)
    return Clitic("lles" if person.plural else "lle", possible=person.head), preposition(dice, "to") + person.text


def giving(dice: Dice, verb: Verb, subject: Phrase, setting: Setting) -> Predicate:
    """`gave the book to the girl` = `deulle o libro á rapaza`."""
    clitic, to_whom = _recipient(dice, subject)
    thing = object_of(dice, dice.pick(OBJECTS[verb]))
    group = with_gap(dice, verb, subject, setting, clitic)
    return group.plus(object_text(dice, verb, thing)).plus(to_whom)


def complement(dice: Dice, verb: Verb) -> Bitext:
    """The place that fits an intransitive verb, or nothing."""
    if verb.en == "arrive":
        return arrival(dice)
    if verb.flags & {"to", "from"}:
        return motion(dice, dice.pick(sorted(verb.flags & {"to", "from"})))
    if "swimmable" in verb.flags or verb.en in {"live", "stay"} or ("at" in verb.flags and dice.chance(0.6)):
        return where(dice, verb.en)
    return Bitext()


_MANNERS = {
    "work": ("a lot", "moito"), "cry": ("a lot", "moito"), "laugh": ("a lot", "moito"), "sleep": ("well", "ben"),
    "sing": ("very well", "moi ben"), "dance": ("well", "ben"), "swim": ("very well", "moi ben"),
    "run": ("quickly", "rapidamente"), "walk": ("slowly", "amodo"), "rest": ("a lot", "moito"),
    "grow": ("quickly", "rapidamente"), "travel": ("a lot", "moito"),
}  # fmt: skip


_TOGETHER = {"dance", "travel", "walk", "work", "sing", "play", "eat", "live"}
_FOR_SOMEONE = {"buy", "choose", "cook", "look", "paint", "draw", "plant"}
_LASTING = {"work", "sleep", "wait", "rest", "dance", "walk", "run", "cry", "live", "stay", "study", "play", "travel"}


def _manner(dice: Dice, verb: Verb) -> Bitext:
    if verb.en not in _MANNERS or verb.gl == "funcionar":
        return Bitext()
    en, gl = _MANNERS[verb.en]
    return linked(dice, en, gl, "0-0 1-1" if "very" in en else "")


def intransitive(dice: Dice, verb: Verb, subject: Phrase, setting: Setting) -> Predicate:
    """Verb, perhaps its manner, its place, its company or how long."""
    group = with_gap(dice, verb, subject, setting)
    plain = not setting.question and "progress" not in setting.tense
    if plain and dice.chance(0.25):
        group = group.plus(_manner(dice, verb))
    group = group.plus(complement(dice, verb))
    return group.plus(_circumstance(dice, verb, subject, setting))


def _circumstance(dice: Dice, verb: Verb, subject: Phrase, setting: Setting) -> Bitext:
    """With whom, for whom, where or how long; often nothing."""
    if verb.en in _TOGETHER and "person" in subject.kinds and not subject.plural and dice.chance(0.2):
        return companion(dice, subject)
    if verb.en in _FOR_SOMEONE and "person" in subject.kinds and verb.particle != "at" and dice.chance(0.25):
        return beneficiary(dice)
    if verb.en in _LASTING and not setting.question and setting.tense in {"past", "future"} and dice.chance(0.25):
        return duration(dice)
    if verb.objects and has_place(verb.en) and dice.chance(0.2):
        return where(dice, verb.en)
    return Bitext()


def passive(dice: Dice, verb: Verb, tense: str, by_whom: bool) -> tuple[Phrase, Predicate]:
    """`the letters were written by the girl` = `as cartas foron escritas pola rapaza`."""
    subject = subject_of(dice, dice.pick(OBJECTS[verb]), 0.2)
    group = verb_group(dice, "be", "ser", subject, Setting(tense))
    form = forms_of(conjugation.participle(verb.gl))[(subject.gender == "f") + 2 * subject.plural]
    said = linked(dice, english.participle(verb.en), form)
    assert subject.noun is not None
    group = group.plus(said.relating(related(verb.en, subject.noun.en)))
    if by_whom:
        group = group.plus(preposition(dice, "by") + subject_of(dice, dice.pick(SUBJECTS[verb]), 0.15).text)
    return subject, group
