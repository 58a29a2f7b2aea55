"""The page: what it holds, that its text is text, and `nmt report` through the front door."""

from __future__ import annotations

import base64
import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from math import log
from pathlib import Path

import numpy as np
import pytest

import nmt
from nmt.align.document import Facts, Heading, Picture, Table, markdown_page, write_document
from nmt.align.export import read_export, read_header, write_export
from nmt.align.record import Record, View, make_header
from nmt.align.report import Ranking, attention_section
from nmt.cli.main import main
from nmt.compose import compose_values
from nmt.config import AlignmentConfig
from nmt.errors import UserError
from nmt.run import Run

EVIL = r"<script>alert(1)</script> $x$ a_b *c* | `d` [e](http://f) \ & #"
SOURCES = ["ka lo", EVIL, "", "mi", "漢字 ک"]
TARGETS = ["AK OL", EVIL.upper(), "", "IM", "x y z"]
REFERENCES = ["AK OL", "quite other", "", "IM I", "x y z"]


class Page(HTMLParser):
    """Its tags, what they would load, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())


def page_of(*arguments: str) -> Page:
    assert main(["report", *arguments, "-o", "out.html"]) == 0
    return Page(Path("out.html").read_text(encoding="utf-8"))


def value(page: Page, name: str) -> str:
    """The cell to the right of a name."""
    filled = list(filter(None, page.text))
    return filled[filled.index(name) + 1]


@pytest.fixture
def folder(make_record: Callable[[int, str, str], Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """own.npz: five pairs of a run; also as files."""
    monkeypatch.chdir(tmp_path)
    records = [make_record(index, *pair) for index, pair in enumerate(zip(SOURCES, TARGETS, strict=True))]
    view = View("attention", 0, None, 0)
    header = make_header(run="toy", views=[view], links="argmax", source_tokenizer="", target_tokenizer="")
    write_export("npz", Path("own.npz"), iter(records), header)
    write_export("jsonl", Path("own.jsonl"), iter(records), header)
    for name, lines in {"src": SOURCES, "trg": TARGETS, "ref": REFERENCES}.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    Path("gold").write_text("".join(" ".join(f"{s}-{t}" for s, t in sorted(r.links)) + "\n" for r in records))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_page_needs_nothing_else_and_runs_nothing() -> None:
    page = page_of("own.npz", "--reference", "ref", "--gold", "gold")
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert all(one.startswith("data:image/svg+xml;base64,") for one in page.loaded)
    assert {EVIL, EVIL.upper(), "漢字 ک"} <= set(page.text)
    pictures = [base64.b64decode(one.partition(",")[2]).decode("utf-8") for one in page.loaded]
    assert all(picture.startswith("<?xml") for picture in pictures)
    assert any(html.escape("<script>alert(1)</script>", quote=False) in picture for picture in pictures)
    # BLEU by length, the histograms, and of both rankings the four lines with text on both sides.
    assert len(pictures) == 2 + 2 * 4


@pytest.mark.usefixtures("folder")
def test_numbers_of_an_export() -> None:
    page = page_of("own.npz", "--reference", "trg", "--gold", "gold", "--against", "own.jsonl", "--examples", "0")
    assert (value(page, "BLEU"), value(page, "chrF2"), value(page, "AER")) == ("100", "100", "0")
    assert (value(page, "link agreement"), value(page, "weight overlap")) == ("1", "1")
    assert value(page, "values") == "attention, layer 0, mean of heads"
    assert any("nrefs:1" in text for text in page.text)
    assert "Of 5 lines; those with a blank side, 1, are left out." in page.text


def read_so(record: Record, rows: list[list[float]], links: set[tuple[int, int]]) -> Record:
    """The record with these rows of its target words, a piece each; that of </s> is zeros."""
    values = np.array([[*rows, [0] * len(rows[0])]], np.float32)
    return replace(record, values=values, links=frozenset(links))


def test_histograms_hold_what_their_titles_say(make_record: Callable[[int, str, str], Record]) -> None:
    """Of three source words and </s>: of the one sentence with both sides, each median is its number."""
    rows = [[1, 0, 0, 0], [0.3, 0.3, 0.1, 0.3], [0, 0.5, 0, 0.5], [0, 1, 0, 0]]
    record = read_so(make_record(0, "ka lo mi", "s t u v"), rows, {(0, 0), (2, 1), (1, 2)})
    blocks = attention_section([record, make_record(1, "", "x")])
    (picture,) = (block for block in blocks if isinstance(block, Picture))
    drawn = ["".join(one.itertext()) for one in ElementTree.fromstring(picture.svg).iter() if one.tag.endswith("}text")]
    entropy = (-0.9 * log(0.3) - 0.1 * log(0.1) + log(2)) / 4
    assert [text for text in drawn if ", median " in text] == [
        f"entropy, median {entropy:.3g}",
        "coverage, median 66.7",  # mi is read by a tenth
        "near uniform, median 25",  # t's row
        "share of </s>, median 20",  # (0.3 + 0.5) / 4
        "forward steps, median 50",
        "Kendall's tau, median 0.333",  # of three pairs of links one is in opposite order
    ]


def test_agreement_is_a_mean_over_the_pairs(
    make_record: Callable[[int, str, str], Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pair 1 is read alike; of pair 2 the first word shares a quarter of its reading, and the second nothing."""
    monkeypatch.chdir(tmp_path)
    pairs = [make_record(index, "ka lo", "AK OL") for index in range(2)]
    own = [read_so(pair, [[1, 0, 0], [1, 0, 0]], {(0, 0)}) for pair in pairs]
    others = [own[0], read_so(pairs[1], [[0.25, 0.75, 0], [0, 0, 1]], {(0, 0), (1, 1)})]
    header = make_header(
        run="toy", views=[View("attention", 0, None, 0)], links="argmax", source_tokenizer="", target_tokenizer=""
    )
    for name, records in {"own.npz": own, "others.npz": others}.items():
        write_export("npz", Path(name), iter(records), header)
    page = page_of("own.npz", "--against", "others.npz", "--examples", "0")
    assert value(page, "weight overlap") == f"{(1 + 0.25 / 2) / 2:.4g}"
    assert value(page, "link agreement") == f"{2 * (1 + 1) / (2 + 3):.4g}"


@pytest.mark.usefixtures("folder")
def test_without_references_or_gold_coverage_ranks() -> None:
    page = page_of("own.jsonl", "--examples", "1")
    assert "BLEU" not in page.text
    assert "Worst 1 by coverage" in page.text
    assert "Best 1 by coverage" in page.text
    assert len([text for text in page.text if re.match(r"line \d: coverage", text)]) == 2


def test_worst_and_best_share_no_line() -> None:
    scores = {1: 50.0, 2: 0.0, 3: 100.0, 5: 50.0}
    good = Ranking("chrF", scores, list, "")
    assert good.extremes(1) == ([2], [3])
    assert good.extremes(2) == ([2, 1], [3, 5])
    assert good.extremes(3) == ([2, 1, 5], [3])
    assert good.extremes(9) == ([2, 1, 5, 3], [])
    assert good._replace(is_error=True).extremes(1) == ([3], [2])


def test_markdown_shows_text_as_it_is() -> None:
    blocks = [
        Heading(1, "a_b"),
        Table(("x", "n"), [("a|b", "1")], frozenset({1})),
        Facts([("source", EVIL + "\n\x00")]),
    ]
    text = markdown_page(blocks, "files")
    assert text.splitlines() == [
        r"# a\_b",
        "",
        "| x | n |",
        "| --- | ---: |",
        r"| a\|b | 1 |",
        "",
        r"- **source**: &lt;script&gt;alert(1)&lt;/script&gt; \$x\$ a\_b \*c\* \| \`d\` \[e\](http://f) \\ &amp; \#␣␣",
    ]


def test_pictures_lie_beside_markdown(tmp_path: Path) -> None:
    write_document(tmp_path / "a b.md", [Picture("one", "it [shows]", b"<svg/>")])
    assert (tmp_path / "a b.md").read_text(encoding="utf-8") == "![it \\[shows\\]](a%20b_files/one.svg)\n"
    assert (tmp_path / "a b_files" / "one.svg").read_bytes() == b"<svg/>"
    with pytest.raises(UserError, match=r"x\.pdf: a report is written as \.html or \.md, not as '\.pdf'"):
        write_document(tmp_path / "x.pdf", [])


@pytest.mark.usefixtures("folder")
def test_a_directory_gets_a_markdown_page_and_its_pictures() -> None:
    assert main(["report", "own.npz", "-o", "out", "--examples", "1"]) == 0
    text = Path("out/report.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\((report_files/[^)]*)\)", text)
    assert sorted(named) == sorted(str(path.relative_to("out")) for path in Path("out/report_files").iterdir())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["own.npz", "-o", "a.pdf"], "a.pdf: a report is written as F.html, F.md or into a directory"),
        (["own.npz", "-o", "a.md", "--examples", "-1"], "--examples: -1 must be 0 or more"),
        (["own.npz", "-o", "a.md", "--source", "src"], "--source is for a RUN"),
        (["own.npz", "-o", "a.md", "--reference", "short"], "short has 1 lines but own.npz has 5"),
        (["own.npz", "-o", "a.md", "--gold", "short"], "short has 1 lines but own.npz has 5"),
        (
            ["own.npz", "-o", "a.md", "--gold", "outside"],
            "line 1: the link 9-0 lies outside the pair of 2 source and 2 target words, counted from 0",
        ),
        (["own.npz", "-o", "a.md", "--against", "other.jsonl"], "other.jsonl, line 2: another pair"),
        (["gone", "-o", "a.md"], "gone: there is no such file"),
        (["run", "-o", "a.md"], "run: this is no run"),
        (["run", "-o", "a.md", "--source", "src"], "--source and --reference go together"),
    ],
)
def test_mistakes_are_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("short").write_text("9-0\n")
    Path("outside").write_text("9-0\n\n\n\n\n")
    Path("run").mkdir()
    lines = Path("own.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    entry = json.loads(lines[3])
    Path("other.jsonl").write_text(lines[0] + json.dumps(entry) + "\n", encoding="utf-8")
    assert main(["report", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not Path("a.md").exists()


@pytest.mark.usefixtures("folder")
def test_a_run_translates_new_lines_and_reads_their_references_for_gold(
    reversing_model, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("run").mkdir()
    monkeypatch.setattr(nmt, "load", lambda run, overrides=(): reversing_model)
    Path("s").write_text("ka lo\nmi\n")
    Path("r").write_text("LO KA\nAM\n")
    Path("g").write_text("0-1 1-0\n\n")
    page = page_of("run", "--source", "s", "--reference", "r", "--gold", "g")
    assert value(page, "target lines") == "the run's own translations"
    assert value(page, "recall") == "1"  # the model reads word j at n - 1 - j, and so says gold
    assert value(page, "AER") == f"{1 - 4 / 5:.4g}"  # a link of AM's is one too many
    assert "line 2: chrF 50.0" not in page.text
    assert "line 1: chrF 100.0" in page.text


@pytest.fixture
def run(folder: Path) -> Path:
    """A run whose own test set is the files `src` and `ref`; of its model there is nothing but the file."""
    files = [
        f"data.{part}.{side}={folder}/{name}"
        for part in ("train", "valid", "test")
        for side, name in (("source", "src"), ("target", "ref"))
    ]
    overrides = ["data=files", "data.source_language=xx", "data.target_language=yy", f"data.root={folder}", *files]
    run = Run(folder / "run")
    run.write_config(compose_values([*overrides, "model.embedding_size=7"]))
    run.best.write_bytes(b"")
    run.alignment.parent.mkdir()
    run.alignment.write_bytes((folder / "own.npz").read_bytes())
    return run.path


def test_a_run_is_reported_on_its_own_test_set(run: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = page_of("run", "--examples", "2")
    assert value(page, "target lines") == "the run's own translations"
    assert "AER" not in page.text
    assert {"quite other", *TARGETS} - {""} <= set(page.text)
    ranked = [re.fullmatch(r"line (\d): chrF ([\d.]+)", text) for text in page.text if text.startswith("line ")]
    scores = [float(one[2]) for one in ranked if one]
    assert scores[:2] == sorted(scores)[:2]
    assert scores[2:] == [100.0, 100.0]  # lines 1 and 5
    (folder / "src").write_text("others\n" * 5)
    assert main(["report", "run", "-o", "a.md"]) == 2
    assert "its sources are not those that the test set has now" in capsys.readouterr().err


def test_gold_of_a_run_is_of_its_references(
    run: Path, reversing_model, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[Path] = []
    monkeypatch.setattr(nmt, "load", lambda path, overrides=(): loaded.append(path) or reversing_model)
    Path("links").write_text("0-1 1-0\n\n\n0-0\n\n", encoding="utf-8")
    export = Run(run).alignment
    header = {**read_header(export), "views": [View("attention", 1, 2, 1).as_dict()]}
    write_export("npz", export, list(read_export(export)), header)
    reversing_model.alignment = AlignmentConfig(layer=0, head=0, shift=0)  # what is shown counts, not today's choice
    page = page_of("run", "--gold", "links", "--examples", "1")
    assert loaded == [Path("run")]  # the export is of translations, so the model reads the references, once
    assert value(page, "recall") == "1"
    assert any(text.startswith("line 4: AER") for text in page.text)
    Path("links").write_text("\n\n\n0-2\n\n", encoding="utf-8")
    assert main(["report", "run", "--gold", "links", "-o", "a.md"]) == 2
    assert (
        "gold links, line 4: the link 0-2 lies outside the pair of 1 source and 2 target words, counted from 0"
        in capsys.readouterr().err
    )
