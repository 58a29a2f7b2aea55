"""Trains a toy model, alone or as one of several processes, and leaves the weights:

python together.py FOLDER CASE DROPOUT FEED
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from nmt.run import Run, save_weights
from nmt.train.distributed import joined
from nmt.train.loop import Trainer, Validation
from nmt.train.schedule import InverseSquareRoot
from tests.laws.models import build_model, toy_store
from tests.train.test_loop import feed_of, settings, stream_of

FEEDS = {"store": feed_of, "stream": stream_of}


def train(folder: Path, case: str, dropout: float, feed: str) -> None:
    """20 updates of up to three batches; of a store three pairs remain for an update that leaves the second process
    without."""
    overrides = [f"model.{side}.dropout={dropout}" for side in ("encoder", "decoder")]
    model = build_model(case, *overrides)
    config = settings(updates=20, accumulate=3, batch_tokens=20, clip_norm=1.0, label_smoothing=0.1)
    with joined(torch.device("cpu"), config.accumulate) as processes:
        Trainer(
            model=model,
            feed=FEEDS[feed](toy_store(7), config, processes),
            optimizer=torch.optim.AdamW(model.parameters(), lr=0.01),
            schedule=InverseSquareRoot(warmup=5),
            validate=lambda: Validation(loss=1.0, tokens=1, bleu=1.0, chrf=1.0, signature="", sample=()),
            config=config,
            run=Run(folder),
            seed=5,
            processes=processes,
        ).train()
        if processes.rank == processes.size - 1:
            save_weights(folder / "weights.safetensors", model)


if __name__ == "__main__":
    train(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4])
