"""What a finished run came to, read from its directory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import torch

from nmt.align.export import read_export
from nmt.align.matrix import AlignmentMatrix
from nmt.align.signs import row_entropies, row_shares
from nmt.model.assemble import assemble
from nmt.run import Run


class Measured(NamedTuple):
    """BLEU with its bootstrap interval, and chrF, 0 to 100; AER, 0 to 1, where there is gold; entropy in nats where
    there are weights; target tokens a second in training, where that was logged; trained numbers."""

    bleu: float
    low: float
    high: float
    chrf: float
    aer: float | None
    entropy: float | None
    tokens_per_second: float | None
    parameters: int
    signature: str


def measure(run: Run) -> Measured:
    """Of a run that is finished."""
    scores = json.loads(run.evaluation.read_text(encoding="utf-8"))
    return Measured(
        bleu=scores["bleu"]["score"],
        low=scores["bleu"]["low"],
        high=scores["bleu"]["high"],
        chrf=scores["chrf"]["score"],
        aer=scores.get("aer"),
        entropy=mean_entropy(record.matrix for record in read_export(run.alignment)),
        tokens_per_second=training_rate(run.metrics),
        parameters=count_parameters(run),
        signature=scores["bleu"]["signature"],
    )


def mean_entropy(matrices: Iterable[AlignmentMatrix]) -> float | None:
    """How spread the attention is: the mean over all target words of -sum_s w_s ln w_s, in nats.

    A row is divided by its sum first, and EOS's column is one of the s; EOS's own row is left out, and so are rows of
    zeros. 0: every word reads one word alone. None where there are no weights.
    """
    shares = [row_shares(matrix.weights) for matrix in matrices]
    rows = [row_entropies(one[one.any(axis=1)]) for one in shares]
    entropies = np.concatenate(rows) if rows else np.zeros(0)
    return float(entropies.mean()) if entropies.size else None


def training_rate(metrics: Path) -> float | None:
    """The median of the logged rates; None where training ended before the first log."""
    events = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    rates = [event["tokens_per_second"] for event in events if event["event"] == "train"]
    return median(rates) if rates else None


def count_parameters(run: Run) -> int:
    """Those of the network, a tied table once; buffers, which the weights' file holds as well, are not trained."""
    source, target = run.tokenizers()
    with torch.device("meta"):
        model = assemble(run.config(), source_vocabulary=len(source), target_vocabulary=len(target))
    return sum(parameter.numel() for parameter in model.parameters())
