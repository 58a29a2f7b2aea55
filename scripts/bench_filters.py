"""How well the filter `language` tells the two sides of a corpus, and what each filter costs.

    python scripts/bench_filters.py TRAIN.src TRAIN.trg TEST.src TEST.trg

Languages are learnt from the training pairs, once as they are and once with 30% of them spoilt (half swapped, half the
source twice), and judged on the test pairs: as they are, swapped, and with either side twice. Costs are microseconds of
one core a training pair, in one pass.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from nmt.config import FiltersConfig
from nmt.data.filters import SAMPLE, Filters
from nmt.data.languages import Detector
from nmt.data.lines import is_blank, read_pairs
from nmt.data.pairs import TextPair
from nmt.data.reservoir import draw

Pairs = list[tuple[str, str]]
ALONE = {
    "defaults": FiltersConfig(),
    "max_words": FiltersConfig(max_words=50),
    "identical": FiltersConfig(identical=True),
    "overlap": FiltersConfig(overlap=True),
    "characters": FiltersConfig(characters=True),
    "script": FiltersConfig(script=True),
    "language": FiltersConfig(language=True),
    "duplicates": FiltersConfig(duplicates=True),
}
TOGETHER = FiltersConfig(
    max_words=50, identical=True, overlap=True, characters=True, script=True, language=True, duplicates=True
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("train_source", "train_target", "test_source", "test_target"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    train = read(given.train_source, given.train_target)
    test = read(given.test_source, given.test_target)
    for share in (0.0, 0.3):
        judge(spoilt(train, share), test, share)
    pairs = [TextPair(index, *pair) for index, pair in enumerate(train)]
    for name, config in {**ALONE, "all of them": TOGETHER}.items():
        filters = Filters(config, held_out=test, sample=train)
        print(f"{name}: {1e6 * seconds(filters, pairs) / len(pairs):.2f} us a pair")


def read(source: Path, target: Path) -> Pairs:
    """The pairs with text on both sides."""
    return [pair for pair in read_pairs(source, target) if not any(map(is_blank, pair))]


def spoilt(pairs: Pairs, share: float) -> Pairs:
    """This share of the pairs is wrong: half of them swapped, half the source twice."""
    draw = random.Random(2)
    fates = [draw.random() / share if share else 1.0 for _ in pairs]
    return [
        (target, source) if fate < 0.5 else (source, source) if fate < 1 else (source, target)
        for fate, (source, target) in zip(fates, pairs, strict=True)
    ]


def judge(train: Pairs, test: Pairs, share: float) -> None:
    detector = Detector(draw(train, SAMPLE, seed=0))
    kinds = {
        "as they are": test,
        "swapped": [(target, source) for source, target in test],
        "source twice": [(source, source) for source, _ in test],
        "target twice": [(target, target) for _, target in test],
    }
    told = "told apart" if detector.tells_apart else "not told apart"
    print(f"learnt with {share:.0%} spoilt; the sides are {told}; left out:")
    for kind, pairs in kinds.items():
        print(f"  {kind}: {sum(detector.misplaced(*pair) for pair in pairs)} of {len(pairs)}")


def seconds(filters: Filters, pairs: list[TextPair]) -> float:
    """Of one core, to judge them once."""
    begin = time.process_time()
    for pair in pairs:
        filters.of_text(pair)
    return time.process_time() - begin


if __name__ == "__main__":
    main()
