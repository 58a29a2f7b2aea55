"""The toy languages, whose right translations and alignments are known, and the commands run inside this process.

`rev` reverses the order of the words, `mono` keeps it; either way every word has one translation (its letters in
capitals, read backwards). Target word j stands for source word n - 1 - j, or j.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from nmt.cli.main import main

ROOT = Path(__file__).parents[2]
WORDS = ["ka", "lo", "mi", "tu", "re", "so", "fa", "ne", "bi", "do"]
TASKS = ("rev", "mono")

SHORT = [
    "threads=1",
    "device=cpu",
    "search=greedy",
    "tokenizer=word",
    "tokenizer.vocabulary_size=30",
    "schedule.warmup=20",
    "train.batch_tokens=500",
    "train.valid_every=100",
    "train.log_every=50",
]
RECURRENT = [
    "model=recurrent",
    "model.embedding_size=32",
    "model.encoder.hidden_size=32",
    "model.decoder.hidden_size=64",
    "model.encoder.dropout=0",
    "model.decoder.dropout=0",
    "optimizer.lr=0.01",
]
TRANSFORMER = [
    "model=transformer",
    "model.embedding_size=64",
    "model.encoder.layers=1",
    "model.decoder.layers=1",
    "model.encoder.feedforward_size=128",
    "model.decoder.feedforward_size=128",
    "model.encoder.self_attention.heads=2",
    "model.encoder.dropout=0",
    "model.decoder.dropout=0",
    "optimizer.lr=0.005",
    "schedule.warmup=100",
    "position=learned",
    "position.maximum=16",
]
PARTS = {"train": (7, 600), "dev": (7, 40), "test": (7, 40), "big": (8, 4400)}  # a generator's seed, and pairs


class Done(NamedTuple):
    """What a command left: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of stdout, cut at LF alone; the last one has to end in it."""
        *lines, rest = self.out.split("\n")
        assert not rest
        return lines


def translated(words: list[str], task: str) -> list[str]:
    """The right translation."""
    return [word.upper()[::-1] for word in (words[::-1] if task == "rev" else words)]


def write_corpora(folder: Path) -> None:
    """FOLDER/TASK.PART.src and .trg of both tasks; `big` is `train` and more, for models that are to be right."""
    generators: dict[tuple[str, int], random.Random] = {}
    for task, (part, (seed, size)) in product(TASKS, PARTS.items()):
        generator = generators.setdefault((task, seed), random.Random(seed))
        sources = [[generator.choice(WORDS) for _ in range(generator.randint(1, 9))] for _ in range(size)]
        write(folder / f"{task}.{part}.src", *map(" ".join, sources))
        write(folder / f"{task}.{part}.trg", *(" ".join(translated(words, task)) for words in sources))
    for task, side in product(TASKS, ("src", "trg")):
        big = folder / f"{task}.big.{side}"
        big.write_bytes((folder / f"{task}.train.{side}").read_bytes() + big.read_bytes())


def write(path: Path, *lines: str) -> Path:
    """A file of these lines, each ended by LF."""
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def read(path: Path) -> list[str]:
    """The lines of a file that ends in LF."""
    return Done(0, path.read_text(encoding="utf-8"), "").lines


def data(folder: Path, task: str, train: str = "big") -> list[str]:
    """The settings of a toy corpus."""
    parts = {"train": train, "valid": "dev", "test": "test"}
    files = [
        f"data.{part}.{side}={folder}/{task}.{name}.{suffix}"
        for part, name in parts.items()
        for side, suffix in (("source", "src"), ("target", "trg"))
    ]
    return ["data.source_language=src", "data.target_language=trg", f"data.root={folder}", *files]


def nmt(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """`nmt ARGUMENTS` as a shell would run it, without the seconds of a new interpreter."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.object(sys, "stdin", given):
        code = main([str(argument) for argument in arguments])
    streams = []
    for stream in (out, err):
        stream.flush()
        streams.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Done(code, *streams)


def train(run: Path, *settings: str) -> Done:
    """`nmt train` of a toy model, which has to succeed."""
    done = nmt("train", *SHORT, f"run={run}", *settings)
    assert done.code == 0, done.err
    return done


def refused(done: Done, *words: str) -> bool:
    """Whether this is how a user's mistake is answered: exit code 2, one line that holds these words, no result."""
    assert (done.code, done.out) == (2, ""), done
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("nmt: error: "), done.err
    missing = [word for word in words if word not in done.err]
    assert not missing, (missing, done.err)
    return True
