"""The machine's matrix-product peak, for scripts/bench_train.py: medians of FLOP a second, as one JSON list.

    python scripts/bench/products.py THREADS

2048 x 2048 x 2048, which is the peak that shares are of; and 4096 x 128 x 8000, what a small model's readout asks for.
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median

import torch

SHAPES = ((2048, 2048, 2048), (4096, 128, 8000))
REPEATS = 15
COLD = 3


def speed(rows: int, inner: int, columns: int) -> float:
    """Median FLOP a second of [rows, inner] x [inner, columns] in float32."""
    left, right, product = torch.rand(rows, inner), torch.rand(inner, columns), torch.empty(rows, columns)
    times = []
    for _ in range(COLD + REPEATS):
        began = time.perf_counter()
        torch.mm(left, right, out=product)
        times.append(time.perf_counter() - began)
    return 2 * rows * inner * columns / median(times[COLD:])


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    print(json.dumps([speed(*shape) for shape in SHAPES]))
