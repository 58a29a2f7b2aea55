"""What was found: counted by kind and side, with the first line numbers and an excerpt of the worst."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nmt.data.doctor.kinds import KINDS, Kind

WIDTH = 60  # characters of an excerpt


@dataclass
class Finding:
    """Of one kind, at one side (None: of pairs). lines: the first, from 1. bytes: where in the file (from 0) they are
    no UTF-8. offsets: what a shift moves the target's lines by. detail: what else is known, in words."""

    kind: str
    side: str | None
    count: int = 0
    lines: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    offsets: list[int | None] = field(default_factory=list)
    excerpt: str = ""
    detail: str = ""
    badness: float = float("-inf")  # of what the excerpt shows

    @property
    def what(self) -> Kind:
        """Its kind, in full."""
        return KINDS[self.kind]

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        severity = "person" if self.what.person else "note"
        known = {"kind": self.kind, "severity": severity, "side": self.side, "count": self.count, "lines": self.lines}
        extra = {"bytes": self.bytes, "offsets": self.offsets, "excerpt": self.excerpt, "detail": self.detail}
        return known | {name: value for name, value in extra.items() if value}


class Tally:
    """Findings as they come. `shown`: of how many the line number is kept."""

    def __init__(self, shown: int) -> None:
        self.shown = shown
        self._found: dict[tuple[str, str | None], Finding] = {}

    def note(
        self, kind: str, side: str | None, line: int, *texts: str, place: int = 0, badness: float = 0.0
    ) -> Finding:
        """One more, in this line (from 1). The worst, of equals the first, is shown: `texts`, around `place`."""
        finding = self._found.get((kind, side))
        if finding is None:
            finding = self._found[kind, side] = Finding(kind, side)
        finding.count += 1
        if len(finding.lines) < self.shown:
            finding.lines.append(line)
        if badness > finding.badness:
            finding.badness = badness
            finding.excerpt = " ||| ".join(excerpt(text, place) for text in texts)
        return finding

    def add(self, finding: Finding) -> None:
        """One that was counted elsewhere."""
        self._found[finding.kind, finding.side] = finding

    def take(self, kind: str, side: str | None) -> Finding:
        """One that is there, which is then no longer among them."""
        return self._found.pop((kind, side))

    def findings(self) -> list[Finding]:
        """In the order of KINDS, then as they came."""
        order = {kind: place for place, kind in enumerate(KINDS)}
        return sorted(self._found.values(), key=lambda finding: order[finding.kind])


def excerpt(text: str, place: int = 0) -> str:
    """Up to WIDTH characters around a place, what can't be seen as its escape, what is cut off as an ellipsis."""
    begin = max(0, min(place - WIDTH // 2, len(text) - WIDTH))
    end = begin + WIDTH
    shown = visible(text[begin:end])
    return f"{'…' if begin else ''}{shown}{'…' if end < len(text) else ''}"


def visible(text: str) -> str:
    """The text with an escape in the place of each character that has no look of its own, and of a byte that is no
    UTF-8."""
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code < 0xDD00 else character.encode("unicode_escape").decode("ascii")
