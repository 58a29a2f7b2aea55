"""A page of text, tables and pictures, written as Markdown or as one HTML file that needs nothing else.

All text of a block is plain: what would be markup in it is shown, not obeyed.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from nmt.align.figure import shown
from nmt.data.files import write_atomically
from nmt.errors import UserError

SUFFIXES = (".html", ".md")


class Heading(NamedTuple):
    """level: 1 is the page's title."""

    level: int
    text: str


class Paragraph(NamedTuple):
    text: str


class Table(NamedTuple):
    """numbers: the columns, from 0, that go to the right."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = frozenset()


class Facts(NamedTuple):
    """Names and what they are, a line each; text of any language and direction."""

    facts: Sequence[tuple[str, str]]


class Picture(NamedTuple):
    """An SVG; `name` is that of its file, without a suffix, and `text` what it shows, for who does not see it."""

    name: str
    text: str
    svg: bytes


Block: TypeAlias = Heading | Paragraph | Table | Facts | Picture


def write_document(path: Path, blocks: Sequence[Block]) -> None:
    """One HTML file with its pictures inside, or Markdown with them in a folder `NAME_files` beside it: see the suffix.

    Raises UserError for another suffix, or a place that cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise UserError(f"{path}: a report is written as {' or '.join(SUFFIXES)}, not as '{path.suffix}'")
    if kind == ".html":
        write_atomically(path, html_page(blocks).encode("utf-8"))
        return
    folder = f"{path.stem}_files"
    for block in blocks:
        if isinstance(block, Picture):
            write_atomically(path.parent / folder / f"{block.name}.svg", block.svg)
    write_atomically(path, markdown_page(blocks, folder).encode("utf-8"))


def html_page(blocks: Sequence[Block]) -> str:
    """The whole file."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    head = f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_escaped(title)}</title>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(map(_html, blocks))
    return f"{head}\n{view}\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"


def markdown_page(blocks: Sequence[Block], folder: str) -> str:
    """The whole file; pictures are looked for in `folder`."""
    return "\n".join(_markdown(block, folder) for block in blocks)


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_escaped(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{_escaped(block.text)}</p>"
    if isinstance(block, Facts):
        pairs = (f'<dt>{_escaped(name)}</dt><dd dir="auto">{_escaped(text)}</dd>' for name, text in block.facts)
        return f"<dl>\n{_joined(pairs)}\n</dl>"
    if isinstance(block, Picture):
        source = base64.b64encode(block.svg).decode("ascii")
        return f'<figure><img alt="{_escaped(block.text)}" src="data:image/svg+xml;base64,{source}"></figure>'
    heads = "".join(_cell("th", place in block.numbers, text) for place, text in enumerate(block.heads))
    rows = ("".join(_cell("td", place in block.numbers, one) for place, one in enumerate(row)) for row in block.rows)
    return f"<table>\n<tr>{heads}</tr>\n{_joined(f'<tr>{row}</tr>' for row in rows)}\n</table>"


def _cell(tag: str, is_number: bool, text: str) -> str:
    return f"<{tag}{' class=number' if is_number else ''}>{_escaped(text)}</{tag}>"


def _escaped(text: str) -> str:
    return html.escape(shown(text))


def _markdown(block: Block, folder: str) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_literal(block.text)}\n"
    if isinstance(block, Paragraph):
        return f"{_literal(block.text)}\n"
    if isinstance(block, Facts):
        return _joined(f"- **{_literal(name)}**: {_literal(text)}" for name, text in block.facts) + "\n"
    if isinstance(block, Picture):
        return f"![{_literal(block.text)}]({quote(f'{folder}/{block.name}.svg')})\n"
    rule = ("---:" if place in block.numbers else "---" for place in range(len(block.heads)))
    lines = [map(_literal, block.heads), rule, *(map(_literal, row) for row in block.rows)]
    return _joined(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _literal(text: str) -> str:
    """The text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]#|~$!])", r"\\\1", html.escape(shown(text), quote=False))


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines)


_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 68rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border-bottom: 1px solid #8884; padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0; }
dt { color: #888; } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1rem 0; overflow-x: auto; } img { max-width: 100%; height: auto; background: #fff; }
"""
