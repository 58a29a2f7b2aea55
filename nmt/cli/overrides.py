"""Which trailing arguments of a command are `key=value` settings, and which are paths that happen to hold a `=`."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence

_OVERRIDE = re.compile(r"[A-Za-z_]\w*([./]\w+)*=")


def split_overrides(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """(ordinary arguments, overrides).

    Overrides are the last arguments, as far back as each one reads `key=value`, is not the value that the option before
    it needs, and does not exist as a file or directory.
    """
    cut = len(arguments)
    while cut and _is_override(parser, arguments, cut - 1):
        cut -= 1
    return list(arguments[:cut]), list(arguments[cut:])


def _is_override(parser: argparse.ArgumentParser, arguments: Sequence[str], place: int) -> bool:
    argument = arguments[place]
    owned = place > 0 and _needs_value(parser, arguments[place - 1])
    return bool(_OVERRIDE.match(argument)) and not owned and not os.path.lexists(argument)


def _needs_value(parser: argparse.ArgumentParser, argument: str) -> bool:
    # argparse has no public way to ask what an option takes; this attribute has been stable since it exists.
    action = parser._option_string_actions.get(argument)
    return action is not None and action.nargs != 0
