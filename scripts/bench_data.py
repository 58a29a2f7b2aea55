"""What a corpus costs before and in training: memory and time by its size, padding, and waiting for data.

    python scripts/bench_data.py --scale --work FOLDER
    python scripts/bench_data.py --batching --data FOLDER
    python scripts/bench_data.py --waiting --data FOLDER

--scale: `nmt train` of a small model for some updates on 0.1 and 3 million pairs (--pairs), which are the embedded
corpus again and again, each with a number, so that no two are the same. Memory is RssAnon, which no file stands for, of
the process and its children, looked at every 50 ms. FOLDER has room for the corpora and what is encoded of them, 1 GB
or so. Then the order of an epoch of the largest, in a process of its own.
--batching: training speed and padding of a pool's batches of like lengths, with train.pad_to 1 and 8, and of batches of
pairs as they are drawn; in turn, so many rounds. --waiting: the share of training time that goes into batches, before
they are there and until they are on the device. Both are on Multi30k (FOLDER has train.en and train.de, or a folder
`multi30k` that has; without --data it is NMT_DATA's), of the Transformer S1 of scripts/bench_train.py.
Run it with nothing else running. Tables go to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from bench import corpus, launch, ours
from bench.phases import Phase, watch
from bench.rates import rate, read_ours
from bench.table import markdown, ratio

SCRIPTS = Path(__file__).parent / "bench"
DEMO = Path(__file__).parents[1] / "data" / "demo"
SIZES = (100_000, 3_000_000)
SENTENCES = 100_000  # that the tokenizer learns from
UPDATES = 20
TRAIN = (sys.executable, "-m", "nmt.cli.train")
BATCHES: dict[str, tuple[Sequence[str | Path], tuple[str, ...]]] = {
    "as drawn": ((sys.executable, SCRIPTS / "unsorted_train.py"), ()),
    "like lengths": (TRAIN, ()),
    "like lengths, train.pad_to=8": (TRAIN, ("train.pad_to=8",)),
}


class Batching(NamedTuple):
    """Target tokens a second, and the share of positions that are padding."""

    rate: float
    padding: float


def main() -> None:
    """One of the three measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    for name in ("scale", "batching", "waiting"):
        what.add_argument(f"--{name}", action="store_const", const=name, dest="what")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="Multi30k")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="what is made stays there; without it nothing does")
    parser.add_argument("--pairs", type=counts, default=SIZES, metavar="N,N", help="of --scale")
    parser.add_argument("--rounds", type=int, default=3, help="of --batching and --waiting")
    parser.add_argument("--updates", type=int, default=40, help="of --batching and --waiting")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("settings", nargs="*", metavar="key=value", help="of all our trainings")
    arguments = parser.parse_intermixed_args()
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    print(f"nmt {version('nmt')}, torch {version('torch')}, {python}; threads: {arguments.threads}\n")
    with tempfile.TemporaryDirectory(prefix="nmt-bench-") as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        os.environ["NMT_CACHE"] = str(work / "cache")
        print({"scale": scale, "batching": batching, "waiting": waiting}[arguments.what](arguments, work.resolve()))


def counts(text: str) -> list[int]:
    """Numbers between commas."""
    return [int(number) for number in text.split(",")]


def scale(arguments: argparse.Namespace, work: Path) -> str:
    """A table of phases, each with every size beside the others; then what the largest takes on disk and in order."""
    found, stores = [], []
    for pairs in sorted(arguments.pairs):
        folder = write_corpus(pairs, work / f"{pairs}")
        launch.tell(f"{pairs:,} pairs of text: {size_of(folder) / 1e6:,.0f} MB")
        found.append(train_by_phases(folder, arguments.threads, arguments.settings))
        stores.append(max((folder / "cache" / "encoded").iterdir(), key=size_of))
        for phase in found[-1]:
            launch.tell(f"{phase.name}: {phase.seconds:.1f} s, {phase.memory:,.0f} MiB")
    pairs, size = max(arguments.pairs), size_of(stores[-1])
    return "\n".join(
        [
            table_of_phases(sorted(arguments.pairs), found),
            "",
            f"encoded, {pairs:,} pairs: {size / 1e6:,.1f} MB, {size / pairs:.0f} bytes a pair",
            order_of_epoch(stores[-1], pairs, work, arguments.threads),
        ]
    )


def write_corpus(pairs: int, folder: Path) -> Path:
    """train.en and train.gl of so many numbered pairs, and dev.en, dev.gl of twenty, in `folder`, as it was made."""
    if (folder / "whole").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for side in ("en", "gl"):
        lines = (DEMO / f"train.{side}").read_text(encoding="utf-8").splitlines()
        with (folder / f"train.{side}").open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line} {number}\n" for number, line in enumerate(islice(cycle(lines), pairs)))
        corpus.write_lines(lines[:20], folder / f"dev.{side}")
    (folder / "whole").touch()
    return folder


def train_by_phases(folder: Path, threads: int, settings: Sequence[str]) -> list[Phase]:
    """A small Transformer, trained on the folder's corpus; its cache is the folder's own, and empty before."""
    for left in ("run", "cache"):
        shutil.rmtree(folder / left, ignore_errors=True)
    command = [sys.executable, SCRIPTS / "phased_train.py", folder / "marks", *settings_of(folder, threads, settings)]
    own = {"NMT_CACHE": str(folder / "cache"), "TMPDIR": str(folder)}  # TMPDIR: no memory in the place of a disk
    return watch(command, folder / "marks", threads=threads, extra=own)


def settings_of(folder: Path, threads: int, more: Sequence[str]) -> list[str]:
    """Of a training of --scale."""
    return [
        "experiment=demo_transformer",
        f"data.root={folder}",
        "data.valid.links=null",
        "data.test=null",
        f"tokenizer.sentences={SENTENCES}",
        f"train.updates={UPDATES}",
        "search=greedy",
        "device=cpu",
        f"threads={threads}",
        f"run={folder / 'run'}",
        *more,
    ]


def table_of_phases(sizes: Sequence[int], found: Sequence[Sequence[Phase]]) -> str:
    """A line a phase: seconds and memory at every size, and what memory the largest takes beyond the smallest."""
    heads = ["phase", *(f"s, {size:,}" for size in sizes), *(f"MiB, {size:,}" for size in sizes), "more, MiB"]
    rows = []
    for same in zip(*found, strict=True):
        seconds, memory = ([f"{phase[field]:,.{digits}f}" for phase in same] for field, digits in ((1, 1), (2, 0)))
        rows.append([same[0].name, *seconds, *memory, f"{same[-1].memory - same[0].memory:,.0f}"])
    rates = [
        pairs / max(phase.seconds, 1e-9)
        for pairs, phases in zip(sizes, found, strict=True)
        for phase in phases
        if phase.name == "encoding"
    ]
    told = ", ".join(f"{pairs:,.0f} pairs/s at {size:,}" for pairs, size in zip(rates, sizes, strict=True))
    return f"{markdown(heads, rows)}\n\nencoding: {told}"


def order_of_epoch(store: Path, pairs: int, work: Path, threads: int) -> str:
    """What the order of an epoch and its first batches add to a process."""
    command = [sys.executable, SCRIPTS / "epoch_order.py", work / "order", store]
    phases = {phase.name: phase for phase in watch(command, work / "order", threads=threads, extra={})}
    more = {name: phases[name].memory - phases["import"].memory for name in ("open", "order")}
    return (
        f"{pairs:,} pairs opened: {more['open']:+.0f} MiB; "
        f"order of an epoch and its first batch: {more['order']:+.0f} MiB in {phases['order'].seconds:.1f} s"
    )


def size_of(folder: Path) -> int:
    """Bytes of all files below it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def multi30k(arguments: argparse.Namespace, work: Path) -> Path:
    """The corpus of --batching and --waiting, as a folder."""
    shutil.rmtree(work / "data", ignore_errors=True)
    return corpus.write(corpus.read(corpus.find(arguments.data)), work / "data")


def batching(arguments: argparse.Namespace, work: Path) -> str:
    """Speed and padding of each kind of batches, in turn."""
    data, found = multi30k(arguments, work), {name: list[Batching]() for name in BATCHES}
    for _ in range(arguments.rounds):
        for name in BATCHES:
            found[name].append(train_batches(name, data, work, arguments))
            launch.tell(f"{name}: {found[name][-1].rate:,.0f} tokens/s, {found[name][-1].padding:.1%} padding")
    return table_of_batches(found)


def train_batches(name: str, data: Path, work: Path, arguments: argparse.Namespace) -> Batching:
    """One training of S1."""
    run = work / "run"
    shutil.rmtree(run, ignore_errors=True)
    program, own = BATCHES[name]
    more = (*own, f"train.updates={arguments.updates}", *arguments.settings)
    settings = ours.overrides("s1", data, run, arguments.threads, more)
    launch.run([*program, *settings], threads=arguments.threads, log=run.with_suffix(".log"))
    text = (run / "metrics.jsonl").read_text(encoding="utf-8")
    events = [event for event in map(json.loads, text.splitlines()) if event["event"] == "train"]
    return Batching(rate(read_ours(text)), mean(event["padding"] for event in events))


def table_of_batches(found: dict[str, list[Batching]]) -> str:
    """A line a kind; ratios are to batches of pairs as drawn, and of the rounds' own."""
    rates = {name: [one.rate for one in rounds] for name, rounds in found.items()}
    first = next(iter(rates.values()))
    rows = [
        [
            name,
            f"{median(one.padding for one in rounds):.1%}",
            f"{median(rates[name]):,.0f}",
            "" if rates[name] is first else str(ratio(rates[name], first)),
        ]
        for name, rounds in found.items()
    ]
    return markdown(["batches", "padding", "target tokens/s", "to as drawn (rounds)"], rows)


def waiting(arguments: argparse.Namespace, work: Path) -> str:
    """The share of each round's time that goes into batches."""
    data, more = multi30k(arguments, work), (f"train.updates={arguments.updates}", *arguments.settings)
    found = [ours.shares("s1", data, work / "run", arguments.threads, more)["data"] for _ in range(arguments.rounds)]
    rounds = ", ".join(f"{share:.2%}" for share in found)
    return f"S1, {arguments.updates} updates: {median(found):.2%} of training time for data ({rounds})"


if __name__ == "__main__":
    main()
