"""How our cost grows: by corpus, sentence length, vocabulary and batch budget; and between S2's kinds of attention.

What should be seen: rates are flat in the corpus; a token's cost grows with length by its quadratic part alone, and
with the vocabulary by the readout's share, so that the share of the product peak stays; memory is linear in the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from bench import corpus, launch, ours
from bench.flops import flop_per_token, work_of
from bench.table import Ratio, markdown, ratio, spread


class Point(NamedTuple):
    """One training of a sweep: what the table calls it, its corpus, vocabulary and other settings."""

    name: str
    pairs: list[corpus.Pair]
    vocabulary: int = 8000
    more: tuple[str, ...] = ()


class Variant(NamedTuple):
    """A kind of S2, and the least ratio to the first that it should reach."""

    name: str
    more: tuple[str, ...]
    goal: float | None


VARIANTS = (
    Variant("general, input feeding", (), None),
    Variant("additive, input feeding", ("attention=luong_concat",), 0.85),
    Variant("general, without input feeding", ("wiring.input_feeding=false",), 1.3),
)


def by_corpus(pairs: list[corpus.Pair]) -> list[Point]:
    """Repeated where the corpus has fewer, so that the sentences stay the same kind."""
    return [Point(f"{count:,} pairs", corpus.repeated(pairs, count)) for count in (5_000, 29_000, 116_000)]


def by_length(pairs: list[corpus.Pair]) -> list[Point]:
    """Neighbours joined into ever longer sentences of the same words."""
    more = ("data.filters.max_pieces=10000",)
    return [Point(f"{count} joined", corpus.joined(pairs, count), more=more) for count in (1, 2, 4, 8, 16)]


def by_vocabulary(pairs: list[corpus.Pair]) -> list[Point]:
    """One joint vocabulary, of other sizes."""
    sizes = (2000, 4000, 8000, 16000)
    return [
        Point(f"{size:,} pieces", pairs, vocabulary=size, more=(f"tokenizer.vocabulary_size={size}",)) for size in sizes
    ]


def by_memory(pairs: list[corpus.Pair]) -> list[Point]:
    """Other budgets of padded tokens a batch."""
    budgets = (1024, 2048, 4096, 8192, 16384)
    return [Point(f"{budget:,} tokens a batch", pairs, more=(f"train.batch_tokens={budget}",)) for budget in budgets]


SWEEPS: dict[str, Callable[[list[corpus.Pair]], list[Point]]] = {
    "corpus": by_corpus,
    "length": by_length,
    "vocabulary": by_vocabulary,
    "memory": by_memory,
}


def sweep(
    kind: str, size: str, pairs: list[corpus.Pair], work: Path, *, threads: int, rounds: int, seconds: float
) -> str:
    """Every point in turn, round after round, `seconds` of training each; the table."""
    points = SWEEPS[kind](pairs)
    peak = ours.products(threads, work)[0]
    folders = [corpus.write(point.pairs, work / f"data{place}") for place, point in enumerate(points)]
    runs = [work / f"run{place}" for place in range(len(points))]
    measured: list[list[ours.Measured]] = [[] for _ in points]
    for _ in range(rounds):
        for point, folder, run, found in zip(points, folders, runs, measured, strict=True):
            limit = (f"train.max_minutes={seconds / 60}", f"train.updates={ours.NEVER}")
            found.append(ours.train(size, folder, run, threads, (*point.more, *limit)))
            launch.tell(f"{point.name}: {found[-1].rate:,.0f} tokens/s, {found[-1].memory:,.0f} MiB")
    heads = [kind, "target tokens a sentence", "target tokens/s", "range", "microseconds a token"]
    heads += ["MFLOP a token", "share of product peak", "peak memory, MiB"]
    rows = [row(point, run, size, found, peak) for point, run, found in zip(points, runs, measured, strict=True)]
    return markdown(heads, rows)


def row(point: Point, run: Path, size: str, found: Sequence[ours.Measured], peak: float) -> list[str]:
    """A point's line of the table."""
    lengths = corpus.lengths(point.pairs, run)
    flop = flop_per_token(work_of(size, point.vocabulary), lengths)
    rates = [one.rate for one in found]
    return [
        point.name,
        f"{mean(target for _, target in lengths):.1f}",
        f"{median(rates):,.0f}",
        spread(rates),
        f"{1e6 / median(rates):,.0f}",
        f"{flop / 1e6:.1f}",
        f"{median(rates) * flop / peak:.0%}",
        f"{max(one.memory for one in found):,.0f}",
    ]


def variants(pairs: list[corpus.Pair], work: Path, *, threads: int, rounds: int, updates: int) -> str:
    """S2's kinds, interleaved; each against the first."""
    folder = corpus.write(pairs, work / "data")
    measured: list[list[ours.Measured]] = [[] for _ in VARIANTS]
    for _ in range(rounds):
        for variant, found in zip(VARIANTS, measured, strict=True):
            more = (*variant.more, f"train.updates={updates}")
            found.append(ours.train("s2", folder, work / "run", threads, more))
            launch.tell(f"{variant.name}: {found[-1].rate:,.0f} tokens/s, {found[-1].memory:,.0f} MiB")
    heads = ["S2", "target tokens/s", "range", "peak memory, MiB", "to the first (rounds)", "goal"]
    first = [one.rate for one in measured[0]]
    rows = []
    for variant, found in zip(VARIANTS, measured, strict=True):
        rates = [one.rate for one in found]
        memory = max(one.memory for one in found)
        against = "" if variant.goal is None else verdict(ratio(rates, first), variant.goal)
        goal = "" if variant.goal is None else f"{variant.goal} or more"
        rows.append([variant.name, f"{median(rates):,.0f}", spread(rates), f"{memory:,.0f}", against, goal])
    return markdown(heads, rows)


def verdict(found: Ratio, goal: float) -> str:
    """The ratio, and whether it reaches its goal."""
    return f"{found}, {'reached' if found.of_medians >= goal else 'missed'}"
