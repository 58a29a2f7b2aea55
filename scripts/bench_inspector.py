"""How large the inspector's page is and how fast it opens, at the size of Multi30k under a 6 x 8-head Transformer.

    python scripts/bench_inspector.py [--sentences 2000] [--layers 6] [--heads 8] [--repeats 5] [-o F.html]

Random text of about 13 pieces in 11 words a side; rows as attention has them, softmax of Gaussian energies, some heads
sharp and some flat. Opening is timed in headless Chromium, from the navigation until the first matrix is drawn and
until the whole file is read; a step, until the matrix of a sentence far off is drawn.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate, product
from pathlib import Path
from statistics import median

import numpy as np
from browser import Browser, find_program

from nmt.align.inspector import write_inspector
from nmt.align.links import argmax_links
from nmt.align.matrix import merge_pieces
from nmt.align.record import Record, View
from nmt.data.words import Pieces

# Runs before the page's own scripts and notes when a figure first stands in it and has been painted.
OBSERVER = """new MutationObserver((_, observer) => {
  if (!document.querySelector('.figure svg')) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.firstFigure = performance.now(); }));
}).observe(document, { childList: true, subtree: true });"""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main() -> None:
    """Write the page, open it, print what both came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("sentences", 2000), ("layers", 6), ("heads", 8), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("-o", "--output", type=Path, help="keep the page here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.output or Path(folder) / "page.html"
        places = product(range(arguments.layers), range(arguments.heads))
        views = [View("attention", layer, head, 0) for layer, head in places]
        header = {"run": "random", "views": [view.as_dict() for view in views]}
        began = time.perf_counter()
        write_inspector(random_records(arguments.sentences, len(views)), path, header)
        print(f"written in  {time.perf_counter() - began:6.2f} s, {arguments.sentences} sentences x {len(views)} heads")
        print(f"size        {path.stat().st_size / 1e6:6.2f} MB")
        report(path, arguments.sentences, arguments.repeats)


def report(path: Path, sentences: int, repeats: int) -> None:
    """Medians of several openings, in seconds."""
    program = find_program()
    if program is None:
        raise SystemExit("no Chromium on this machine")
    with Browser(program, patience=60) as browser:
        browser.command("Page.addScriptToEvaluateOnNewDocument", source=OBSERVER)
        figures = [measure(browser, path, sentences) for _ in range(repeats)]
    for name, values in zip(("first matrix", "whole file", "a step"), zip(*figures, strict=True), strict=True):
        print(f"{name:<12}{median(values):6.2f} s (of {repeats}: {min(values):.2f} to {max(values):.2f})")


def measure(browser: Browser, path: Path, sentences: int) -> tuple[float, float, float]:
    """Seconds since the navigation to the first matrix, and to the end of the file; those of a step."""
    browser.open(path)
    browser.wait("window.firstFigure > 0")
    first = browser.run("window.firstFigure")
    whole = browser.run("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    timed = (
        f"(async (begin) => {{ await show({sentences - 1}); return performance.now() - begin; }})(performance.now())"
    )
    return first / 1000, whole / 1000, browser.run(timed) / 1000


def random_records(count: int, views: int) -> Iterator[Record]:
    """Pairs whose lengths vary as those of Multi30k do."""
    generator = np.random.default_rng(1)
    sharpness = generator.uniform(0.5, 4, (views, 1, 1))
    for index in range(count):
        (source, source_pieces), (target, target_pieces) = random_line(generator), random_line(generator)
        shape = (views, len(target_pieces.word) + 1, len(source_pieces.word) + 1)
        powers = np.exp(generator.normal(0, 1, shape) * sharpness)
        values = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
        words = source.split(" "), target.split(" ")
        links = argmax_links(merge_pieces(values[0], source_pieces.word, target_pieces.word, *words))
        yield Record(index, source, target, source_pieces, target_pieces, values, frozenset(links))


def random_line(generator: np.random.Generator) -> tuple[str, Pieces]:
    """Words of some letters, every sixth cut in two."""
    lengths = generator.integers(2, 9, generator.integers(7, 16))
    words = ["".join(generator.choice(list(LETTERS), length)) for length in lengths]
    begins = list(accumulate((len(word) + 1 for word in words), initial=0))
    spans = [
        span
        for number, word in enumerate(words)
        for span in cut(number, begins[number], len(word), generator.random() < 1 / 6)
    ]
    return " ".join(words), Pieces(*(tuple(span[part] for span in spans) for part in range(3)))


def cut(word: int, begin: int, length: int, twice: bool) -> list[tuple[int, int, int]]:
    """(word, begin, end) of one piece or of two."""
    middle = begin + length // 2
    return [(word, begin, middle), (word, middle, begin + length)] if twice else [(word, begin, begin + length)]


if __name__ == "__main__":
    main()
