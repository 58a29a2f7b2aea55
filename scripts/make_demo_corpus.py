"""Write the embedded English-Galician corpus: train, dev and test with gold word alignments.

    python scripts/make_demo_corpus.py [--output data/demo]

The same bytes on every machine; what the files hold is told in data/demo/README.md.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from demo_corpus.bitext import Dice
from demo_corpus.split import corpora

SEED = 20_240_517


def write(folder: Path, seed: int) -> None:
    """Write {train,dev,test}.{en,gl,gold} into `folder`, one sentence a line."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in corpora(Dice(random.Random(seed))).items():
        for side in ("en", "gl", "gold"):
            text = "".join(getattr(row, side) + "\n" for row in rows)
            (folder / f"{name}.{side}").write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the embedded English-Galician corpus.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "data" / "demo")
    write(parser.parse_args().output, SEED)


if __name__ == "__main__":
    main()
