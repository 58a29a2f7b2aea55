"""Alignment error rates of ours beside statistical aligners, on one corpus with manual links, in one run.

    pip install '.[bench]'
    python scripts/bench_align.py --corpus bible_nt --runs FOLDER --data FOLDER [--peer-python PEER/bin/python]

The extra has `eflomal` and `systran-align` (fast_align's algorithm); PEER may have them in our Python's place. All
systems learn from all pairs of the corpus, as aligners do, and from nothing else: no gold link and no aligner's
output. Ours are `nmt train` in each direction, with experiment=aligner in several vocabularies, a Transformer and a
recurrent model; a training that FOLDER has is not done again. The threshold is chosen on the other corpus
(RESULTS.md), a Transformer's layer, head and shift by the agreement of its two directions (`nmt align --select`).
Rates are printed of all pairs and of the last 800; --attributions adds every method of the translation models, which
read the last 800 alone. The table goes to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from nmt.align.aer import aer
from nmt.align.links import Link, symmetrize
from nmt.data.pharaoh import Links, format_links, read_links
from nmt.data.words import split_words
from nmt.progress import say

LAST = 800
THRESHOLD = "0.4"
SYMMETRIES = ("intersection", "union", "grow-diag", "grow-diag-final-and")
PEERS = ("eflomal", "systran-align")


class Corpus(NamedTuple):
    """Files below the data folder, and the languages that end their names."""

    folder: str
    stem: str
    source: str
    target: str


CORPORA = {
    "bible_nt": Corpus("bible_nt", "nt", "grc", "en"),
    "danish_english": Corpus("danish_english", "da-en", "da", "en"),
}
COMMON = ("data=files", "data.test=null", "data.filters.max_pieces=200", "train.metric=loss", "search.beam_size=1")
SMALL = ("tokenizer.joint=false", "tokenizer.vocabulary_size=4000", "tokenizer.normalization=nmt_nfkc_cf")
TRANSLATING = (*SMALL, "train.updates=1500", "train.batch_tokens=2048", "train.valid_every=500")
MODELS: dict[str, tuple[str, ...]] = {
    **{
        f"aligner{size}": ("experiment=aligner", f"tokenizer.vocabulary_size={size}", "train.updates=3000")
        for size in (1500, 2500, 4000)
    },
    "transformer": (
        "experiment=multi30k_transformer",
        *TRANSLATING,
        "model.tied=output",
        "model.encoder.activation_dropout=0.3",
        "model.decoder.activation_dropout=0.3",
        "model.encoder.layers=3",
        "model.decoder.layers=3",
        "schedule.warmup=300",
    ),
    "recurrent": (
        "experiment=demo_recurrent",
        *TRANSLATING,
        "attention=bahdanau",
        "model.tied=none",
        "model.encoder.dropout=0.3",
        "model.decoder.dropout=0.3",
    ),
}
MODELS["guided"] = (*MODELS["transformer"], "alignment.layer=1", "alignment.head=0", "alignment.full_context=true")
ALIGNERS = [name for name in MODELS if name.startswith("aligner")]
ATTRIBUTIONS = ("attention", "gradient", "input_x_gradient", "integrated_gradients", "erasure")


class Bench:
    """One corpus: its files, its gold, and where everything is kept."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        corpus = CORPORA[arguments.corpus]
        folder = arguments.data / corpus.folder
        self.languages = corpus.source, corpus.target
        self.files = [folder / f"{corpus.stem}.{language}" for language in self.languages]
        self.gold = read_links(folder / f"{corpus.stem}.gold")
        self.home = arguments.runs.resolve() / arguments.corpus
        self.python = arguments.peer_python
        self.settings = arguments.settings
        self.home.mkdir(parents=True, exist_ok=True)
        self.lines = [file.read_text(encoding="utf-8").split("\n")[: len(self.gold)] for file in self.files]
        for language, lines in zip(self.languages, self.lines, strict=True):
            self.write(f"valid.{language}", lines[:100])
            self.write(f"last.{language}", lines[-LAST:])

    def write(self, name: str, lines: Sequence[str]) -> Path:
        """A text file of ours."""
        path = self.home / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def run(self, name: str, reverse: bool, *own: str) -> Path:
        """The run of a model in one direction, trained if it is not there, with settings of its `own`."""
        path = self.home / (f"{name}_reverse" if reverse else name)
        if (path / "finished").exists():
            return path
        source, target = self.languages[::-1] if reverse else self.languages
        files = dict(zip(self.languages, self.files, strict=True))
        given = [
            f"data.root={self.home}",
            f"data.source_language={source}",
            f"data.target_language={target}",
            f"data.train.source={files[source]}",
            f"data.train.target={files[target]}",
        ]
        resumed = (path / "checkpoints" / "last.safetensors").exists()
        settings = [*MODELS[name], *COMMON, *given, *own, *self.settings, f"run={path}"]
        self.nmt("train", *([f"resume={path}"] if resumed else settings))
        (path / "finished").touch()
        return path

    def nmt(self, *command: str | Path) -> str:
        """One command of ours; its progress goes to our stderr."""
        program = [sys.executable, "-c", "import sys; from nmt.cli.main import main; sys.exit(main())"]
        done = subprocess.run([*program, *command], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"bench_align: nmt {' '.join(map(str, command))} ended with {done.returncode}")
        return done.stdout

    def align(self, runs: Sequence[Path], *flags: str | Path, last: bool = False) -> list[set[Link]]:
        """Links of all pairs, or of the last ones."""
        sources = [self.home / f"last.{language}" for language in self.languages] if last else self.files
        output = self.home / "links"
        self.nmt("align", *runs, "--source", sources[0], "--target", sources[1], "-o", output, *flags)
        return as_sets(read_links(output))

    def turned(self, run: Path, *flags: str) -> list[set[Link]]:
        """Links of a run of the other direction, source-target."""
        output = self.home / "links"
        self.nmt("align", run, "--source", self.files[1], "--target", self.files[0], "-o", output, *flags)
        return turn(as_sets(read_links(output)))

    def row(self, name: str, links: list[set[Link]]) -> str:
        """A line of the table; links of the last pairs alone leave the other column empty."""
        all_pairs = f"{aer(self.gold, links).aer:.3f}" if len(links) == len(self.gold) else "-"
        last = aer(self.gold[-LAST:], links[-LAST:])
        return f"| {name} | {all_pairs} | {last.aer:.3f} | {last.precision:.3f} | {last.recall:.3f} |"

    def both(self, name: str, forward: list[set[Link]], backward: list[set[Link]]) -> Iterator[str]:
        """Rows of two directions and of what symmetrisation makes of them."""
        yield self.row(f"{name}, forward", forward)
        yield self.row(f"{name}, reverse", backward)
        sizes = [[len(split_words(line)) for line in lines] for lines in self.lines]
        for rule in SYMMETRIES:
            quads = zip(forward, backward, *sizes, strict=True)
            yield self.row(f"{name}, {rule}", [symmetrize(f, b, rule, s, t) for f, b, s, t in quads])


def as_sets(lines: Sequence[Links]) -> list[set[Link]]:
    """All links, sure or not."""
    return [set(line.possible) for line in lines]


def turn(lines: Sequence[set[Link]]) -> list[set[Link]]:
    """target-source as source-target."""
    return [{(source, target) for target, source in line} for line in lines]


def plain(line: str) -> str:
    """Our words, lower-cased, none of them cut in two by white space that is no U+0020."""
    return " ".join("_".join(word.lower().split()) for word in split_words(line))


def eflomal(bench: Bench) -> tuple[list[set[Link]], list[set[Link]]]:
    """Lower-cased, as its authors do; both of its outputs are source-target."""
    text = [f"{plain(source)} ||| {plain(target)}" for source, target in zip(*bench.lines, strict=True)]
    given, forward, backward = bench.write("lower.txt", text), bench.home / "eflomal.f", bench.home / "eflomal.r"
    program = bench.python.parent / "eflomal-align"
    subprocess.run([program, "-i", given, "-f", forward, "-r", backward, "--overwrite"], check=True)
    return as_sets(read_links(forward)), as_sets(read_links(backward))


FAST_ALIGN = """
import sys, systran_align as fast
text, forward, backward, links = sys.argv[1:]
options = dict(favor_diagonal=True, optimize_tension=True, variational_bayes=True)
fast.generate_alignment_probabilities(text, forward, backward, **options)
aligner = fast.Aligner(forward, backward)
with open(text, encoding="utf-8") as lines, open(links, "w") as out:
    for line in lines:
        found = aligner.align(*(side.split() for side in line.split(" ||| ")))
        print(*(f"{s}-{t}" for s, t in found["alignments"]), file=out)
"""


def fast_align(bench: Bench) -> list[set[Link]]:
    """Its options as fast_align's README advises (-d -o -v), lower-cased; it symmetrises by itself."""
    files = [bench.home / f"fast_align.{end}" for end in ("f", "r", "links")]
    subprocess.run([bench.python, "-c", FAST_ALIGN, bench.home / "lower.txt", *files], check=True)
    return as_sets(read_links(files[-1]))


def peer_versions(python: Path) -> str:
    """Of what is installed beside it."""
    ask = "import sys, importlib.metadata as m; print(', '.join(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    return subprocess.run([python, "-c", ask, *PEERS], capture_output=True, text=True, check=True).stdout.strip()


def peers(bench: Bench) -> Iterator[str]:
    """Rows of the statistical aligners."""
    yield from bench.both("eflomal", *eflomal(bench))
    yield bench.row("fast_align, its own symmetrisation", fast_align(bench))


def aligners(bench: Bench) -> Iterator[str]:
    """Rows of hidden Markov aligners, one vocabulary at a time and all together."""
    for name in ALIGNERS:
        forward, backward = (bench.run(name, reverse) for reverse in (False, True))
        own, turned = bench.align([forward], "--links", "argmax-null"), bench.turned(backward, "--links", "argmax-null")
        yield from bench.both(name, own, turned)
        mean = bench.align([forward], "--reverse", backward, "--symmetrize", "mean", "--threshold", THRESHOLD)
        yield bench.row(f"{name}, mean >= {THRESHOLD}", mean)
    yield bench.row(f"all aligners, mean >= {THRESHOLD}", all_aligners(bench))


def all_aligners(bench: Bench) -> list[set[Link]]:
    """Links of the mean of all aligners' posteriors."""
    runs, reverse = ([bench.run(name, back) for name in ALIGNERS] for back in (False, True))
    return bench.align(runs, "--reverse", *reverse, "--symmetrize", "mean", "--threshold", THRESHOLD)


def guided(bench: Bench) -> Iterator[str]:
    """Rows of a Transformer whose one head learns the aligners' links and reads with the whole target (Garg 2019)."""
    links = all_aligners(bench)
    both = []
    for reverse, own in ((False, links), (True, turn(links))):
        file = bench.write("guiding.reverse.links" if reverse else "guiding.links", list(map(format_links, own)))
        both.append(bench.run("guided", reverse, f"train.guided_alignment={file}"))
    forward, backward = both
    yield from bench.both("guided transformer", bench.align([forward]), bench.turned(backward))
    mean = bench.align([forward], "--reverse", backward, "--symmetrize", "mean", "--threshold", THRESHOLD)
    yield bench.row(f"guided transformer, mean >= {THRESHOLD}", mean)


def translators(bench: Bench, attributions: bool) -> Iterator[str]:
    """Rows of translation models: their attention, read where the two directions agree best, and attributions."""
    for name in ("transformer", "recurrent"):
        forward, backward = (bench.run(name, reverse) for reverse in (False, True))
        given = (
            "--source",
            bench.home / f"valid.{bench.languages[0]}",
            "--target",
            bench.home / f"valid.{bench.languages[1]}",
        )
        chosen = bench.nmt("align", forward, "--select", *given, "--reverse", backward, "--record")
        say(chosen)
        yield from bench.both(f"{name}, attention", bench.align([forward]), bench.turned(backward))
        mean = bench.align([forward], "--reverse", backward, "--symmetrize", "mean", "--threshold", THRESHOLD)
        yield bench.row(f"{name}, attention, mean >= {THRESHOLD}", mean)
        for method in ATTRIBUTIONS if attributions else ():
            yield bench.row(f"{name}, {method}, forward", bench.align([forward], "--method", method, last=True))


def main() -> None:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=sorted(CORPORA), required=True)
    parser.add_argument("--runs", type=Path, required=True, metavar="FOLDER", help="for our runs, kept")
    parser.add_argument("--peer-python", type=Path, default=Path(sys.executable), help="with the extra bench")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("NMT_DATA", ".")), metavar="FOLDER")
    parser.add_argument(
        "--translators", action="store_true", help="a Transformer and a recurrent model too, and a guided one"
    )
    parser.add_argument("--attributions", action="store_true", help="and every method of theirs")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="of all our trainings")
    arguments = parser.parse_intermixed_args()
    bench = Bench(arguments)
    print(f"nmt {version('nmt')}, torch {version('torch')}, {peer_versions(bench.python)}; {arguments.corpus}\n")
    print(f"| system | AER, all {len(bench.gold):,} | AER, last {LAST} | precision, last | recall, last |")
    print("| --- | ---: | ---: | ---: | ---: |")
    rows = [peers(bench), aligners(bench)]
    if arguments.translators or arguments.attributions:
        rows += [translators(bench, arguments.attributions), guided(bench)]
    for kind in rows:
        for row in kind:
            print(row, flush=True)


if __name__ == "__main__":
    main()
