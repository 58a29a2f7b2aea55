"""Every score, window and normalizer that configs/ names, found by listing it, and attentions built of them.

Sizes are small enough for their limits to matter: a window does not show a whole sentence, and the location score knows
fewer positions than the longest has. Query and memory differ in size but where a score wants them equal.

Shape letters: B sentences, T query positions, S source positions, Q query size, D memory size.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nmt.build import build, find
from nmt.compose import config_folder, read_values
from nmt.model import masks
from nmt.model.attention.attention import Attention
from nmt.model.attention.scores.dot import Dot

B, T, S, Q, D = 2, 3, 7, 3, 5
LENGTHS = (S, 4)
SMALL = {"reach": 2, "maximum": 5}


def leaves(axis: str) -> dict[str, dict[str, Any]]:
    """The leaves of configs/attention/AXIS by name, with small limits."""
    files = sorted((config_folder() / "attention" / axis).glob("*.yaml"))
    found = {file.stem: read_values(file) for file in files}
    return {name: {key: SMALL.get(key, value) for key, value in leaf.items()} for name, leaf in found.items()}


SCORES, WINDOWS, NORMALIZERS = leaves("score"), leaves("window"), leaves("normalizer")


def make(score: str, window: str = "global", normalizer: str = "softmax", query_size: int = Q) -> Attention:
    """A random attention in double precision, built of leaves as a run builds it."""
    leaf = {
        "_target_": "nmt.model.attention.attention.Attention",
        "score": SCORES[score],
        "window": WINDOWS[window],
        "normalizer": NORMALIZERS[normalizer],
    }
    memory_size = query_size if issubclass(find(SCORES[score], "score"), Dot) else D
    attention: Attention = build(leaf, "attention", query_size=query_size, memory_size=memory_size)
    return attention.double()


def inputs(attention: Attention, query_size: int = Q) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Query [B, T, Q], states [B, S, D], valid [B, S] and position [1, T]; the second sentence is shorter."""
    query = torch.randn(B, T, query_size).double()
    states = torch.randn(B, S, attention.context_size).double()
    return query, states, masks.valid_mask(torch.tensor(LENGTHS), S), torch.arange(T).unsqueeze(0)
