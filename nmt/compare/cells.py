"""Which trainings a comparison is made of: sweeps in Hydra's grammar, every combination of them, every seed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from nmt.errors import UserError

Settings = tuple[tuple[str, str], ...]  # (key, value in Hydra's grammar): what makes a kind, alike in all its seeds

OWN_FLAGS = {"experiment": "--experiment", "seed": "--seeds", "run": "--folder"}


class Cell(NamedTuple):
    """One training: a kind and a seed."""

    kind: Settings
    seed: int

    @property
    def overrides(self) -> list[str]:
        """What sets this cell apart from the others, for `nmt train`."""
        return [*(f"{key}={value}" for key, value in self.kind), f"seed={self.seed}"]

    def __str__(self) -> str:
        return ",".join(self.overrides)

    @property
    def name(self) -> str:
        """The same as the name of a directory."""
        return safe_name(str(self))


def safe_name(text: str) -> str:
    """The text as the name of a directory; where it had to be changed for that, a checksum keeps it unique."""
    name = re.sub(r"[^\w.=,+-]", "_", text)[:150]
    return name if name == text else f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def expand(vary: Sequence[str], seeds: int) -> list[Cell]:
    """Every combination of the sweeps with seed 1, then with seed 2, and so on up to `seeds`.

    A sweep is `key=a,b,c`, `key=choice(a,b)` or `key=range(1,4)`; a single value is one of length 1.
    UserError: a text that is none of these or has no values; a key that is given twice, or that a flag sets.
    """
    sweeps = [_sweep(text) for text in vary]
    keys = sorted(key for key, _ in sweeps)
    for key in keys:
        if keys.count(key) > 1:
            raise UserError(f"--vary: {key} is given twice; write all its values in one sweep, {key}=a,b,c")
    if seeds < 1:
        raise UserError(f"--seeds is {seeds}: allowed is 1 or more")
    # sorted by key, so that the order of the sweeps does not make another cell
    kinds = product(*([(key, value) for value in values] for key, values in sorted(sweeps)))
    return [Cell(kind, seed) for seed, kind in product(range(1, seeds + 1), dict.fromkeys(kinds))]


def check_key(key: str, where: str) -> None:
    """UserError for a setting that a flag makes."""
    if key in OWN_FLAGS:
        raise UserError(f"{where}: {key} is set by {OWN_FLAGS[key]}")


def _sweep(text: str) -> tuple[str, list[str]]:
    """The key, and its values as Hydra would write them."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        override = OverridesParser.create().parse_override(text)
        single = not override.is_sweep_override()
        values = [override.get_value_element_as_str()] if single else list(override.sweep_string_iterator())
    except HydraException as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"--vary {text}: a sweep is KEY=A,B,C, KEY=choice(A,B) or KEY=range(1,4) ({reason})") from error
    if not values or "" in values or override.is_delete():
        raise UserError(f"--vary {text}: there are no values here; a sweep is KEY=A,B,C")
    key = override.get_key_element().lstrip("+")
    check_key(key, f"--vary {text}")
    return key, values
