"""The first batch of an epoch of a store, for scripts/bench_data.py.

    python scripts/bench/epoch_order.py MARKS STORE

MARKS gets a line a phase, its beginning (time.monotonic) and its name: `import`, `open`, `order`, and `end`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from phased_train import Marks  # imports all that a training does

from nmt.data.feed import StoreFeed
from nmt.data.store import PairStore
from nmt.train.distributed import Processes

HOLD = 0.3  # seconds for which each phase stays, so that its memory is seen

if __name__ == "__main__":
    marks = Marks(Path(sys.argv[1]))
    marks.begin("import")
    time.sleep(HOLD)
    marks.begin("open")
    store = PairStore(Path(sys.argv[2]))
    time.sleep(HOLD)
    marks.begin("order")
    updates = StoreFeed(store, batch_tokens=4096, pool=10_000, accumulate=1, seed=1, processes=Processes()).updates()
    next(updates)
    time.sleep(HOLD)
    updates.close()
    marks.begin("end")
