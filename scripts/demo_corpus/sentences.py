"""Which sentences there are, and how often each kind comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import compounds, constructions, times
from .bitext import Bitext, Dice, linked
from .clauses import acting, describing, person_subject
from .questions import QUESTIONS, command
from .relatives import with_relative

Maker = Callable[[Dice, str], Bitext]


@dataclass(frozen=True)
class Sentence:
    """The words of both sides and the mark that ends them."""

    text: Bitext
    end: str = "."


def _now(tense: str) -> str:
    return "present" if tense == "future" else tense


def _weather(dice: Dice, tense: str) -> Bitext:
    return times.weather(dice, tense) + times.time_of(dice, "now" if tense == "present" else tense)


_SHORT: tuple[tuple[float, Maker], ...] = (
    (0.25, lambda dice, tense: acting(dice, tense).text),
    (0.16, lambda dice, tense: describing(dice, tense).text),
    (0.12, lambda dice, tense: constructions.liking(dice, _now(tense))),
    (0.09, lambda dice, tense: constructions.existing(dice, _now(tense))),
    (0.06, lambda dice, tense: constructions.aching(dice, _now(tense))),
    (0.12, constructions.modal_clause),
    (0.08, constructions.passive),
    (0.04, constructions.nobody),
    (0.04, constructions.superlative),
    (0.09, lambda dice, tense: constructions.parts(dice, _now(tense))),
    (0.02, _weather),
)
_LONGER: tuple[tuple[float, Maker], ...] = (
    (0.16, compounds.timed), (0.14, with_relative), (0.10, compounds.same_again), (0.09, compounds.and_it),
    (0.07, compounds.and_then), (0.09, compounds.two_clauses), (0.11, compounds.explained),
    (0.08, compounds.when_first), (0.08, compounds.thinking), (0.05, compounds.asking), (0.05, compounds.on_purpose),
)  # fmt: skip


def _when_and(dice: Dice, tense: str) -> Bitext:
    return compounds.when_first(dice, tense) + linked(dice, "and", "e") + acting(dice, tense).text


def _but_because(dice: Dice, tense: str) -> Bitext:
    subject = person_subject(dice)
    but = compounds.COMMA + linked(dice, "but", "pero")
    return with_relative(dice, tense) + but + acting(dice, tense, subject).text + compounds.reason(dice, subject, tense)


def _twice_relative(dice: Dice, tense: str) -> Bitext:
    return with_relative(dice, tense) + compounds.COMMA + linked(dice, "and", "e") + with_relative(dice, tense)


def _thought_and(dice: Dice, tense: str) -> Bitext:
    return (
        compounds.thinking(dice, tense) + compounds.COMMA + linked(dice, "but", "pero") + compounds.timed(dice, tense)
    )


_LONG: tuple[tuple[float, Maker], ...] = (
    (0.25, _when_and), (0.3, _but_because), (0.25, _twice_relative), (0.2, _thought_and),
)  # fmt: skip
_KINDS = ((0.12, "question"), (0.03, "command"), (0.24, "short"), (0.37, "longer"), (0.24, "long"))


def sentence(dice: Dice) -> Sentence:
    """One sentence of any kind."""
    tense = dice.weighted(((0.5, "past"), (0.37, "present"), (0.13, "future")))
    kind = dice.weighted(_KINDS)
    if kind == "question":
        return Sentence(dice.weighted(QUESTIONS)(dice), "?")
    if kind == "command":
        return Sentence(command(dice))
    return Sentence(dice.weighted({"short": _SHORT, "longer": _LONGER, "long": _LONG}[kind])(dice, tense))
