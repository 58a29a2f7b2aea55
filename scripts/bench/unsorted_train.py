"""`nmt train` whose batches are of pairs as they are drawn, not of like lengths, for scripts/bench_data.py.

python scripts/bench/unsorted_train.py [nmt train's settings]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from nmt.cli.main import main
from nmt.data import batch


def cut_as_drawn(widths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Rows in their order, cut where one more would make width x sentences exceed the budget."""
    batches: list[list[int]] = []
    widest = 0
    for row, width in enumerate(map(int, widths)):
        widest = max(widest, width)
        if not batches or widest * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
            widest = width
        batches[-1].append(row)
    return batches


if __name__ == "__main__":
    batch._cut = cut_as_drawn  # type: ignore[assignment]
    raise SystemExit(main(["train", *sys.argv[1:]]))
