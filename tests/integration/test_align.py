"""`nmt align`, `aer`, `heatmap` and `inspect` on trained models: right links, kept lines, sound weights."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nmt as package
from nmt.align.export import read_export, read_header
from nmt.align.methods import METHODS
from nmt.align.record import Record, View, header_views
from nmt.data.pharaoh import read_links
from nmt.run import Run
from tests.integration.toy import RECURRENT, WORDS, data, nmt, read, refused, train, translated, write

attention = METHODS["attention"]
FORMATS = ("pharaoh", "jsonl", "npz", "nematus")


def align(run: Path, source: Path, output: Path, *flags: str | Path, target: Path | None = None) -> Path:
    given = () if target is None else ("--target", target)
    done = nmt("align", run, "--source", source, *given, "-o", output, *flags)
    assert (done.code, done.out) == (0, ""), done.err
    return output


def exported(run: Path, source: Path, output: Path, *flags: str | Path, target: Path | None = None) -> list[Record]:
    return list(read_export(align(run, source, output, "--format", "npz", *flags, target=target)))


def opposite(run: Path, folder: Path) -> Path:
    """A copy that says it translates the other way; it does not know the words, but links them all the same."""
    copy = Run(shutil.copytree(run, folder / "opposite"))
    values, (source, target) = copy.values(), copy.languages()
    copy.write_config({**values, "data": {**values["data"], "source_language": target, "target_language": source}})
    return copy.path


@pytest.fixture
def blanks(tmp_path: Path) -> tuple[Path, Path]:
    """Four pairs: a right one, and three with a blank side or two."""
    return write(tmp_path / "blank.src", "ka lo", "", "   ", "mi"), write(
        tmp_path / "blank.trg", "OL AK", "", "OL", "\t"
    )


def test_links_of_given_pairs_are_the_right_ones(reverser: Path, toy: Path, tmp_path: Path) -> None:
    gold = write(
        tmp_path / "gold",
        *(
            " ".join(f"{n - 1 - j}-{j}" for j in range(n))
            for n in (len(line.split()) for line in read(toy / "rev.test.src"))
        ),
    )
    links = align(reverser, toy / "rev.test.src", tmp_path / "links", target=toy / "rev.test.trg")
    done = nmt("aer", "--gold", gold, "--links", links, "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["aer"] < 0.05
    plain = nmt("aer", "--gold", gold, "--links", links).out
    assert "AER" in plain


def test_without_target_the_runs_own_translations_are_aligned(piecewise: Path, toy: Path, tmp_path: Path) -> None:
    source = toy / "rev.test.src"
    written = tmp_path / "written"
    nmt("translate", piecewise, source, "-o", written)
    own = align(piecewise, source, tmp_path / "own")
    given = align(piecewise, source, tmp_path / "given", target=written)
    entries = [json.loads(line) for line in nmt("translate", piecewise, source, "--format", "jsonl").lines]
    assert [entry["links"] for entry in entries] == read(own)
    _, tokenizer = Run(piecewise).tokenizers()
    alike = [tokenizer.pieces(tokenizer.encode(entry["translation"])) == entry["tokens"] for entry in entries]
    assert sum(alike) > len(alike) / 2, "search mostly finds the pieces that the tokenizer would cut"
    for same, mine, theirs in zip(alike, read(own), read(given), strict=True):
        assert mine == theirs or not same


def test_lines_are_counted_on_where_translations_come_in_parts(
    reverser: Path, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "source", *read(toy / "rev.test.src")[:6], "")
    whole = exported(reverser, source, tmp_path / "whole")
    monkeypatch.setattr("nmt.cli.align._LINES_AT_ONCE", 3)
    parts = exported(reverser, source, tmp_path / "parts")
    assert [record.index for record in parts] == list(range(7))
    assert [(one.source, one.target) for one in parts] == [(one.source, one.target) for one in whole]


@pytest.mark.parametrize("name", ["reverser", "copier", "piecewise"])
def test_every_format_has_every_line(
    name: str, request: pytest.FixtureRequest, blanks: tuple[Path, Path], tmp_path: Path
) -> None:
    """G12, H04: blank sides give an entry without links, and no blanks in it."""
    run: Path = request.getfixturevalue(name)
    for flags in ({"target": blanks[1]}, {}):
        pharaoh = read(align(run, blanks[0], tmp_path / "links", **flags))
        assert len(pharaoh) == 4
        assert pharaoh[1:3] == ["", ""]
        assert pharaoh[0]
        for kind in ("jsonl", "npz"):
            records = list(read_export(align(run, blanks[0], tmp_path / kind, "--format", kind, **flags)))
            assert [record.index for record in records] == [0, 1, 2, 3]
            assert [len(record.links) > 0 for record in records] == [bool(line) for line in pharaoh]
        soft = align(run, blanks[0], tmp_path / "soft", "--format", "nematus", **flags)
        assert soft.read_text().count(" ||| ") == 4 * 5 - 4
    assert read(align(run, write(tmp_path / "none"), tmp_path / "links")) == []


@pytest.mark.parametrize("name", ["reverser", "copier", "piecewise"])
def test_weights_are_distributions(name: str, request: pytest.FixtureRequest, toy: Path, tmp_path: Path) -> None:
    """G01, G05: finite, every row sums to 1 with the column of EOS."""
    run: Path = request.getfixturevalue(name)
    source = write(tmp_path / "source", *read(toy / "rev.test.src"), "", "ka 漢字 lo")
    for record in exported(run, source, tmp_path / "npz"):
        weights = record.matrix.weights
        assert np.isfinite(weights).all()
        if record.matrix.source_words and record.matrix.target_words:
            assert weights[: len(record.matrix.target_words)].sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_dropout_is_off_in_every_export(toy: Path, tmp_path: Path) -> None:
    """G05: that of training's end as well."""
    run = tmp_path / "run"
    strong = ("attention.dropout=0.5", "model.decoder.dropout=0.5", "train.updates=20", "train.valid_every=10")
    train(run, *data(toy, "rev", "train"), *RECURRENT, *strong)
    again = exported(run, toy / "rev.test.src", tmp_path / "npz")
    for record, other in zip(read_export(run / "alignments" / "test.npz"), again, strict=True):
        assert record.matrix.weights[: len(record.matrix.target_words)].sum(axis=1) == pytest.approx(1, abs=1e-5)
        assert record.matrix.weights == pytest.approx(other.matrix.weights, abs=1e-5)
        assert record.target == other.target


def test_reading_changes_no_translation(early: Path, toy: Path, tmp_path: Path) -> None:
    """G01, G02: the same texts and scores with and without an export, and each hypothesis's weights are those of a
    forced pass of its own."""
    translator = package.load(early, ["search.beam_size=5"])
    lines = ["", *read(toy / "rev.test.src")[:16], "漢字"]
    plain = translator.translate(lines, nbest=5)
    readings = iter(translator.read_translations(list(zip(lines, plain, strict=True)), attention))
    assert translator.translate(lines, nbest=5) == plain
    for line, found in zip(lines, plain, strict=True):
        for hypothesis in found.hypotheses:
            reading = next(readings)
            assert reading.values.shape[-2] == len(hypothesis.tokens) + 1
            if hypothesis.tokens:
                text = translator.target_tokenizer.decode(hypothesis.tokens)
                (forced,) = translator.read_pairs([(line, text)], 1, attention)
                rows = len(hypothesis.token_log_probs)  # one that was cut has none for EOS
                assert np.allclose(reading.values[:, :, :rows], forced.values[:, :, :rows], atol=1e-5)
    source = write(tmp_path / "source", *lines)
    align(early, source, tmp_path / "links", "search.beam_size=5")
    written = nmt("translate", early, source, "search.beam_size=5").lines
    assert [record.target for record in exported(early, source, tmp_path / "npz", "search.beam_size=5")] == written


def test_a_hypothesis_cut_at_the_maximum_has_no_row_of_eos(reverser: Path, toy: Path, tmp_path: Path) -> None:
    """By every method: at most two tokens, EOS counted, are enough for sources of one word."""
    short = ("search.max_ratio=0", "search.max_offset=2")
    methods = ("--method", "attention", "--method", "gradient")
    for record in exported(reverser, toy / "rev.test.src", tmp_path / "npz", *methods, *short):
        cut = len(record.source_words) > 1
        assert [bool(values[-1].any()) for values in record.values] == [not cut, not cut]
        assert all(values[:-1].any() for values in record.values)


def test_links_stay_inside_the_words(piecewise: Path, tmp_path: Path) -> None:
    """H01, H02: on random lines of known and foreign words, one of each length, and lines cut at the maximum."""
    generator = random.Random(3)
    pool = [*WORDS, "漢字", "ß", "▁", "<unk>", "</s>", "x-y", "1234", "ﬁn"]
    texts = [[generator.choice(pool) for _ in range(generator.randint(1, 7))] for _ in range(150)]
    source = write(tmp_path / "source", *map(" ".join, texts))
    target = write(tmp_path / "target", *(" ".join(reversed(words)) for words in texts))
    for links, words in zip(
        read_links(align(piecewise, source, tmp_path / "links", target=target)), texts, strict=True
    ):
        assert all(s < len(words) and t < len(words) for s, t in links.possible)
    for record in exported(piecewise, source, tmp_path / "npz", "search.max_ratio=0", "search.max_offset=2"):
        assert all(s < len(record.matrix.source_words) for s, t in record.links)
        assert all(t < len(record.target.split()) for s, t in record.links)


def test_a_lone_spacer_shifts_no_index(piecewise: Path, tmp_path: Path) -> None:
    """H01: 漢字 is cut into a spacer and a piece; the words around it keep their numbers and weights all the same."""
    texts = [["漢字", "ka", "lo"], ["ka", "漢字", "lo"], ["ka", "lo", "漢字"]]
    source = write(tmp_path / "source", *map(" ".join, texts))
    target = write(tmp_path / "target", *["OL AK"] * 3)
    translator = package.load(piecewise)
    records = exported(piecewise, source, tmp_path / "npz", target=target)
    for record, words in zip(records, texts, strict=True):
        (reading,) = translator.read_pairs([(record.source, record.target)], 1, attention)
        weights = reading.values[-1].mean(axis=0)
        sizes = [len(translator.source_tokenizer.encode(word)) for word in words]
        assert sizes[words.index("漢字")] > 1
        columns = np.split(weights[:, :-1], np.cumsum(sizes)[:-1], axis=1)
        by_word = np.stack([column.sum(axis=1) for column in columns], axis=1)
        (target_size,) = {len(translator.target_tokenizer.encode(word)) for word in ("OL", "AK")}
        rows = by_word[:-1].reshape(2, target_size, 3).mean(axis=1)
        assert record.matrix.weights[:2, :3] == pytest.approx(rows, abs=1e-6)


def test_every_method_reads_given_pairs_and_own_translations(reverser: Path, toy: Path, tmp_path: Path) -> None:
    source, target = (write(tmp_path / part, *read(toy / f"rev.test.{part}")[:6], "") for part in ("src", "trg"))
    names = ["gradient", "input_x_gradient", "integrated_gradients", "erasure", "attention"]
    flags = [*(flag for name in names for flag in ("--method", name)), "--raw"]
    given = exported(reverser, source, tmp_path / "given", *flags, target=target)
    own = exported(reverser, source, tmp_path / "own", *flags)
    assert [record.target for record in own] == read(target), "this model has learnt the task"
    for one, other in zip(given, own, strict=True):
        assert len(one.values) == 5 + 4
        np.testing.assert_allclose(one.values, other.values, atol=1e-5)
        if one.target:
            assert one.values[:5].min() >= 0
            np.testing.assert_allclose(one.values[:5].sum(-1), 1, atol=1e-5)
            np.testing.assert_allclose(abs(one.values[5:]), one.values[5:] * np.sign(one.values[5:]), atol=1e-6)
    assert given[0].values[5:].min() < 0, "raw values have signs"
    done = nmt("align", reverser, "--source", source, "-o", tmp_path / "x", "--method", "posterior")
    assert refused(done, "posterior")


def test_selecting_and_faithfulness(copier: Path, toy: Path, tmp_path: Path) -> None:
    """The choice of gold links that --record keeps is what later commands read."""
    run = tmp_path / "run"
    shutil.copytree(copier, run)
    source, target = toy / "mono.dev.src", toy / "mono.dev.trg"
    gold = write(tmp_path / "gold", *(" ".join(f"{j}-{j}" for j in range(len(line.split()))) for line in read(source)))
    given = ("--source", source, "--target", target)
    done = nmt("align", run, "--select", *given, "--gold", gold, "--record")
    assert done.code == 0, done.err
    error, _, layer, head, shift = done.lines[1].split()
    links = align(run, source, tmp_path / "links", target=target)
    scored = json.loads(nmt("aer", "--gold", gold, "--links", links, "--json").out)
    assert scored["aer"] == pytest.approx(float(error), abs=1e-4)
    output = align(run, source, tmp_path / "npz", "--format", "npz", target=target)
    assert header_views(read_header(output)) == [
        View("attention", int(layer), None if head == "mean" else int(head), int(shift))
    ]
    done = nmt("align", run, "--faithfulness", *given, "-o", tmp_path / "f.jsonl")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in read(tmp_path / "f.jsonl")]
    assert [line["index"] for line in lines] == list(range(40))
    taus = [line["tau"] for line in lines if line["tau"] is not None]
    assert f"mean {np.mean(taus):.3f}, median {np.median(taus):.3f}" in done.out


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--threshold", "1.5"], "--threshold 1.5"),
        (["--threshold", "abc"], "--threshold abc"),
        (["--threshold", "0"], "--threshold 0"),
        (["--threshold", "soft"], "--threshold soft"),
        (["--threshold", "nan"], "--threshold nan"),
        (["--format", "soft"], "--format soft"),
        (["--head", "first"], "--head first"),
        (["--head", "7"], "head 7"),
        (["--layer", "3"], "layer 3"),
        (["--layer", "x"], "--layer x"),
        (["--shift", "-1"], "shift -1"),
        (["--symmetrize", "union"], "--symmetrize --reverse"),
        (["--symmetrize", "onion", "--reverse", "x"], "--symmetrize onion"),
        (["--reverse", "gone"], "gone"),
        (["search.beam_siez=1"], "search.beam_siez"),
    ],
)
def test_bad_options_fail_early(flags: list[str], words: str, reverser: Path, toy: Path, tmp_path: Path) -> None:
    """H07: and nothing is written."""
    given = ("--source", toy / "rev.dev.src", "--target", toy / "rev.dev.trg", "-o", tmp_path / "out")
    assert refused(nmt("align", reverser, *given, *flags), *words.split())
    assert not list(tmp_path.iterdir())


def test_thresholds(reverser: Path, toy: Path, tmp_path: Path) -> None:
    """H07: a lower threshold links no less."""
    files = [
        align(reverser, toy / "rev.dev.src", tmp_path / f"{x}", "--threshold", x, target=toy / "rev.dev.trg")
        for x in ("0.01", "0.5", "1")
    ]
    low, middle, high = ([links.possible for links in read_links(file)] for file in files)
    assert all(a >= b >= c for a, b, c in zip(low, middle, high, strict=True))
    assert sum(map(len, low)) > sum(map(len, high))


def test_counts_must_agree(reverser: Path, toy: Path, tmp_path: Path) -> None:
    """A07, A08."""
    short = write(tmp_path / "short", "AK")
    (tmp_path / "bad").write_bytes(b"ka\n\xff\n")
    output = tmp_path / "out"
    assert refused(nmt("align", reverser, "--source", toy / "rev.dev.src", "--target", short, "-o", output), "40", "1")
    assert refused(nmt("align", reverser, "--source", tmp_path / "bad", "-o", output), "bad", "2")
    assert not output.exists()


def test_symmetrised_links(copier: Path, tmp_path: Path) -> None:
    """H10: a doubled target word links twice to its source word; intersection within grow rules within union."""
    texts = [["ka", "lo", "mi"], ["tu", "tu", "re"], ["fa"]]
    source = write(tmp_path / "source", *map(" ".join, texts))
    target = write(tmp_path / "target", *(" ".join(translated(words, "mono")) for words in texts))
    backward = opposite(copier, tmp_path)
    found = {
        rule: [links.possible for links in read_links(
            align(copier, source, tmp_path / rule, "--reverse", backward, "--symmetrize", rule, target=target)
        )]
        for rule in ("intersection", "grow-diag", "grow-diag-final", "union")
    }  # fmt: skip
    assert all(a <= b <= c <= d for a, b, c, d in zip(*found.values(), strict=True)), found
    forward = [links.possible for links in read_links(align(copier, source, tmp_path / "one-way", target=target))]
    assert all(len(links) <= len(words) for links, words in zip(forward, texts, strict=True)), "one a target word"
    assert all(a <= b for a, b in zip(forward, found["union"], strict=True))


def test_the_method_is_that_of_all_runs(copier: Path, reverser: Path, toy: Path, tmp_path: Path) -> None:
    """Of those that are joined by their mean, and of a reverse run that adds links."""
    source, target = (write(tmp_path / part, *read(toy / f"mono.dev.{part}")[:5]) for part in ("src", "trg"))
    method = ("--method", "erasure")
    own = exported(copier, source, tmp_path / "own", *method, target=target)
    peer = exported(reverser, source, tmp_path / "peer", *method, target=target)
    backward = opposite(copier, tmp_path)
    back = exported(backward, target, tmp_path / "back", *method, target=source)
    given = ("--source", source, "--target", target, "--reverse", backward, *method)
    done = nmt("align", copier, reverser, *given, "--symmetrize", "mean", "--format", "npz", "-o", tmp_path / "mean")
    assert done.code == 0, done.err
    for mean, *three in zip(read_export(tmp_path / "mean"), own, peer, back, strict=True):
        one, two, turned = (record.matrix.weights for record in three)
        np.testing.assert_allclose(mean.matrix.weights, (one + two + turned.T) / 3, atol=1e-5)
    done = nmt("align", copier, *given, "--symmetrize", "union", "-o", tmp_path / "union")
    assert done.code == 0, done.err
    assert [set(links.possible) for links in read_links(tmp_path / "union")] == [
        one.links | {(s, t) for t, s in turned.links} for one, turned in zip(own, back, strict=True)
    ]


def test_header_says_how_the_weights_came_about(copier: Path, toy: Path, tmp_path: Path) -> None:
    output = align(
        copier, toy / "mono.dev.src", tmp_path / "npz", "--format", "npz", "--head", "1", "--layer", "0", "--shift", "1"
    )
    header = read_header(output)
    assert (header["run"], header_views(header)) == (copier.name, [View("attention", 0, 1, 1)])
    mean = exported(copier, toy / "mono.dev.src", tmp_path / "mean", "--head", "mean")
    heads = [exported(copier, toy / "mono.dev.src", tmp_path / head, "--head", head) for head in ("0", "1")]
    for both, one, two in zip(mean, *heads, strict=True):
        assert both.matrix.weights == pytest.approx((one.matrix.weights + two.matrix.weights) / 2, abs=1e-6)


def run_without_display(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    program = Path(sys.executable).with_name("nmt")
    return subprocess.run([program, *arguments], env=environment, capture_output=True)


def test_pictures_of_difficult_words(piecewise: Path, tmp_path: Path) -> None:
    """G08: without a display; words are shown as they are, blank lines give a picture too."""
    source = write(tmp_path / "s", "cost $5 and $6", "a_b \\frac{x}", "漢 字 ك", "", "ka", " ".join(WORDS * 8))
    export = align(piecewise, source, tmp_path / "npz", "--format", "npz")
    done = run_without_display("heatmap", export, "--line", "1", "-o", tmp_path / "1.svg")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "$5" in (tmp_path / "1.svg").read_text()
    folder = tmp_path / "pictures"
    done2 = nmt("heatmap", export, "-o", folder, "--format", "svg")
    assert (done2.code, done2.out) == (0, "")
    pictures = sorted(folder.iterdir())
    assert [path.name for path in pictures] == [f"{i:05d}.svg" for i in range(1, 7)]
    assert all("<svg" in path.read_text() for path in pictures)
    assert all(word in pictures[1].read_text() for word in ("a_b", "\\frac{x}"))


def test_picture_names_come_from_numbers(reverser: Path, tmp_path: Path) -> None:
    """G09: whatever the text, repeated or not; sorted by name is sorted by line."""
    lines = ["../x", "a/b", "ka", "ka", *["lo"] * 8]
    export = align(reverser, write(tmp_path / "s", *lines), tmp_path / "npz", "--format", "npz")
    before = set(tmp_path.iterdir())
    assert nmt("heatmap", export, "-o", tmp_path / "pictures").code == 0
    assert set(tmp_path.iterdir()) - before == {tmp_path / "pictures"}
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert names == [f"{i:05d}.png" for i in range(1, 13)]
    assert (tmp_path / "pictures" / names[0]).read_bytes()[1:4] == b"PNG"


def test_pictures_of_a_run(reverser: Path, tmp_path: Path) -> None:
    """The run's own export serves; wide sentences get wide pictures; a line beyond it is named."""
    records = list(read_export(reverser / "alignments" / "test.npz"))
    sizes = [(len(record.matrix.source_words), i) for i, record in enumerate(records, start=1)]
    widths = {}
    for words, line in (min(sizes), max(sizes)):
        path = tmp_path / f"{line}.png"
        assert nmt("heatmap", reverser, "--line", str(line), "-o", path).code == 0
        widths[words] = struct.unpack(">I", path.read_bytes()[16:20])[0]
    assert widths[max(widths)] > widths[min(widths)]
    assert refused(nmt("heatmap", reverser, "--line", "41", "-o", tmp_path / "x.png"), "41", "40")
    assert refused(nmt("heatmap", reverser, "--line", "1", "-o", tmp_path / "x.gif"), "x.gif")
    assert refused(nmt("heatmap", tmp_path / "gone", "--line", "1", "-o", tmp_path / "x.png"), "gone")


def test_gold_links_are_not_of_own_translations(reverser: Path, toy: Path, tmp_path: Path) -> None:
    """A run's export is of its own; links that are drawn over them, or score them, would be of other words."""
    gold = write(tmp_path / "gold", *["0-0"] * 40)
    for command in (("heatmap", reverser, "--line", "1"), ("inspect", reverser)):
        done = nmt(*command, "--gold", gold, "-o", tmp_path / "x.png")
        assert refused(done, str(reverser), "own translations", "--target REFERENCES")
    source, target = (toy / f"rev.test.{side}" for side in ("src", "trg"))
    export = align(reverser, source, tmp_path / "npz", "--format", "npz", target=target)
    assert nmt("heatmap", export, "--line", "1", "--gold", gold, "-o", tmp_path / "x.png").code == 0


def test_inspector_is_one_page_without_requests(reverser: Path, toy: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "s", "<script>alert(1)</script> ka", "lo $5 漢字", "")
    export = align(reverser, source, tmp_path / "npz", "--format", "npz")
    for given in (export, reverser):
        done = nmt("inspect", given, "-o", tmp_path / "page.html")
        assert (done.code, done.out) == (0, "")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "<script>alert(1)</script>" not in page
        assert not [
            word
            for word in ("http://", "https://", "//cdn", "@import", "fetch(")
            if word in page.replace("http://www.w3.org/2000/svg", "")
        ]
    assert refused(nmt("inspect", tmp_path / "s", "-o", tmp_path / "x.html"), "s")


@pytest.mark.parametrize("format_name", FORMATS)
def test_formats_agree(format_name: str, reverser: Path, toy: Path, tmp_path: Path) -> None:
    """Whatever is written is of the same links or weights."""
    reference = exported(reverser, toy / "rev.dev.src", tmp_path / "reference", target=toy / "rev.dev.trg")
    output = align(reverser, toy / "rev.dev.src", tmp_path / "out", "--format", format_name, target=toy / "rev.dev.trg")
    if format_name == "pharaoh":
        assert [set(links.possible) for links in read_links(output)] == [set(record.links) for record in reference]
    elif format_name == "nematus":
        blocks = output.read_text().split("\n\n")[:-1]
        for block, record in zip(blocks, reference, strict=True):
            rows = [[float(x) for x in line.split()] for line in block.split("\n")[1:]]
            assert np.array(rows) == pytest.approx(record.matrix.weights, abs=1e-6)
    else:
        for one, record in zip(read_export(output), reference, strict=True):
            assert np.array_equal(one.values, record.values)
            assert (one.links, one.source, one.target) == (record.links, record.source, record.target)
