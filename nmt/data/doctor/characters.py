"""What is wrong with a single line, and the same line mended.

A joiner (U+200C, U+200D) after a character of a script from Hebrew on, or of an emoji, is part of the spelling: it is
neither reported nor taken out. All other invisible characters are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from nmt.data.lines import LINE_SEPARATORS

Fault = tuple[str, int]  # name of the kind, and the place in the line (from 0) where it is first seen

SEPARATORS = LINE_SEPARATORS.replace("\n", "")
CONTROLS = "".join(chr(c) for c in (*range(32), *range(0x7F, 0xA0)) if chr(c) not in f"\t\n{SEPARATORS}")
SPACES = "\t\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
INVISIBLE = "\xad\u061c\u200b\u200e\u200f\ufeff" + "".join(
    chr(c) for c in (*range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x2070), *range(0xFFF9, 0xFFFC))
)
NEEDS_JOINERS = "\u0590-\u1fff\u2190-\u2fff\u3040-\ufefe\uff00-\uffef\U00010000-\U000dffff"
JOINERS = f"(?<![{NEEDS_JOINERS}])[\u200c\u200d]+"

UNPRINTABLE = {
    "utf8": re.compile("[\udc80-\udcff]"),  # how the reader hands on a byte that is no UTF-8
    "control": re.compile(f"[{CONTROLS}]"),
    "separator": re.compile(f"[{SEPARATORS}]"),
    "spaces": re.compile(f"[{SPACES}]"),
    "zero_width": re.compile(f"[{INVISIBLE}]|{JOINERS}"),
}
PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
RESERVED = re.compile("</?s>|<unk>|<pad>|\u2581")
TAG = re.compile(r"</?[A-Za-z][\w:-]{0,30}(?:\s+[\w:-]+\s*=[^<>]*|\s*/)?>")
ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,8}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
TOKENISED = re.compile(r"@@(?: |$)|@-@| &(?:apos|quot);|\w [.,](?: |$)")
# UTF-8 read as Latin-1 or Windows-1252: two bytes (Ã©, Ð¿Ñ€) or three (â€™). After two capitals it may be Portuguese.
_TRAIL = "\x80-\xbf" + "".join(bytes([c]).decode("cp1252", "ignore") for c in range(0x80, 0xA0))
BROKEN = re.compile(
    f"\ufffd|(?<![A-Z]{{2}})[\u00c2\u00c3][{_TRAIL}]"
    f"|(?:[\u00ce\u00cf\u00d0\u00d1][{_TRAIL}]){{2}}|\u00e2[\x80\u20ac][{_TRAIL}]"
)
SEVERAL = re.compile("  +")

_MENDED = {ord(c): " " for c in SPACES + SEPARATORS} | {ord(c): "" for c in INVISIBLE}
# C1 controls come from Windows-1252, where most are quotes and dashes; the other controls mean nothing in text
_MENDED |= {ord(c): bytes([ord(c)]).decode("cp1252", "ignore") if ord(c) > 0x7F else "" for c in CONTROLS}
_JOINERS = re.compile(JOINERS)


def examine_line(line: str) -> tuple[str, Sequence[Fault]]:
    """(the line mended, its faults). A line without any character to see is mended to nothing and has only the faults
    of its characters."""
    faults: list[Fault] = []
    if line.isprintable():
        mended = line
    else:
        mended = _JOINERS.sub("", line.translate(_MENDED))
        faults += _unprintable(line)
    if "  " in mended or mended[:1] == " " or mended[-1:] == " ":
        mended = SEVERAL.sub(" ", mended).strip(" ")
        if mended and ("  " in line or line[:1] == " " or line[-1:] == " "):
            faults.append(("blanks", _outer(line)))
    if not line.isascii():
        faults += _beyond_ascii(line)
    if "<" in line or "&" in line or "@" in line or " ." in line or " ," in line:
        faults += _markup(line)
    return mended, faults


def _unprintable(line: str) -> list[Fault]:
    found = [(kind, match.start()) for kind, pattern in UNPRINTABLE.items() if (match := pattern.search(line))]
    if match := PRIVATE.search(line):
        return [*found, ("unassigned", match.start())]
    for place, character in enumerate(line):
        if character > "\x7f" and unicodedata.category(character) == "Cn":
            return [*found, ("unassigned", place)]
    return found


def _outer(line: str) -> int:
    """Where the first needless space is."""
    if line[:1] == " ":
        return 0
    match = SEVERAL.search(line)
    return match.start() if match else len(line) - 1


def _beyond_ascii(line: str) -> list[Fault]:
    found = [("broken", match.start())] if (match := BROKEN.search(line)) else []
    if "\u2581" in line:
        found.append(("reserved", line.index("\u2581")))
    if not unicodedata.is_normalized("NFC", line):
        composed = unicodedata.normalize("NFC", line)
        pairs = zip(line, composed, strict=False)
        found.append(("not_nfc", next((n for n, (a, b) in enumerate(pairs) if a != b), len(composed))))
    return found


def _markup(line: str) -> list[Fault]:
    found = [
        (kind, match.start())
        for kind, pattern in (("entity", ENTITY), ("tokenised", TOKENISED))
        if (match := pattern.search(line))
    ]
    if "<" in line:
        reserved = RESERVED.search(line)
        if reserved and "\u2581" not in line:
            found.append(("reserved", reserved.start()))
        tags = (match.start() for match in TAG.finditer(line) if not RESERVED.fullmatch(match[0]))
        found += [("tag", place) for place in (next(tags, None),) if place is not None]
    return found
