"""Some of many, drawn in one pass, of which no more than these are held."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def draw(items: Iterable[Item], count: int, seed: int) -> list[Item]:
    """So many of the items, or all, in their order; each set of them is as likely as any other (Waterman's algorithm R,
    in Knuth 1981, section 3.4.2). The same items, count and seed give the same."""
    numbers, numbered = random.Random(seed), enumerate(items)
    drawn = list(islice(numbered, count))
    for number, item in numbered:
        place = numbers.randrange(number + 1)
        if place < count:
            drawn[place] = (number, item)
    return [item for _, item in sorted(drawn, key=lambda numbered: numbered[0])]
