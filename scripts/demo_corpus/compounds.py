"""Sentences of several clauses: coordination, reasons, times, conditions, what is said, thought or asked."""

from __future__ import annotations

from dataclasses import replace

from . import copulas, infinitives, nouns, predicates, verbs
from .bitext import Bitext, Dice, linked, related, words
from .clauses import Clause, acting, describing, ongoing, person_subject, setting_of, subject_for
from .conjugation import finite
from .constructions import liking, modal_again
from .phrases import Phrase, noun_phrase, object_of, pronoun, subject_of
from .places import motion
from .times import if_it_rains, time_of, weather
from .verb_groups import Setting, english_finite, verb_group

COMMA = Bitext(words(","), words(","))
_FINITE = {"future": "present"}


def timed(dice: Dice, tense: str) -> Bitext:
    """A clause and when it happens, the time first or last."""
    clause = acting(dice, tense, adverbs=False)
    progressive = tense == "present" and any(word.text in {"is", "are", "am"} for word in clause.predicate.aux)
    when = time_of(dice, "now" if progressive else tense)
    return when + COMMA + clause.text if dice.chance(0.3) else clause.text + when


def _but(dice: Dice) -> Bitext:
    return COMMA + linked(dice, "but", "pero")


def _and(dice: Dice) -> Bitext:
    return linked(dice, "and", "e")


_FIRST = tuple(v for v in verbs.TRANSITIVE if "clitic" in v.flags or v.en in {"want", "forget", "choose", "leave"})


def same_again(dice: Dice, tense: str) -> Bitext:
    """`bought the apples and ate them`: the pronoun's gender and number come from the first object."""
    first = dice.pick(_FIRST)
    subject = subject_for(dice, first)
    noun = dice.pick([n for n in predicates.OBJECTS[first] if n.countable or "mass" in n.kinds])
    thing = object_of(dice, noun, 0.25)
    one = Clause(subject, predicates.transitive(dice, first, subject, Setting(tense), thing)).text
    negative = dice.chance(0.35)
    if negative and dice.chance(0.5) and tense != "future":
        return one + _but(dice) + modal_again(dice, subject, tense, thing)
    able = [
        v for v in verbs.TRANSITIVE
        if "clitic" in v.flags and noun in predicates.OBJECTS[v] and v.done_by(subject.names) and v.en != first.en
    ]  # fmt: skip
    if not able:
        return one
    second, clitic = dice.pick(able), predicates.object_pronoun(dice, thing)
    again = predicates.with_gap(dice, second, subject, Setting(tense, negated=negative), clitic)
    tail = Bitext(again.aux + again.rest, again.gl, related(second.en, noun.en))
    return one + (_but(dice) if negative else _and(dice)) + tail


_JUDGED = verbs.named("buy wash want open clean sell choose read repair visit find eat carry paint", verbs.TRANSITIVE)


def and_it(dice: Dice, tense: str) -> Bitext:
    """`bought a shirt because it was cheap`: the adjective agrees with something said before."""
    verb = dice.pick(_JUDGED)
    subject = subject_for(dice, verb)
    noun = dice.pick([n for n in predicates.OBJECTS[verb] if not n.kinds & {"person", "mass"} and n.countable])
    plural = dice.chance(0.25)
    kind = dice.pick(["the", "demonstrative"] if plural else ["the", "a", "demonstrative"])
    thing = noun_phrase(dice, noun, kind=kind, plural=plural, adjectives=0)
    one = Clause(subject, predicates.transitive(dice, verb, subject, setting_of(dice, tense, verb), thing)).text
    it = replace(thing, text=Bitext(words("they" if plural else "it")))
    said = copulas.being(dice, it, Setting(_FINITE.get(tense, tense), negated=dice.chance(0.15)))
    if said is None:
        return one
    link = dice.pick([linked(dice, "because", "porque"), _but(dice), COMMA + _and(dice)])
    return one + link + Clause(it, said).text


def who_else(subject: Phrase) -> Phrase:
    """The same person again as a pronoun."""
    if subject.person == 1:
        return pronoun("we" if subject.plural else "I")
    again = pronoun("they" if subject.plural else {"m": "he", "f": "she"}[subject.gender])
    return replace(again, gender=subject.gender, gender_known=subject.gender_known, kinds=subject.kinds)


def and_then(dice: Dice, tense: str) -> Bitext:
    """Two predicates of one subject."""
    subject = person_subject(dice)
    first = acting(dice, tense, subject).text
    second = acting(dice, tense, replace(subject, text=Bitext())).text
    link = ("or", "ou") if tense == "present" and dice.chance(0.2) else ("and", "e")
    return first + linked(dice, *link) + second


def two_clauses(dice: Dice, tense: str) -> Bitext:
    one = dice.pick([acting, acting, describing])(dice, tense).text
    two = dice.pick([acting, describing])(dice, tense).text
    return one + (_but(dice) if dice.chance(0.5) else COMMA + _and(dice)) + two


def explained(dice: Dice, tense: str) -> Bitext:
    """A clause and its reason, time or concession."""
    subject = person_subject(dice)
    return acting(dice, tense, subject).text + reason(dice, subject, tense)


def reason(dice: Dice, subject: Phrase, tense: str) -> Bitext:
    """`because she was tired`, `while it was raining`, `although he did not like the wine`."""
    again, now = who_else(subject), _FINITE.get(tense, tense)
    roll = dice.rng.random()
    if roll < 0.15:
        return linked(dice, "because", "porque") + liking(dice, now, again, proclisis=True)
    if roll < 0.45:
        return linked(dice, "because", "porque") + describing(dice, now, again, proclisis=True).text
    if roll < 0.6:
        return linked(dice, "because", "porque") + weather(dice, now)
    if roll < 0.75 and tense != "future":
        return linked(dice, "while", "mentres") + ongoing(dice, tense).text
    return linked(dice, "although", "aínda que", "0-0 0-1") + describing(dice, now, again, proclisis=True).text


_MOVING = verbs.named("go return travel", verbs.INTRANSITIVE)


def on_purpose(dice: Dice, tense: str) -> Bitext:
    """`went to the market to buy apples` = `foi ao mercado para mercar mazás`."""
    verb, subject = dice.pick(_MOVING), person_subject(dice)
    going = predicates.with_gap(dice, verb, subject, setting_of(dice, tense))
    purpose = infinitives.infinitive(dice, who_else(subject), None, pool=infinitives.PURPOSES)
    return Clause(subject, going).text + motion(dice, "to") + linked(dice, "to", "para") + purpose


def when_first(dice: Dice, tense: str) -> Bitext:
    """A subordinate clause first: `when it rains, ...`, `if ...`, `when she arrives, ... will ...`."""
    if tense == "future":
        return _when_future(dice)
    links = [("when", "cando"), ("when", "cando"), ("while", "mentres"), ("if", "se")]
    link = dice.pick(links[: 4 if tense == "present" else 3])
    if dice.chance(0.25):
        inner = weather(dice, tense)
    else:
        inner = (ongoing(dice, tense) if link[0] == "while" else acting(dice, tense, proclisis=True)).text
    main = dice.pick([acting, acting, describing])(dice, tense).text
    return linked(dice, *link) + inner + COMMA + main


_ARRIVING = verbs.named("arrive come return wake", verbs.INTRANSITIVE)


def _when_future(dice: Dice) -> Bitext:
    """`when she arrives` of a time to come is a Galician subjunctive: `cando chegue`."""
    main = acting(dice, "future").text
    if dice.chance(0.3):
        return if_it_rains(dice) + COMMA + main
    verb, subject, number = dice.pick(_ARRIVING), person_subject(dice), dice.number()
    en = words(english_finite(verb.en, subject, "present") + " " + verb.particle, sure=number)
    gl = words(finite(verb.gl, "subjunctive", subject.gl_person), sure=number)
    when = linked(dice, "when", "cando") + subject.text + Bitext(en, gl)
    return when + predicates.complement(dice, verb) + COMMA + main


_THINKING = (("say", "dicir", False), ("know", "saber", True), ("think", "pensar", True), ("believe", "crer", True))


def thinking(dice: Dice, tense: str) -> Bitext:
    """`knows that ...` = `sabe que ...`."""
    subject = person_subject(dice, first_person=True)
    en, gl, state = dice.pick(_THINKING)
    group = verb_group(dice, en, gl, subject, Setting(_FINITE.get(tense, tense)), state=state)
    other = who_else(subject) if dice.chance(0.3) else None
    inner = dice.pick([acting, describing])(dice, tense, other, proclisis=True).text
    return Clause(subject, group).text + linked(dice, "that", "que") + inner


def asking(dice: Dice, tense: str) -> Bitext:
    """`asked if ...` = `preguntou se ...`; `knows where the key is` = `sabe onde está a chave`."""
    subject, now = person_subject(dice), _FINITE.get(tense, tense)
    if dice.chance(0.5):
        group = verb_group(dice, "ask", "preguntar", subject, Setting(now))
        inner = dice.pick([acting, describing])(dice, now, proclisis=True).text
        return Clause(subject, group).text + linked(dice, "if", "se") + inner
    group = verb_group(dice, "know", "saber", subject, Setting(now, negated=dice.chance(0.5)), state=True)
    return Clause(subject, group).text + where_is(dice, now, embedded=True)


def where_is(dice: Dice, tense: str, *, embedded: bool) -> Bitext:
    """`where the key is` or `where is the key`: both `onde está a chave`."""
    thing = subject_of(dice, dice.pick(nouns.of_kinds("thing animal person vehicle building")), 0.2)
    is_ = verb_group(dice, "be", "estar", thing, Setting(tense), state=True)
    asked = linked(dice, "where", "onde")
    en = asked.en + (thing.text.en + is_.aux if embedded else is_.aux + thing.text.en)
    return Bitext(en, asked.gl + is_.gl + thing.text.gl).relating(thing.text.relations)
