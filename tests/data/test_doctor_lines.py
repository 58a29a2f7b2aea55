"""Faults of a single line, and the line mended: by hand, and as laws of any text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt.data.doctor.characters import CONTROLS, INVISIBLE, SEPARATORS, SPACES, examine_line
from nmt.data.doctor.findings import excerpt
from nmt.data.doctor.kinds import KINDS

ODD = SEPARATORS + CONTROLS + SPACES + INVISIBLE + "\u200c\u200d"
LINES = st.text(st.one_of(st.sampled_from(ODD + " ka.<&"), st.characters(exclude_characters="\n")))


@pytest.mark.parametrize(
    ("line", "mended", "faults"),
    [
        ("Was it so?", "Was it so?", []),
        ("ka\x00lo", "kalo", [("control", 2)]),
        ("it\x92s", "it\u2019s", [("control", 2)]),
        ("ka\u2028lo\u2029mi\x85re\x0cfa\rso", "ka lo mi re fa so", [("separator", 2)]),
        ("12\xa0cm\tlong", "12 cm long", [("spaces", 2)]),
        ("a\u200bb\xadc\ufeffd\u200e", "abcd", [("zero_width", 1)]),
        ("no\u200cjoin", "nojoin", [("zero_width", 2)]),
        ("\u0645\u06cc\u200c\u062e\u0648", "\u0645\u06cc\u200c\u062e\u0648", []),
        ("👩\u200d🔬", "👩\u200d🔬", []),
        (" ka  lo ", "ka lo", [("blanks", 0)]),
        ("ka lo ", "ka lo", [("blanks", 5)]),
        (" \u200b ", "", [("zero_width", 1)]),
        ("cafÃ©", "cafÃ©", [("broken", 3)]),
        ("donâ€™t", "donâ€™t", [("broken", 3)]),
        ("Ð¿Ñ€", "Ð¿Ñ€", [("broken", 0)]),
        ("AMANHÃ… SÃO Â, Ñandú", "AMANHÃ… SÃO Â, Ñandú", []),
        ("lost \ufffd", "lost \ufffd", [("broken", 5)]),
        ("cafe\u0301", "cafe\u0301", [("not_nfc", 3)]),
        ("x \ue000", "x \ue000", [("unassigned", 2)]),
        ("a \udce9", "a \udce9", [("utf8", 2)]),
        ("▁ka", "▁ka", [("reserved", 0)]),
        ("ka </s> lo", "ka </s> lo", [("reserved", 3)]),
        ("Tom &amp; Jo&#39;s", "Tom &amp; Jo&#39;s", [("entity", 4)]),
        ("AT&T; R&D", "AT&T; R&D", []),
        ("a <b class='x'>c</b>", "a <b class='x'>c</b>", [("tag", 2)]),
        ("1 < 2 > 0, <3", "1 < 2 > 0, <3", []),
        ("Ja , das", "Ja , das", [("tokenised", 1)]),
        ("neu@@ er", "neu@@ er", [("tokenised", 3)]),
        ("wait ... what", "wait ... what", []),
    ],
)
def test_faults_and_mended_text(line: str, mended: str, faults: list[tuple[str, int]]) -> None:
    assert examine_line(line) == (mended, faults)


@given(LINES)
@example("a\u200c\u200d\u200cb")
@example("\u200d\u200c \u0627\u200c\u200d")
def test_mending_leaves_nothing_to_mend(line: str) -> None:
    mended, _ = examine_line(line)
    again, faults = examine_line(mended)
    assert again == mended
    assert not [kind for kind, _ in faults if KINDS[kind].mended]
    assert len(mended.splitlines()) <= 1


@given(LINES)
def test_what_is_no_fault_is_not_touched(line: str) -> None:
    mended, faults = examine_line(line)
    if mended != line and mended:
        assert [kind for kind, _ in faults if KINDS[kind].mended]


def test_an_excerpt_shows_the_place_and_hides_nothing() -> None:
    assert excerpt("ka\u2028lo\udce9") == r"ka\u2028lo\xe9"
    shown = excerpt("a" * 100 + "\x00" + "b" * 100, 100)
    assert (shown[0], shown[-1], r"a\x00b" in shown) == ("…", "…", True)
