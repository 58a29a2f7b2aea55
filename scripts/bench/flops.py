"""How many floating-point operations a target token costs in training, from the model's shapes.

A weight that multiplies a token costs a multiply-add forward and two backward (the gradients of input and weight): 6
FLOP. So do the products of attention, states with states. Elementwise work, the softmax, padding and what happens once
a sentence count nothing, so what they take is missing from the share of the matrix-product peak.

Shape letters: S source tokens, T target tokens of a pair (EOS counted), D model size, F feed-forward size, E embedding
size, H hidden size of the decoder and of both directions of the encoder together, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

FLOP_PER_WEIGHT = 6


class Work(NamedTuple):
    """Multiply-adds of one pass forward: for each source token, each target token, and each pair of positions."""

    source: int
    target: int
    source_source: int
    target_source: int
    target_target: int


def transformer(*, layers: int, size: int, feedforward: int, vocabulary: int) -> Work:
    """Vaswani 2017: `layers` on either side; keys and values of the cross attention are made of source tokens."""
    layer = 4 * size**2 + 2 * size * feedforward
    return Work(
        source=layers * (layer + 2 * size**2),
        target=layers * (layer + 2 * size**2) + size * vocabulary,
        source_source=layers * 2 * size,
        target_source=layers * 2 * size,
        target_target=layers * 2 * size,
    )


def recurrent(*, embedding: int, hidden: int, vocabulary: int) -> Work:
    """One LSTM layer each, bidirectional encoder, Luong 2015's general score, attentional state and input feeding."""
    return Work(
        source=2 * 4 * (hidden // 2) * (embedding + hidden // 2) + hidden**2,
        target=4 * hidden * (embedding + 2 * hidden) + 2 * hidden * hidden + hidden * vocabulary,
        source_source=0,
        target_source=2 * hidden,
        target_target=0,
    )


def work_of(size: str, vocabulary: int) -> Work:
    """The two sizes that are compared."""
    if size == "s1":
        return transformer(layers=4, size=128, feedforward=256, vocabulary=vocabulary)
    return recurrent(embedding=512, hidden=512, vocabulary=vocabulary)


def flop_per_token(work: Work, lengths: Iterable[tuple[int, int]]) -> float:
    """FLOP a target token over pairs of lengths (S, T)."""
    total, tokens = 0, 0
    for source, target in lengths:
        total += work.source * source + work.target * target
        total += work.source_source * source**2 + work.target_source * source * target
        total += work.target_target * target**2
        tokens += target
    return FLOP_PER_WEIGHT * total / tokens
