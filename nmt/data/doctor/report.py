"""The findings for people: what needs one first, then notes, then bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nmt.data.doctor.check import Checked
from nmt.data.doctor.findings import Finding

UNCOUNTED = ("shift", "unrelated", "counts", "empty")  # their detail says all


def report(checked: Sequence[Checked]) -> str:
    """All parts, a blank line between them."""
    return "\n\n".join("\n".join(_part(one)) for one in checked)


def _part(one: Checked) -> Iterator[str]:
    counts = sorted(set(one.examined.counts))
    unit = ("line" if len(one.examined.counts) == 1 else "pair") + ("" if counts == [1] else "s")
    lines = " to ".join(f"{count:,}" for count in counts)
    yield f"{one.examined.part.role}: {one.examined.part.name}: {lines} {unit}"
    for heading, wanted in (("needs a person", True), ("notes", False)):
        findings = [finding for finding in one.findings if finding.what.person is wanted]
        if findings:
            yield f"  {heading}"
        for finding in findings:
            yield from (f"    {line}" for line in _finding(finding))
    if not one.findings:
        yield "  nothing to tell"
    for histogram in one.histograms:
        yield ""
        yield from (f"  {line}" for line in str(histogram).splitlines())


def _finding(finding: Finding) -> Iterator[str]:
    where = f"{finding.side}: " if finding.side else ""
    if finding.kind in UNCOUNTED:
        yield f"{where}{finding.what.words}: {finding.detail}"
    else:
        detail = f" ({finding.detail})" if finding.detail else ""
        yield f"{where}{finding.what.words}{detail}: {_count(finding)}"
    if finding.excerpt:
        yield f"  {finding.excerpt}"


def _count(finding: Finding) -> str:
    places = [f"{line}" for line in finding.lines]
    for index, byte in enumerate(finding.bytes):
        places[index] += f" (byte {byte})"
    more = ", ..." if finding.count > len(places) else ""
    lines = f", line{'s' if len(places) > 1 else ''} {', '.join(places)}{more}" if places else ""
    return f"{finding.count:,}{lines}"
