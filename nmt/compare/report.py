"""What a comparison leaves in its folder for people and programs: two tables and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nmt.compare.comparison import Comparison
from nmt.compare.figure import draw_lengths
from nmt.compare.kinds import Kind
from nmt.compare.lengths import Bin
from nmt.compare.table import NOTES, lengths_csv, markdown, table_csv
from nmt.data.files import write_atomically

FIGURE = "bleu_by_length"


def write_report(
    comparison: Comparison, kinds: Sequence[Kind], bins: Sequence[Bin], versions: Mapping[str, str]
) -> None:
    """table.csv, table.md and, where any kind has finished, BLEU by length as CSV, PNG and SVG."""
    texts = {"table.csv": table_csv(kinds), "table.md": describe(comparison, kinds, bins, versions)}
    if bins:
        texts[f"{FIGURE}.csv"] = lengths_csv(kinds, bins)
        pictures = [comparison.folder / f"{FIGURE}.{kind}" for kind in ("png", "svg")]
        draw_lengths(kinds, bins, pictures, title=f"{comparison.experiment}: BLEU by source length")
    for name, text in texts.items():
        write_atomically(comparison.folder / name, text.encode())


def describe(comparison: Comparison, kinds: Sequence[Kind], bins: Sequence[Bin], versions: Mapping[str, str]) -> str:
    """The table with all that it takes to make it again."""
    seeds = sorted({seed for kind in kinds for seed in kind.seeds})
    signatures = sorted({one.signature for kind in kinds for one in kind.measured})
    facts = [
        f"seeds: {', '.join(map(str, seeds))}; {sum(one.sentences for one in bins)} test sentences",
        "versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()),
        *(f"BLEU's signature: `{signature}`" for signature in signatures),
        *NOTES,
    ]
    commands = "".join(f"    {command}\n" for command in comparison.commands())
    picture = f"\n![BLEU by source length]({FIGURE}.png)\n" if bins else ""
    listed = "".join(f"- {fact}\n" for fact in facts)
    return f"# {comparison.experiment}\n\n{commands}\n{markdown(kinds)}\n{listed}{picture}"
