"""Which reported faults of such tools ("cases", a letter and two digits) a test holds, and which wait for what.

The tests name their cases in their docstrings. The rest wait for a part of the product that does not exist yet; whoever
builds that part takes the case out of WAITING and names it in a test.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
NUMBERS = {
    "A": "01 02 04 05 07 08 09 10 11 15 16",
    "B": "01 04 05 06 09 10 12",
    "C": "01 02 05 06 09 10 11",
    "D": "01 03 05 06 08 10 11 12 14",
    "E": "01 02 04 05 08 09 10 12 14",
    "F": "01 02 04 06 08 09 11 14 15",
    "G": "01 02 05 08 09 12",
    "H": "01 02 04 07 08 10",
    "I": "01 02 04 06 08 09",
}
CASES = [group + number for group, numbers in NUMBERS.items() for number in re.findall(r"\d\d", numbers)]
WAITING = {
    "F11": "a prefix cannot be given yet",
    "F14": "there are no ensembles yet",
}


def named_cases() -> set[str]:
    """The cases that tests name, in this folder and in those beside it."""
    files = [path for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    return {case for path in files for case in re.findall(r"\b[A-I]\d\d\b", path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("case", CASES)
def test_every_case_is_tested_or_waits_for_a_reason(case: str) -> None:
    assert (case in named_cases()) != (case in WAITING)
