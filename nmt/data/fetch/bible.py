"""The Greek-English New Testament with word links made by hand, out of the Python package bible-alignments.

Its wheel holds the words of the Greek text (SBLGNT) and of the Berean Standard Bible, one a row, and the links between
them by the words' names. A verse is one pair of lines here: the Greek verse, and the English words that translate it.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from nmt.data.files import open_whole
from nmt.errors import UserError
from nmt.progress import say

PACKAGE = "bible-alignments==0.4.2"
GREEK = "data/sources/SBLGNT.tsv"
ENGLISH = "data/eng/targets/BSB/nt_BSB.tsv"
LINKS = "data/eng/alignments/BSB/SBLGNT-BSB-manual.json"
SOURCE, TARGET = "grc", "en"
VALID, TEST = 400, 800  # verses; the last ones are the test, those before them for validation


class Verse(NamedTuple):
    """reference: book, chapter and verse as BBCCCVVV. links: (Greek word, English word), counted from 0, sorted."""

    reference: str
    greek: list[str]
    english: list[str]
    links: list[tuple[int, int]]


def prepare_bible(folder: Path) -> None:
    """Have the corpus in the folder: where it is not, download it by the pip of this Python, as that is set up.

    UserError: pip is not there, or can't get the package, or the package is another than expected.
    """
    if all((folder / name).is_file() for name in split_files([])):
        return
    with tempfile.TemporaryDirectory() as place:
        verses = read_wheel(download(Path(place)))
    write_bible(verses, folder)


def download(folder: Path) -> Path:
    """The package's wheel, which pip puts into the folder. Nothing of it is run, so any Python will do."""
    say(f"downloading {PACKAGE} (9 MB) by pip")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    which = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--dest", str(folder), PACKAGE]
    done = subprocess.run([*pip, *which], capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().splitlines() or ["it says nothing"]
        raise UserError(f"pip can't download {PACKAGE}: {reason[-1]}")
    return next(folder.glob("*.whl"))


def read_wheel(wheel: Path) -> list[Verse]:
    """All verses whose Greek words have links and that have an English text, in the order of the Greek text. A link
    from one verse into another is left out, so a verse may have none."""
    with zipfile.ZipFile(wheel) as archive:
        try:
            greek = [(row["id"], row["id"].lstrip("n")[:8], row["text"]) for row in _rows(archive, GREEK)]
            english = [(row["id"], row["source_verse"], row["text"]) for row in _rows(archive, ENGLISH)]
            records = json.loads(archive.read(LINKS))["records"]
            linked = [(source, target) for one in records for source in one["source"] for target in one["target"]]
        except (KeyError, ValueError, csv.Error) as error:
            raise UserError(f"{wheel}: this is not what {PACKAGE} holds: {error}") from error
    return _verses(greek, english, linked)


def write_bible(verses: Sequence[Verse], folder: Path, valid: int = VALID, test: int = TEST) -> None:
    """All files of the corpus, or none: the whole (`nt`, with references), and the parts, whose names say what is in
    them. Links are written in both directions."""
    with ExitStack() as stack:
        for name, lines in split_files(verses, valid, test).items():
            file = stack.enter_context(open_whole(folder / name))
            file.write("".join(f"{line}\n" for line in lines).encode())


def split_files(verses: Sequence[Verse], valid: int = VALID, test: int = TEST) -> dict[str, list[str]]:
    """The lines of every file, by its name."""
    first, last = max(0, len(verses) - valid - test), max(0, len(verses) - test)
    parts = {
        "train": verses[:first],
        "train_and_test": [*verses[:first], *verses[last:]],
        "valid": verses[first:last],
        "test": verses[last:],
        "nt": verses,
    }
    files = {"nt.ref": [verse.reference for verse in verses], "nt.gold": _gold(verses)}
    for name, some in parts.items():
        files[f"{name}.{SOURCE}"] = [" ".join(verse.greek) for verse in some]
        files[f"{name}.{TARGET}"] = [" ".join(verse.english) for verse in some]
    for name in ("valid", "test"):
        files[f"{name}.{SOURCE}-{TARGET}.gold"] = _gold(parts[name])
        files[f"{name}.{TARGET}-{SOURCE}.gold"] = _gold([_turned(verse) for verse in parts[name]])
    return files


def _gold(verses: Sequence[Verse]) -> list[str]:
    return [" ".join(f"{i}-{j}" for i, j in verse.links) for verse in verses]


def _turned(verse: Verse) -> Verse:
    return Verse(verse.reference, verse.english, verse.greek, sorted((j, i) for i, j in verse.links))


def _rows(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, str]]:
    with archive.open(name) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield from csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)


def _verses(
    greek: Sequence[tuple[str, str, str]], english: Sequence[tuple[str, str, str]], linked: Sequence[tuple[str, str]]
) -> list[Verse]:
    """Words are (their name, their verse, their text), links pairs of names."""
    sources, source_places = _by_verse(greek)
    targets, target_places = _by_verse(english)
    links: dict[str, set[tuple[int, int]]] = {}
    for source, target in linked:
        verse, i = source_places[source]
        own = links.setdefault(verse, set())
        other, j = target_places[target]
        if other == verse:
            own.add((i, j))
    return [
        Verse(verse, words, targets[verse], sorted(links[verse]))
        for verse, words in sources.items()
        if verse in links and verse in targets
    ]


def _by_verse(words: Sequence[tuple[str, str, str]]) -> tuple[dict[str, list[str]], dict[str, tuple[str, int]]]:
    """The texts of each verse, and where each word stands: its verse, and its place there from 0."""
    texts: dict[str, list[str]] = {}
    places: dict[str, tuple[str, int]] = {}
    for name, verse, text in words:
        line = texts.setdefault(verse, [])
        places[name] = verse, len(line)
        line.append(text)
    return texts, places
