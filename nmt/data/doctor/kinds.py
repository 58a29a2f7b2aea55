"""All that the doctor can find: a name for programs, words for people, and what is to be done about it."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """person: training would suffer, so that somebody should look (exit code 1). mended: --write-clean puts it right,
    or leaves the pair out."""

    words: str
    person: bool = False
    mended: bool = False


KINDS = {
    "empty": Kind("a side has no lines", person=True),
    "counts": Kind("the files have different numbers of lines", person=True),
    "shift": Kind("a side is shifted against the other", person=True),
    "unrelated": Kind("lengths of the two sides hardly go together: are they translations?", person=True),
    "exchanged": Kind("the sides are the other way round, in a good part of the pairs", person=True),
    "swapped": Kind("both lines look like the other side's language"),
    "foreign": Kind("looks like the other side's language"),
    "script": Kind("mostly letters of another script"),
    "utf16": Kind("begins as UTF-16 does: it is to be converted to UTF-8 first", person=True),
    "utf8": Kind("not valid UTF-8", person=True, mended=True),
    "one_blank": Kind("text on one side only", person=True, mended=True),
    "blank": Kind("no text", mended=True),
    "control": Kind("control characters", person=True, mended=True),
    "separator": Kind("line separators inside a line (CR, FF, U+0085, U+2028, ...)", person=True, mended=True),
    "broken": Kind("characters destroyed by a wrong decoding (U+FFFD, or Ã© for é)", person=True),
    "leaked": Kind("pairs that are in the training part too", person=True),
    "leaked_source": Kind("sources that are in the training part too, with another target"),
    "leaked_target": Kind("targets that are in the training part too, with another source"),
    "duplicate": Kind("pairs that have come before", mended=True),
    "ambiguous": Kind("sources that have come before with another target"),
    "identical": Kind("both sides are the same text"),
    "ratio": Kind("one side has over 9 times as many words as the other"),
    "long": Kind("lines over the limit of words"),
    "bom": Kind("byte order mark", mended=True),
    "crlf": Kind("lines that end in CR LF", mended=True),
    "unfinished": Kind("the last line does not end in LF", mended=True),
    "spaces": Kind("no-break spaces, tabs and other space characters", mended=True),
    "zero_width": Kind("zero-width and invisible characters, soft hyphens, marks of direction", mended=True),
    "blanks": Kind("spaces at an end of the line, or several in a row", mended=True),
    "unassigned": Kind("private or unassigned characters"),
    "not_nfc": Kind("characters that Unicode has a composed form for (not NFC)"),
    "reserved": Kind("spelt like control symbols (<s>, </s>, <unk>, <pad>, U+2581)"),
    "entity": Kind("HTML entities (&amp;, &#39;, ...)"),
    "tag": Kind("HTML or XML tags"),
    "tokenised": Kind("as tokenisers leave it (@@, &apos;, a space before a full stop or comma)"),
}
