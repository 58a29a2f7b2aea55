"""`make demo`: train a recurrent model and a Transformer on the embedded corpus, score, align, show.

Runs that are there already are not trained again: remove them to see the training.

    python scripts/demo.py [--folder runs]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from nmt import load
from nmt.align.aer import aer
from nmt.align.export import write_export
from nmt.align.heatmap import draw_heatmap
from nmt.align.inspector import write_inspector
from nmt.align.pipeline import align_records, describe
from nmt.align.select import keep_choice, rank_by_gold
from nmt.data.files import write_atomically
from nmt.data.parts import part_links, part_pairs
from nmt.run import Run

EXPERIMENTS = ("demo_recurrent", "demo_transformer")
SHOWN_LINE = 2  # the heatmap's sentence, from 1


class Row(NamedTuple):
    """What the table says of a run."""

    name: str
    bleu: float
    chrf: float
    aer: float
    weights: str
    minutes: float
    tokens_per_second: float


def main() -> None:
    """Train what is missing, measure both, print the table and where to look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="where the runs go")
    folder = parser.parse_args().folder
    rows = []
    for name in EXPERIMENTS:
        run = Run(folder / name)
        if run.evaluation.is_file():
            print(f"{run.path} is trained already; remove it to train it again", file=sys.stderr)
        else:
            train(name, run.path)
        rows.append(measure(name, run))
    show(rows)
    best = min(rows, key=lambda row: row.aer)
    print(f"open {(folder / best.name / 'alignments' / 'inspector.html').resolve()}")


def train(experiment: str, run: Path) -> None:
    """The command that a person would type."""
    command = [sys.executable, "-m", "nmt.cli.train", f"experiment={experiment}", f"run={run}"]
    print(" ".join(["nmt train", *command[3:]]), file=sys.stderr)
    code = subprocess.run(command).returncode
    if code:  # the command has said why
        raise SystemExit(code)


def measure(name: str, run: Run) -> Row:
    """Choose which weights are the alignment on the development gold, then align the test pairs and count errors."""
    data = run.config().data
    translator = load(run.path)
    pairs = {part: list(part_pairs(data, part)) for part in ("valid", "test")}
    gold = {part: part_links(data, part) for part in ("valid", "test")}
    view = rank_by_gold(translator, pairs["valid"], gold["valid"])[0].view
    keep_choice(run, view)
    records = list(align_records(translator, pairs["test"], [view]))
    header = describe(translator, [view], links="argmax")
    write_export("npz", run.alignment, iter(records), header)
    write_inspector(iter(records), run.alignment.with_name("inspector.html"), header)
    draw_heatmap(
        records[SHOWN_LINE - 1].matrix, run.alignment.with_name("heatmap.png"), gold=gold["test"][SHOWN_LINE - 1]
    )
    error = aer(gold["test"], [set(record.links) for record in records]).aer
    scores = json.loads(run.evaluation.read_text(encoding="utf-8")) | {"aer": error}
    write_atomically(run.evaluation, (json.dumps(scores, indent=2) + "\n").encode())
    seconds, rate = training_time(run)
    return Row(name, scores["bleu"]["score"], scores["chrf"]["score"], error, str(view), seconds / 60, rate)


def training_time(run: Run) -> tuple[float, float]:
    """Seconds of training with its validations, and the median rate in target tokens a second."""
    events = [json.loads(line) for line in run.metrics.read_text(encoding="utf-8").splitlines()]
    rates = sorted(event["tokens_per_second"] for event in events if event["event"] == "train")
    return events[-1]["seconds"], rates[len(rates) // 2]


def show(rows: list[Row]) -> None:
    """One table."""
    table = Table(title="English-Galician, 500 test sentences")
    for heading in ("model", "BLEU", "chrF", "AER", "attention read", "minutes", "tokens/s"):
        table.add_column(heading, justify="left" if heading in ("model", "attention read") else "right")
    for row in rows:
        table.add_row(
            row.name,
            f"{row.bleu:.1f}",
            f"{row.chrf:.1f}",
            f"{row.aer:.3f}",
            row.weights,
            f"{row.minutes:.1f}",
            f"{row.tokens_per_second:,.0f}",
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
