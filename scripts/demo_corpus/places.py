"""Where things happen: places that fit a verb, places of things, movement, company, duration."""

from __future__ import annotations

from . import nouns
from .bitext import Bitext, Dice, linked, words
from .nouns import Noun
from .phrases import Phrase, name, noun_phrase, preposition, subject_of

PLACES = nouns.of_kinds("at:in at:on at:at")

# The places of a verb by its English lemma: kinds or names of nouns.
_FOR_VERB = {
    "sleep": "house hotel bedroom castle hospital garden farm", "live": "house town farm island castle country",
    "work": "factory office farm hospital museum hotel restaurant shop bank library port",
    "run": "street beach park square forest", "walk": "street beach park square forest mountain garden bridge",
    "dance": "square theatre beach house kitchen", "sing": "church theatre square kitchen bathroom school",
    "cry": "bedroom kitchen street park school", "laugh": "street kitchen park school theatre",
    "wait": "station port square park hospital bank restaurant", "rest": "garden beach park bedroom farm forest",
    "stay": "house hotel town hospital office school", "grow": "garden farm island", "buy": "market shop",
    "sell": "market shop square", "read": "library school garden bedroom park", "study": "library school kitchen",
    "eat": "restaurant kitchen garden", "drink": "restaurant kitchen garden", "play": "park beach square school garden",
    "cook": "kitchen restaurant", "paint": "garden beach", "see": "town park street beach station market",
    "find": "street beach park forest garden", "lose": "street beach station market", "draw": "school museum park",
    "hide": "garden forest kitchen bedroom", "learn": "school", "hear": "forest street church park",
    "plant": "garden farm",
    "catch": "river sea lake", "leave": "station hotel house office", "write": "library office garden",
    "swim": "swimmable",
    "steal": "museum bank hotel shop house", "wash": "kitchen bathroom river",
}  # fmt: skip


def place_preposition(noun: Noun) -> str:
    return next((kind[3:] for kind in sorted(noun.kinds) if kind.startswith("at:")), "in")


def of_place(dice: Dice, noun: Noun, en: str) -> Bitext:
    """`en` + a place."""
    kind = dice.weighted(((0.78, "the"), (0.1, "demonstrative"), (0.12, "a")))
    adjectives = int(dice.chance(0.15))
    return preposition(dice, en) + noun_phrase(dice, noun, kind=kind, plural=False, adjectives=adjectives).text


def town(dice: Dice, en: str) -> Bitext:
    return preposition(dice, en) + town_name(dice)


def town_name(dice: Dice) -> Bitext:
    chosen = dice.pick(list(nouns.TOWNS))
    number = dice.number()
    return Bitext(words(chosen, sure=number), words(nouns.TOWNS[chosen], sure=number))


_PARTS_OF_PLACES = (
    ("on", "bank", "beira f", "river lake"), ("on", "corner", "esquina f", "street square"),
    ("in", "corner", "recuncho m", "room"),
)  # fmt: skip


def part_of_place(dice: Dice) -> Bitext:
    """`the bank of the river` = `a beira do río`; the owner tells which corner is meant."""
    on, en, gl, owners = dice.pick(_PARTS_OF_PLACES)
    gl, gender = gl.split()
    part = noun_phrase(dice, Noun(en, "-", gl, "-", gender, frozenset()), kind="the", plural=False, adjectives=0)
    owner = noun_phrase(dice, dice.pick(nouns.of_kinds(owners)), kind="the", plural=False, adjectives=0)
    return preposition(dice, on) + part.text + preposition(dice, "of") + owner.text


def where(dice: Dice, verb: str = "") -> Bitext:
    """Somewhere: a place that fits `verb`, any place without one."""
    roll = dice.rng.random()
    if roll < 0.1:
        return town(dice, "in")
    if roll < 0.17 and verb not in {"swim", "catch", "run", "walk"}:
        return linked(dice, "at home", "en a casa", "0-0 1-2")
    if roll < 0.24 and verb not in {"swim", "catch", "live", "grow", "hear"}:
        return part_of_place(dice)
    noun = dice.pick(nouns.of_kinds(_FOR_VERB[verb]) if verb in _FOR_VERB else PLACES)
    if roll < 0.36 and "building" in noun.kinds:
        return of_place(dice, noun, dice.pick(["near", "behind", "in front of", "next to"]))
    return of_place(dice, noun, place_preposition(noun))


def has_place(verb: str) -> bool:
    return verb in _FOR_VERB


def where_thing(dice: Dice) -> Bitext:
    """Where a small thing lies."""
    roll = dice.rng.random()
    if roll < 0.45:
        return of_place(dice, dice.pick(nouns.of_kinds("top")), dice.pick(["on", "on", "under", "next to", "behind"]))
    if roll < 0.75:
        return of_place(dice, dice.pick(nouns.of_kinds("container")), dice.pick(["in", "in", "inside"]))
    return of_place(dice, dice.pick(nouns.of_kinds("room")), "in")


def motion(dice: Dice, en: str) -> Bitext:
    """`to` or `from` a place."""
    return town(dice, en) if dice.chance(0.25) else of_place(dice, dice.pick(PLACES), en)


def arrival(dice: Dice) -> Bitext:
    """`at the station`, `in Vigo`: Galician arrives `a`."""
    number = dice.number()
    if dice.chance(0.3):
        return Bitext(words("in", sure=number), words("a", sure=number)) + town_name(dice)
    noun = dice.pick(nouns.of_kinds("building island beach port farm"))
    place = noun_phrase(dice, noun, kind="the", plural=False, adjectives=int(dice.chance(0.15)))
    return Bitext(words("at", sure=number), words("a", sure=number)) + place.text


_WITH_PRONOUNS = (("with me", "comigo", ""), ("with us", "connosco", ""), ("with him", "con el", "0-0 1-1"),
                  ("with her", "con ela", "0-0 1-1"))  # fmt: skip


def companion(dice: Dice, subject: Phrase) -> Bitext:
    """`with María`, `with my brother`, `with me` = `comigo`."""
    if dice.chance(0.25) and subject.person == 3:
        return linked(dice, *dice.pick(_WITH_PRONOUNS))
    return preposition(dice, "with") + _someone(dice)


def beneficiary(dice: Dice) -> Bitext:
    """`for his daughter`."""
    return preposition(dice, "for") + _someone(dice)


def _someone(dice: Dice) -> Bitext:
    if dice.chance(0.3):
        return name(dice).text
    return subject_of(dice, dice.pick(nouns.of_kinds("person")), 0.15).text


_DURATIONS = (
    ("for two hours", "durante dúas horas", "0-0 1-1 2-2"), ("for three days", "durante tres días", "0-0 1-1 2-2"),
    ("for ten minutes", "durante dez minutos", "0-0 1-1 2-2"), ("for many years", "durante moitos anos", "0-0 1-1 2-2"),
    ("all day", "todo o día", "0-0 1-2"), ("all night", "toda a noite", "0-0 1-2"),
    ("for an hour", "durante unha hora", "0-0 1-1 2-2"),
)  # fmt: skip


def duration(dice: Dice) -> Bitext:
    return linked(dice, *dice.pick(_DURATIONS))
