"""`nmt data list`: the corpora that are ready to use."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.data.fetch.recipes import Recipe

SUMMARY = "the corpora that are ready to use: languages, size, licence, source"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = (
        "Languages are those of the recipe as it stands; many have others, as the first lines of its yaml say."
    )
    parser.add_argument("--json", action="store_true", help="print a JSON array, an object a recipe")


def run(arguments: argparse.Namespace) -> int:
    """Print all recipes."""
    import json

    from nmt.data.fetch.recipes import recipes

    rows = [_row(recipe) for recipe in recipes()]
    print(json.dumps(rows, ensure_ascii=False, indent=2) if arguments.json else _table(rows))
    return 0


def _row(recipe: Recipe) -> dict[str, str]:
    about = recipe.about
    languages = "-".join(recipe.languages)
    return {
        "name": recipe.name,
        "languages": languages,
        "size": about.size,
        "licence": about.licence,
        "source": about.source,
    }


def _table(rows: list[dict[str, str]]) -> str:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)
