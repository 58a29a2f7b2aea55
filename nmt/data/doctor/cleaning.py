"""The same files with what can be mended mended, and without the pairs that can't be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from nmt.data.doctor.characters import examine_line
from nmt.data.doctor.examine import Examined
from nmt.data.doctor.reading import Part
from nmt.data.files import open_whole
from nmt.data.lines import UNPACK
from nmt.errors import UserError
from nmt.progress import progress

REMOVED = "removed.tsv"


class Clean:
    """The files that are to be written to a folder, `check`ed before any work is done."""

    def __init__(self, parts: Sequence[Part], folder: Path) -> None:
        self.parts, self.folder = parts, folder
        for part in parts:
            if len(part.files) < 2:
                what = "one file has no pairs" if part.files else "they come from another form than plain text"
                raise UserError(f"--write-clean writes pairs of plain files, and of {part.name} {what}")
        files = [file for part in parts for file in part.files]
        names = [self.place(file).name for file in files]
        for place in map(self.place, files):
            if place.exists() and any(place.samefile(other) for other in files):
                raise UserError(f"--write-clean {folder}: {place} is read, and would be written over")
            if names.count(place.name) > 1 or place.name == REMOVED:
                raise UserError(f"--write-clean {folder}: more than one file would become {place}")

    def place(self, file: Path) -> Path:
        """Where the clean copy of a file goes: under its own name, but unpacked."""
        return self.folder / (file.stem if file.suffix in UNPACK else file.name)

    def write(self, found: Sequence[Examined]) -> tuple[int, int]:
        """All files and the list of what was left out, or nothing. Returns the pairs written and left out."""
        for one in found:
            if len(set(one.counts)) > 1:
                numbers = " and ".join(f"{count:,}" for count in one.counts)
                raise UserError(
                    f"--write-clean: {one.part.name} have {numbers} lines, and which belong together is for a person "
                    "to say: nothing was written"
                )
        left_out = {one.part: reasons(one) for one in found}
        for part, lines in left_out.items():
            if lines and part.links is not None:
                raise UserError(f"--write-clean: {part.links} has word links of pairs that would be left out")
        with ExitStack() as stack:
            listed = stack.enter_context(open_whole(self.folder / REMOVED))
            listed.write(b"part\tline\treason\n")
            for part, lines in left_out.items():
                files = [stack.enter_context(open_whole(self.place(file))) for file in part.files]
                _write(part, lines, files)
                listed.writelines(f"{part.role}\t{line}\t{why}\n".encode() for line, why in sorted(lines.items()))
        dropped = sum(map(len, left_out.values()))
        return sum(one.counts[0] for one in found) - dropped, dropped


def reasons(found: Examined) -> dict[int, str]:
    """Which lines (from 1) are left out, and why. A pair that comes again stays in a development or test part."""
    usable = found.usable()
    why = {int(row) + 1: "unusable" for row in (~usable).nonzero()[0]}
    for side in found.figures:
        why |= {line: "utf8" for line in why if side.characters[line - 1] < 0}
    why |= {line: "blank" for line, reason in why.items() if reason == "unusable"}
    if found.part.role == "train":
        why |= {int(row) + 1: "duplicate" for row in found.duplicates()}
    return why


def _write(part: Part, left_out: dict[int, str], files: Sequence[BinaryIO]) -> None:
    with progress(f"writing {part.role}", unit="lines", total=part.count()) as bar:
        for number, lines in enumerate(_mended(part), start=1):
            if number not in left_out:
                for file, line in zip(files, lines, strict=True):
                    file.write(line.encode("utf-8") + b"\n")
            bar.advance()


def _mended(part: Part) -> Iterator[list[str]]:
    for row, _ in part.rows():
        yield [examine_line(line or "")[0] for line in row]
