"""English inflection: plurals, the third person, past, participles, gerunds, comparatives."""

from __future__ import annotations

import re

_IRREGULAR = {
    "be": "was been", "begin": "began begun",
    "break": "broke broken", "bring": "brought brought", "build": "built built",
    "buy": "bought bought", "catch": "caught caught", "choose": "chose chosen", "come": "came come",
    "cut": "cut cut", "do": "did done", "draw": "drew drawn", "drink": "drank drunk", "drive": "drove driven",
    "eat": "ate eaten",
    "fall": "fell fallen", "find": "found found", "fly": "flew flown", "forget": "forgot forgotten",
    "get": "got got", "give": "gave given", "go": "went gone", "grow": "grew grown", "have": "had had",
    "hear": "heard heard", "hide": "hid hidden", "hurt": "hurt hurt", "know": "knew known", "learn": "learned learned",
    "leave": "left left", "lend": "lent lent", "light": "lit lit", "lose": "lost lost",
    "pay": "paid paid", "read": "read read", "run": "ran run", "say": "said said",
    "see": "saw seen", "sell": "sold sold", "send": "sent sent", "shine": "shone shone", "sing": "sang sung",
    "sleep": "slept slept", "speak": "spoke spoken", "spend": "spent spent", "steal": "stole stolen",
    "swim": "swam swum", "take": "took taken", "tell": "told told", "think": "thought thought",
    "throw": "threw thrown", "understand": "understood understood", "wear": "wore worn", "win": "won won",
    "write": "wrote written",
}  # fmt: skip
_DOUBLING = {"begin", "cut", "forget", "get", "put", "run", "swim", "travel", "win"}


def plural(noun: str) -> str:
    if re.search(r"(s|x|ch|sh)$", noun):
        return noun + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", noun) + "s"


def third_person(verb: str) -> str:
    return {"be": "is", "have": "has", "do": "does", "go": "goes"}.get(verb) or plural(verb)


def _regular_past(verb: str) -> str:
    if verb in _DOUBLING:
        return verb + verb[-1] + "ed"
    if verb.endswith("e"):
        return verb + "d"
    return re.sub(r"(?<=[^aeiou])y$", "i", verb) + "ed"


def past(verb: str) -> str:
    return _IRREGULAR[verb].split()[0] if verb in _IRREGULAR else _regular_past(verb)


def participle(verb: str) -> str:
    return _IRREGULAR[verb].split()[1] if verb in _IRREGULAR else _regular_past(verb)


def gerund(verb: str) -> str:
    if verb in _DOUBLING:
        return verb + verb[-1] + "ing"
    return re.sub(r"(?<=[^e])e$", "", verb) + "ing"


def comparative(adjective: str) -> str:
    if adjective == "big":
        return "bigger"
    return re.sub("y$", "i", adjective.removesuffix("e")) + "er"


def superlative(adjective: str) -> str:
    return comparative(adjective)[:-1] + "st"


def article(noun: str) -> str:
    """`a` or `an` before `noun`, by its sound."""
    return "an" if re.match(r"[aeio]|u(?!ni|se)|hour|honest", noun) else "a"
