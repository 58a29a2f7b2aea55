"""The corpus that all sides read: found, made longer or larger for a sweep, and cut for the peers by our tokenizer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nmt.data.lines import read_pairs
from nmt.data.special import EOS, PAD
from nmt.data.tokenizer import Tokenizer
from nmt.run import Run

DEV_LINES = 4  # validated once, after the last update: as little as there can be
SIDES = ("en", "de")

Pair = tuple[str, str]


def find(folder: Path | None) -> Path:
    """The folder with train.en and train.de: the one named, or NMT_DATA; or `multi30k` in it."""
    named = folder or (Path(os.environ["NMT_DATA"]) if os.environ.get("NMT_DATA") else None)
    if named is None:
        raise SystemExit("bench_train: --data FOLDER with train.en and train.de is wanted, or NMT_DATA=FOLDER")
    for place in (named, named / "multi30k"):
        if all((place / f"train.{side}").is_file() for side in SIDES):
            return place
    raise SystemExit(f"bench_train: {named}: there are no train.en and train.de, nor in {named / 'multi30k'}")


def read(folder: Path) -> list[Pair]:
    """The training pairs."""
    return list(read_pairs(*(folder / f"train.{side}" for side in SIDES)))


def write(pairs: Sequence[Pair], folder: Path) -> Path:
    """train.en, train.de, and a validation set of its first lines, in a new folder, which is returned."""
    folder.mkdir()
    for part, chosen in (("train", pairs), ("valid", pairs[:DEV_LINES])):
        for place, side in enumerate(SIDES):
            write_lines((pair[place] for pair in chosen), folder / f"{part}.{side}")
    return folder


def write_lines(lines: Iterable[str], path: Path) -> None:
    """One a line, UTF-8, LF."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def repeated(pairs: Sequence[Pair], count: int) -> list[Pair]:
    """So many pairs: the first, or all of them again and again."""
    return [pairs[place % len(pairs)] for place in range(count)]


def joined(pairs: Sequence[Pair], together: int) -> list[Pair]:
    """Each `together` neighbours as one long pair."""
    groups = [pairs[first : first + together] for first in range(0, len(pairs) - together + 1, together)]
    return [(" ".join(pair[0] for pair in group), " ".join(pair[1] for pair in group)) for group in groups]


def lengths(pairs: Iterable[Pair], run: Path) -> list[tuple[int, int]]:
    """Tokens of each side, EOS counted, as the run's tokenizers cut them."""
    source, target = Run(run).tokenizers()
    return [(len(source.encode(one)) + 1, len(target.encode(other)) + 1) for one, other in pairs]


def write_ids(pairs: Sequence[Pair], run: Path, folder: Path) -> None:
    """For a peer that reads ids: source.ids and target.ids, EOS included."""
    for name, lines, tokenizer in sides(pairs, run):
        write_lines((" ".join(map(str, [*tokenizer.encode(line), EOS])) for line in lines), folder / f"{name}.ids")


def write_pieces(pairs: Sequence[Pair], run: Path, folder: Path) -> None:
    """For a peer that reads pieces: source.pieces, target.pieces, and `vocabulary`, one a line, without specials."""
    for name, lines, tokenizer in sides(pairs, run):
        cut = (" ".join(tokenizer.pieces(tokenizer.encode(line))) for line in lines)
        write_lines(cut, folder / f"{name}.pieces")
    write_lines(tokenizer.pieces(range(PAD + 1, len(tokenizer))), folder / "vocabulary")


def sides(pairs: Sequence[Pair], run: Path) -> Iterator[tuple[str, list[str], Tokenizer]]:
    """`source` and `target`, each with its lines and its tokenizer."""
    for place, (name, tokenizer) in enumerate(zip(("source", "target"), Run(run).tokenizers(), strict=True)):
        yield name, [pair[place] for pair in pairs], tokenizer
