"""Pairs of id lists -> padded tensors, and the plan that says which pairs make a batch.

Shape letters: B sentences, S source positions (EOS included), T target positions (EOS included), K links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.pairs import IdPair
from nmt.data.special import BOS, EOS, PAD

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Batch:
    """What a model reads. Lengths decide what is valid; pad ids mean nothing.

    source [B, S] ends in EOS, which source_lengths [B] counts. target_in [B, T] is BOS + pieces, target_out [B, T] is
    pieces + EOS, both of target_lengths [B]. index [B] is each pair's line (from 0) in its corpus. links [K, 3] are the
    links of pieces that supervise attention, (sentence, source position, target position); None where nothing does.
    """

    source: Tensor
    source_lengths: Tensor
    target_in: Tensor
    target_out: Tensor
    target_lengths: Tensor
    index: Tensor
    links: Tensor | None = None

    def __len__(self) -> int:
        return self.source.shape[0]

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        return Batch(
            self.source.to(device),
            self.source_lengths.to(device),
            self.target_in.to(device),
            self.target_out.to(device),
            self.target_lengths.to(device),
            self.index.to(device),
            None if self.links is None else self.links.to(device),
        )


def pad_rows(rows: Sequence[Sequence[int]], pad_to: int = 1) -> tuple[Tensor, Tensor]:
    """Id lists -> (ids [B, longest] padded at the end, longest a multiple of `pad_to`; lengths [B])."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    ids = np.full((len(rows), rounded_up(lengths.max(initial=0), pad_to)), PAD, dtype=np.int64)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = np.fromiter(chain.from_iterable(rows), dtype=np.int64)
    return torch.from_numpy(ids), torch.from_numpy(lengths)


def pack_links(rows: Sequence[Sequence[int]]) -> Tensor:
    """For each sentence its links as s, t, s, t, ... -> [K, 3]: sentence, source position, target position."""
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 2)
    sentences = np.repeat(np.arange(len(rows)), [len(row) // 2 for row in rows])
    return torch.from_numpy(np.column_stack([sentences, flat]))


def make_batch(
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    index: Sequence[int] | None = None,
    links: Sequence[Sequence[int]] | None = None,
    pad_to: int = 1,
) -> Batch:
    """Piece ids without BOS or EOS, one list a sentence -> Batch, whose S and T are multiples of `pad_to`. Without
    targets give empty lists. `links` as `pack_links` takes them."""
    source, source_lengths = pad_rows([[*row, EOS] for row in sources], pad_to)
    target_in, target_lengths = pad_rows([[BOS, *row] for row in targets], pad_to)
    target_out, _ = pad_rows([[*row, EOS] for row in targets], pad_to)
    return Batch(
        source,
        source_lengths,
        target_in,
        target_out,
        target_lengths,
        torch.tensor(range(len(sources)) if index is None else index, dtype=torch.long),
        None if links is None else pack_links(links),
    )


def batch_pairs(pairs: Sequence[IdPair], *, pad_to: int = 1, linked: bool = False) -> Batch:
    """The pairs in this order, with their links if they are `linked`; S and T are multiples of `pad_to`."""
    return make_batch(
        [pair.source for pair in pairs],
        [pair.target for pair in pairs],
        [pair.index for pair in pairs],
        [list(pair.links) for pair in pairs] if linked else None,
        pad_to,
    )


def plan_pool(
    source_lengths: Ints, target_lengths: Ints, *, batch_tokens: int, pad_to: int, generator: np.random.Generator
) -> list[list[int]]:
    """The rows of each batch of a pool, every row once: a pure function of its arguments.

    Rows are sorted by width, max(S, T) rounded up to a multiple of `pad_to`, so that a batch holds like lengths, and
    cut into batches with width x B <= batch_tokens, but for a pair that alone is wider; equal widths stay as they come.
    Then the batches are shuffled. Lengths [rows] count EOS.
    """
    widths = rounded_up(np.maximum(source_lengths, target_lengths), pad_to)
    batches = _cut(widths, batch_tokens)
    return [batches[place] for place in generator.permutation(len(batches))]


def plan_in_order(lengths: Ints, batch_tokens: int) -> list[list[int]]:
    """The rows of each batch for evaluation: shortest first, equal lengths by row; every row once."""
    return _cut(np.asarray(lengths), batch_tokens)


def rounded_up(number: Any, multiple: int) -> Any:
    """An integer, or an array of them, to the next multiple."""
    return -(-number // multiple) * multiple


def _cut(widths: Ints, batch_tokens: int) -> list[list[int]]:
    """Rows sorted by width (equal ones stay as they come), cut where one row more would exceed the budget."""
    rows = np.argsort(widths, kind="stable")
    batches: list[list[int]] = []
    for row, width in zip(rows.tolist(), widths[rows].tolist(), strict=True):
        if not batches or width * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
        batches[-1].append(row)
    return batches
