"""Word links of a corpus by two runs of opposite directions: what a third run's attention can be trained to.

A file in Pharaoh format, a line a pair. Each run aligns by its own settings, and their links are symmetrised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from nmt.align.extract import chosen_view
from nmt.align.links import DEFAULT_RULE
from nmt.align.pipeline import align_records, symmetrize_records
from nmt.config import DataConfig
from nmt.data.files import open_whole
from nmt.data.pharaoh import format_links
from nmt.data.tokenizer import Tokenizer
from nmt.errors import UserError
from nmt.run import Run
from nmt.translator import Translator


def check_opposite(path: Path, data: DataConfig) -> None:
    """UserError for what is no run with weights, or is one that does not translate these languages the other way."""
    try:
        Run.open(path).check_beside((data.target_language, data.source_language))
    except UserError as error:
        raise UserError(f"train.guided_alignment={error}") from error


def write_links(
    path: Path, pairs: Iterable[tuple[str, str]], forward: Translator, reverse: Translator, max_pieces: int | None
) -> int:
    """A line for each pair, and how many links there are; none for a pair with a blank side, or with more than
    `max_pieces` pieces (EOS not counted) on a side, or one that a run's positions do not reach."""
    count = 0
    chosen = alignable(pairs, forward, reverse, max_pieces)
    records = align_records(forward, chosen, [chosen_view(forward, forward.alignment)])
    with open_whole(path) as file:
        for record in symmetrize_records(records, reverse, chosen_view(reverse, reverse.alignment), DEFAULT_RULE):
            file.write(f"{format_links(record.links)}\n".encode())
            count += len(record.links)
    return count


def alignable(
    pairs: Iterable[tuple[str, str]], forward: Translator, reverse: Translator, max_pieces: int | None
) -> Iterator[tuple[str, str]]:
    """The pairs, with a blank one for each that is too long."""
    readers = [
        (0, forward.source_tokenizer, reach(max_pieces, forward.model.encoder.longest)),
        (1, forward.target_tokenizer, reach(max_pieces, forward.model.decoder.longest)),
        (1, reverse.source_tokenizer, reach(None, reverse.model.encoder.longest)),
        (0, reverse.target_tokenizer, reach(None, reverse.model.decoder.longest)),
    ]
    for pair in pairs:
        yield pair if all(fits(pair[side], tokenizer, most) for side, tokenizer, most in readers) else ("", "")


def reach(max_pieces: int | None, longest: int | None) -> int | None:
    """The most pieces that a line may have, of which `longest` counts EOS; None: any number."""
    limits = [limit for limit in (max_pieces, None if longest is None else longest - 1) if limit is not None]
    return min(limits, default=None)


def fits(line: str, tokenizer: Tokenizer, most: int | None) -> bool:
    """Whether the line has no more pieces than that."""
    return most is None or len(tokenizer.encode(line)) <= most
