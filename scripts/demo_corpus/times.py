"""When things happen, and the weather."""

from __future__ import annotations

from .bitext import Bitext, Dice, linked

_TIMES = {
    "past": (
        ("yesterday", "onte", ""), ("last week", "a semana pasada", "0-2 1-1"),
        ("last year", "o ano pasado", "0-2 1-1"),
        ("on Saturday", "o sábado", "0-0 1-1"), ("on Sunday", "o domingo", "0-0 1-1"),
        ("that morning", "esa mañá", "0-0 1-1"), ("two years ago", "hai dous anos", "0-1 1-2 2-0"),
        ("three days ago", "hai tres días", "0-1 1-2 2-0"), ("last night", "onte á noite", "0-0 1-2"),
        ("last summer", "o verán pasado", "0-2 1-1"), ("an hour ago", "hai unha hora", "0-1 1-2 2-0"),
        ("this afternoon", "esta tarde", "0-0 1-1"),
    ),
    "present": (
        ("every day", "todos os días", "0-0 1-2"), ("every morning", "todas as mañás", "0-0 1-2"),
        ("in summer", "en o verán", "0-0 1-2"), ("in winter", "en o inverno", "0-0 1-2"),
        ("at night", "por a noite", "0-0 1-2"), ("in the morning", "por a mañá", "0-0 1-1 2-2"),
        ("on Sundays", "os domingos", "0-0 1-1"), ("every year", "todos os anos", "0-0 1-2"),
        ("every week", "todas as semanas", "0-0 1-2"), ("sometimes", "ás veces", ""),
    ),
    "now": (("now", "agora", ""), ("today", "hoxe", ""), ("this week", "esta semana", "0-0 1-1")),
    "future": (
        ("tomorrow", "mañá", ""), ("next week", "a semana que vén", "0-2 0-3 1-1"), ("soon", "axiña", ""),
        ("next year", "o ano que vén", "0-2 0-3 1-1"), ("tonight", "esta noite", ""),
        ("on Monday", "o luns", "0-0 1-1"),
        ("in spring", "en a primavera", "0-0 1-2"), ("in two days", "dentro de dous días", "0-0 0-1 1-2 2-3"),
    ),
}  # fmt: skip


def time_of(dice: Dice, tense: str) -> Bitext:
    return linked(dice, *dice.pick(_TIMES[tense]))


_WEATHER = {
    "present": (
        ("it is raining", "está chovendo", "1-0 2-1"), ("it is snowing", "está nevando", "1-0 2-1"),
        ("it is cold", "fai frío", "1-0 2-1"), ("it is very cold", "fai moito frío", "1-0 2-1 3-2"),
        ("it is hot", "fai calor", "1-0 2-1"), ("it is very hot", "fai moita calor", "1-0 2-1 3-2"),
        ("it is windy", "vai vento", "1-0 2-1"),
    ),
    "past": (
        ("it was raining", "estaba chovendo", "1-0 2-1"), ("it was snowing", "estaba nevando", "1-0 2-1"),
        ("it was cold", "facía frío", "1-0 2-1"), ("it was very cold", "facía moito frío", "1-0 2-1 3-2"),
        ("it was hot", "facía calor", "1-0 2-1"), ("it was very hot", "facía moita calor", "1-0 2-1 3-2"),
        ("it was windy", "ía vento", "1-0 2-1"),
    ),
    "future": (("it will rain", "choverá", "1-0 2-0"), ("it will snow", "nevará", "1-0 2-0")),
}  # fmt: skip


def weather(dice: Dice, tense: str) -> Bitext:
    """`it is very cold` = `fai moito frío`: Galician makes what English is; `it` is nobody."""
    return linked(dice, *dice.pick(_WEATHER[tense]))


def if_it_rains(dice: Dice) -> Bitext:
    """A condition on what will happen."""
    en, gl = dice.pick([("it rains", "chove"), ("it snows", "neva")])
    time = time_of(dice, "future") if dice.chance(0.4) else Bitext()
    return linked(dice, "if", "se") + linked(dice, en, gl, "1-0") + time
