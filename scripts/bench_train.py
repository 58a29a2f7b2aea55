"""Training speed and memory of ours beside a peer installed elsewhere, in turn, each in a process of its own.

    python scripts/bench_train.py --size s1 --peer hf --peer-python PEER/bin/python --data FOLDER
    python scripts/bench_train.py --size s2 --peer opennmt --peer-python PEER/bin/python --data FOLDER
    python scripts/bench_train.py --sweep length --data FOLDER
    python scripts/bench_train.py --s2-variants --data FOLDER
    python scripts/bench_train.py --size s1 --data FOLDER train.precision=bfloat16

FOLDER has train.en and train.de of Multi30k (or a folder `multi30k` that has); without --data it is NMT_DATA's. S1 is
a Transformer of 4+4 layers of 128, S2 an LSTM with input feeding (bench/ours.py, bench/peers.py). Ours is `nmt train`
with its experiments. The peer is run as installed ("default") and with glibc's allocator told to keep what is freed
("tuned"), which ours tells it itself. All read the same corpus in the same 8,000 pieces, in batches of at most 4,096
padded tokens. Target tokens are counted with EOS and without padding, after the first ten seconds or the first quarter
of the updates, whichever is less. Run it with nothing else running. The table goes to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from statistics import median

from bench import corpus, launch, ours, peers, sweeps
from bench.flops import flop_per_token, work_of
from bench.table import Side, comparison, spread

UPDATES = {"s1": 40, "s2": 20}  # about half a minute on two cores
ALLOCATORS: dict[str, dict[str, str]] = {"default": {}, "tuned": launch.TUNED}


def main() -> None:
    """One of the three kinds of measurement."""
    arguments = parse()
    pairs = corpus.read(corpus.find(arguments.data))
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    print(f"nmt {version('nmt')}, torch {version('torch')}, {python}; threads: {arguments.threads}\n")
    with tempfile.TemporaryDirectory(prefix="nmt-bench-") as folder:
        os.environ["NMT_CACHE"] = f"{folder}/cache"
        print(measure(arguments, pairs, Path(folder)))


def parse() -> argparse.Namespace:
    """The command line, with what depends on other options filled in."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--size", choices=sorted(ours.SIZES), default="s1")
    parser.add_argument("--peer", choices=sorted(peers.PEERS), help="without one ours is measured alone")
    parser.add_argument("--peer-python", type=Path, default=Path(sys.executable), help="has the peer installed")
    parser.add_argument("--sweep", choices=sorted(sweeps.SWEEPS), help="ours alone, at several points")
    parser.add_argument("--s2-variants", action="store_true", help="ours alone, S2's kinds of attention")
    parser.add_argument("--rounds", type=positive, help="default 3, of a sweep 1")
    parser.add_argument("--updates", type=positive, help="default 40 of S1, 20 of S2")
    parser.add_argument("--seconds", type=float, default=15.0, help="of training at each point of a sweep")
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("settings", nargs="*", metavar="key=value", help="of ours beside the peer, for nmt train")
    arguments = parser.parse_intermixed_args()
    arguments.rounds = arguments.rounds or (1 if arguments.sweep else 3)
    arguments.updates = arguments.updates or UPDATES["s2" if arguments.s2_variants else arguments.size]
    return arguments


def positive(text: str) -> int:
    """A count."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: 1 or more")
    return value


def measure(arguments: argparse.Namespace, pairs: list[corpus.Pair], work: Path) -> str:
    """The text that is printed."""
    threads, rounds = arguments.threads, arguments.rounds
    if arguments.sweep:
        return sweeps.sweep(
            arguments.sweep, arguments.size, pairs, work, threads=threads, rounds=rounds, seconds=arguments.seconds
        )
    if arguments.s2_variants:
        return sweeps.variants(pairs, work, threads=threads, rounds=rounds, updates=arguments.updates)
    return compare(arguments, pairs, work)


def compare(arguments: argparse.Namespace, pairs: list[corpus.Pair], work: Path) -> str:
    """Ours and the peer in turn; then once more ours, with timers."""
    name, size, threads, updates = arguments.peer, arguments.size, arguments.threads, arguments.updates
    versions = peers.check(name, size, arguments.peer_python) if name else {}
    data, run = corpus.write(pairs, work / "data"), work / "run"
    more = (f"train.updates={updates}", *arguments.settings)
    mine = Side(" ".join(["ours", *arguments.settings]), [], [])
    theirs = [Side(f"{name}, {allocator}", [], []) for allocator in ALLOCATORS] if name else []
    cubes, readouts = [], []
    for number in range(arguments.rounds):
        cube, readout = ours.products(threads, work)
        cubes.append(cube)
        readouts.append(readout)
        launch.tell(f"products {cube / 1e9:.0f} and {readout / 1e9:.0f} GFLOP/s")
        note(mine, ours.train(size, data, run, threads, more))
        if name and number == 0:
            peers.PEERS[name].prepare(pairs, run, work)
        for side, extra in zip(theirs, ALLOCATORS.values(), strict=False):
            note(side, peers.train(name, arguments.peer_python, size, work, updates, threads, extra))
    flop = flop_per_token(work_of(size, 8000), corpus.lengths(pairs, run))
    parts = ours.shares(size, data, run, threads, more)
    return "\n".join(
        [
            *(f"peer: {' '.join(package)}" for package in versions.items()),
            f"{size.upper()}, {arguments.rounds} rounds of {updates} updates; {flop / 1e6:.1f} MFLOP a target token",
            "",
            comparison(mine, theirs, flop, median(cubes)),
            "",
            f"matrix product 2048 x 2048 x 2048: {gigas(cubes)}; 4096 x 128 x 8000: {gigas(readouts)} GFLOP/s",
            f"at that peak: {median(cubes) / flop:,.0f} target tokens/s",
            "time of ours: " + ", ".join(f"{part} {share:.0%}" for part, share in parts.items()),
        ]
    )


def note(side: Side, found: ours.Measured) -> None:
    """Keep what a round gave, and say it."""
    side.rates.append(found.rate)
    side.memory.append(found.memory)
    launch.tell(f"{side.name}: {found.rate:,.0f} tokens/s, {found.memory:,.0f} MiB")


def gigas(values: list[float]) -> str:
    """Median and range in thousand millions."""
    scaled = [value / 1e9 for value in values]
    return f"{median(scaled):.0f} ({spread(scaled)})"


if __name__ == "__main__":
    main()
