"""What texts and files are known by, whatever they are called: digests of their content."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from nmt.data.corpora.corpus import Pair

BLOCK = 4096  # pairs that are digested at a time


def content_key(*parts: str) -> str:
    """One name for all these together, in this order: SHA-256, in hexadecimal."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


class TextDigest:
    """A digest of pairs, made while somebody else reads them.

        digest = TextDigest()
        for pair in digest.over(corpus.pairs()):
            ...
        key = digest.hexdigest()

    Lengths are part of it, so that no two corpora look alike however their text is divided.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._done = False

    def over(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """The same pairs; they must be read to their end."""
        texts: list[str] = []
        for pair in pairs:
            texts += pair
            if len(texts) >= 2 * BLOCK:
                self._add(texts)
                texts.clear()
            yield pair
        self._add(texts)
        self._done = True

    def hexdigest(self) -> str:
        """Of all pairs, in hexadecimal."""
        assert self._done, "not all pairs have been read"
        return self._digest.hexdigest()

    def _add(self, texts: list[str]) -> None:
        """Characters of each text, with their number in front, and then the characters of all."""
        self._digest.update(array("q", chain([len(texts)], map(len, texts))).tobytes())
        self._digest.update("".join(texts).encode("utf-8", "surrogatepass"))


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
