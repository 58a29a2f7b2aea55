"""Galician spelling: where stress falls, what a clitic does to its verb, plurals and feminines."""

from __future__ import annotations

import re

_PLAIN = str.maketrans("áéíóú", "aeiou")
_MARKED = str.maketrans("aeiou", "áéíóú")
_NUCLEUS = re.compile(r"[aeoáéó][iu](?![áéíóú])|[iu][iu]|[aeiouáéíóú]")
_SILENT_U = re.compile(r"(?<=q)u|(?<=g)u(?=[eiéí])")
_DIPHTHONG_END = re.compile(r"[aeiou][iu]$|íu$")


def nuclei(word: str) -> list[tuple[int, int]]:
    """(start, end) of the vowels of every syllable."""
    return [match.span() for match in _NUCLEUS.finditer(_SILENT_U.sub("#", word))]


def stress_from_end(word: str) -> int:
    """1 for a word stressed on its last syllable, 2 on the one before it."""
    spans = nuclei(word)
    for place, (start, end) in enumerate(reversed(spans), start=1):
        if re.search("[áéíóú]", word[start:end]):
            return place
    if len(spans) == 1:
        return 1
    ends_plainly = re.search(r"[aeiou]n?s?$", word) and not re.search(r"[aeou][iu]$|iu$", word)
    return 2 if ends_plainly else 1


def _marked(word: str) -> str:
    start, end = nuclei(word)[-2]
    if re.search("[áéíóú]", word[start:end]):
        return word
    return word[:start] + word[start].translate(_MARKED) + word[start + 1 :]


def _unmarked(word: str) -> str:
    """Without the accent that only the last syllable needed; a hiatus (`construí`) and `dá` keep theirs."""
    if len(nuclei(word)) == 1:
        return word
    return re.sub(r"(?<![aeou])[áéíóú](?=n?s?$)", lambda match: match.group().translate(_PLAIN), word)


def joined(verb: str, clitic: str) -> str:
    """The verb with its enclitic: `comprou` + `o` = `comprouno`, `comen` + `o` = `cómeno`, `ver` + `o` = `velo`."""
    last = stress_from_end(verb)
    if clitic in {"o", "a", "os", "as"}:
        if verb[-1] in "rs":
            verb, clitic = verb[:-1], "l" + clitic
        elif _DIPHTHONG_END.search(verb):
            clitic = "n" + clitic
    if last == 1:
        return _unmarked(verb) + clitic
    return _marked(verb) + clitic


def plural(word: str) -> str:
    """The regular plural of a noun or adjective; what departs from it is written out in the lexicon."""
    if re.search(r"[aeiouáéíóú]$", word) or word.endswith("n"):
        return word + "s"
    if word.endswith("z"):
        return word[:-1] + "ces"
    if re.search(r"[aeou]l$", word) and len(nuclei(word)) > 1:
        return word[:-1] + "is"
    if word.endswith(("és", "ús")):
        return word[:-2] + word[-2].translate(_PLAIN) + "ses"
    return word + "es"


def feminine(word: str) -> str:
    """The regular feminine of an adjective."""
    if word.endswith("o"):
        return word[:-1] + "a"
    if word.endswith("és"):
        return word[:-2] + "esa"
    return word + "a" if word.endswith(("or", "ol")) else word
