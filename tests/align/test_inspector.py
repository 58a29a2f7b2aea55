"""The page as a file: its numbers, its text, what it refuses. test_inspector_page.py opens it in a browser."""

import base64
import json
import re
import shutil
import subprocess
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sacrebleu

from nmt.align import inspector
from nmt.align.export import write_export
from nmt.align.inspector import Side, write_inspector
from nmt.align.record import Record, View
from nmt.cli.main import main
from nmt.compose import compose_values
from nmt.data.pharaoh import Links, parse_links
from nmt.errors import UserError
from nmt.run import Run

PAIRS = [
    ("<script>alert(1)</script>", "a --> <!-- b ]]> </SCRIPT >"),
    ("", ""),
    ("cost $5 & \"6\" 'x' {{DATA}}", "漢字 السعر \\u003c"),
    ("tab\tnul\x00 \u2028x", ""),
    ("a bb c", "x y"),  # every word is a piece
]
HEADER = {"run": "toy </script>", "views": [View("attention", layer, None, 0).as_dict() for layer in range(3)]}


class Page(HTMLParser):
    """The scripts of a page, every tag, and every attribute that names a place to fetch from."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self.places: list[str] = []
        self._within = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.places += [value or "" for name, value in attributes if name in ("src", "href", "action", "srcset")]
        if tag == "script":
            self._within = True
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag: str) -> None:
        self._within = self._within and tag != "script"

    def handle_data(self, text: str) -> None:
        if self._within:
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + text)

    @property
    def code(self) -> str:
        return next(text for attributes, text in self.scripts if not attributes)

    @property
    def data(self) -> dict[str, Any]:
        return dict(json.loads(next(text for attributes, text in self.scripts if attributes.get("id") == "data")))

    @property
    def blocks(self) -> list[list[dict[str, Any]]]:
        return [json.loads(text) for attributes, text in self.scripts if attributes.get("class") == "sentences"]

    @property
    def weights(self) -> list[bytes]:
        ids = ((str(attributes.get("id", "")), text) for attributes, text in self.scripts)
        return [zlib.decompress(base64.b64decode(text)) for name, text in ids if name.startswith("weights-")]


class Stored(NamedTuple):
    """Of one side of a sentence: what the page's script would read, [V, T + 1, S + 1], and the scales."""

    pieces: list[np.ndarray]
    words: list[np.ndarray]
    scales: list[list[float]]


def stored(page: Page, side_number: int = 0) -> Iterator[tuple[dict[str, Any], dict[str, Any], Stored]]:
    """Every sentence, its side, its matrices: an own reading of the format that nmt/align/inspector.py tells."""
    views = len(page.data["exports"][side_number]["views"])
    for block, weights in zip(page.blocks, page.weights, strict=True):
        for sentence in block:
            side = sentence["sides"][side_number]
            yield sentence, side, read_side(sentence, side, weights, views)


def read_side(sentence: dict[str, Any], side: dict[str, Any], weights: bytes, views: int) -> Stored:
    sources, targets = ([word for word in text.split(" ") if word] for text in (sentence["source"], side["target"]))
    maps = side["sourceWords"], side["targetWords"]
    alone = maps == (list(range(len(sources))), list(range(len(targets))))
    shapes = [(len(maps[1]) + 1, len(maps[0]) + 1), (len(targets) + 1, len(sources) + 1)]
    found, at = Stored([], [], side.get("scales", [[0, 0]] * views)), side["at"]
    for view in range(views):
        for kind, shape in enumerate(shapes[: 1 if alone else 2]):
            scale, count = found.scales[view][kind], shape[0] * shape[1]
            if scale:
                values = np.frombuffer(weights, "<i2", count, at) / 32767 * scale
            else:
                values = np.frombuffer(weights, np.uint8, count, at) / 255
            at += count * (2 if scale else 1)
            found[kind].append(values.reshape(shape))
        if alone:
            found.words.append(found.pieces[-1])
    return found


def write(records: Iterable[Record], path: Path, **more: Any) -> Page:
    write_inspector(records, path, HEADER, **more)
    return Page(path)


@pytest.fixture
def records(make_record: Callable[..., Record]) -> list[Record]:
    return [make_record(index, *pair, views=3) for index, pair in enumerate(PAIRS)]


@pytest.fixture
def page(records: list[Record], tmp_path: Path) -> Page:
    return write(records, tmp_path / "a.html")


@pytest.mark.parametrize("block_bytes", [1, 100, 1 << 20])
def test_the_numbers_in_the_page_are_those_of_the_records(
    records: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr(inspector, "BLOCK_BYTES", block_bytes)
    page = write(records, tmp_path / "a.html")
    assert (len(page.blocks) == 1) is (block_bytes > 1000)
    for (_, _, found), record in zip(stored(page), records, strict=True):
        for view in range(3):
            assert np.abs(found.pieces[view] - record.values[view]).max() <= 1 / 510 + 1e-7
            assert np.abs(found.words[view] - record.words(view).weights).max() <= 1 / 510 + 1e-7


def test_values_beyond_weights_are_held_finer(records: list[Record], tmp_path: Path) -> None:
    signed = [
        replace(record, values=record.values * np.array([1, -30, 3], np.float32)[:, None, None]) for record in records
    ]
    for (_, _, found), record in zip(stored(write(signed, tmp_path / "a.html")), signed, strict=True):
        for view in range(3):
            step = max(1 / 255, np.abs(record.values[view]).max() / 32767) if view == 0 else 0.01
            assert np.abs(found.pieces[view] - record.values[view]).max() <= step / 2
            assert np.abs(found.words[view] - record.words(view).weights).max() <= step / 2


def test_weights_a_hair_over_one_are_one(make_record: Callable[..., Record], tmp_path: Path) -> None:
    record = make_record(0, "a", "b")
    record.values[:] = 1.0000002
    assert write([record], tmp_path / "a.html").weights[0][:4] == b"\xff" * 4


def test_words_links_and_lines_are_those_of_the_records(page: Page, records: list[Record]) -> None:
    for (sentence, side, _), record in zip(stored(page), records, strict=True):
        assert sentence["line"] == record.index + 1
        assert (sentence["source"], side["target"]) == (record.source, record.target)
        assert tuple(side["sourcePieces"]) == record.pieces(0).source_words
        assert tuple(side["targetPieces"]) == record.pieces(0).target_words
        assert tuple(side["sourceWords"]) == record.source_pieces.word
        assert tuple(side["targetWords"]) == record.target_pieces.word
        assert {(s, t) for s, t in side["links"]} == record.links
    assert page.data["exports"][0]["header"] == HEADER
    assert [view["label"] for view in page.data["exports"][0]["views"]][1] == "attention, layer 1, mean of heads"


def test_text_cannot_become_part_of_the_page(page: Page) -> None:
    assert page.tags.count("script") == 4  # data, sentences, code, weights
    assert "alert" not in page.code
    assert not [text for attributes, text in page.scripts if attributes and "<" in text]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in page.code


def test_nothing_is_fetched(page: Page, tmp_path: Path) -> None:
    assert page.places == ["data:,"]
    text = (tmp_path / "a.html").read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|import\(", text)
    assert "default-src 'none'" in text


def test_records_are_not_held(make_record: Callable[..., Record], tmp_path: Path) -> None:
    alive: list[weakref.ref[Record]] = []
    most = 0

    def stream() -> Iterator[Record]:
        nonlocal most
        for index in range(40):
            record = make_record(index, "a b", "c d")
            alive.append(weakref.ref(record))
            most = max(most, sum(one() is not None for one in alive))
            yield record
            del record

    write_inspector(stream(), tmp_path / "a.html", {})
    assert most <= 3


def test_scores_against_gold_and_references(make_record: Callable[..., Record], tmp_path: Path) -> None:
    records = [
        replace(make_record(0, "a b", "the cat sat on a mat"), links=frozenset({(0, 0), (1, 2)})),
        replace(make_record(1, "a b", "x y"), links=frozenset()),
        make_record(2, "", ""),
    ]
    gold = [parse_links(line) for line in ("0-0 1-1 1p2", "0-0", "")]
    references = ["the cat sat on the mat", "x z", "the end"]
    page = write(records, tmp_path / "a.html", gold=gold, references=references)
    (block,) = page.blocks
    assert (page.data["gold"], page.data["bleu"]) == (True, True)
    # |A & S| = 1, |A & P| = 2, |A| = 2, |S| = 2; then nothing found of one; then nothing of nothing.
    assert [sentence["sides"][0]["aer"] for sentence in block] == [0.25, 1.0, 0.0]
    assert block[0]["sides"][0]["gold"] == [[0, 0, 1], [1, 1, 1], [1, 2, 0]]
    for sentence, reference in zip(block, references, strict=True):
        own = sacrebleu.sentence_bleu(sentence["sides"][0]["target"], [reference]).score
        assert sentence["sides"][0]["bleu"] == round(own, 2)
        assert sentence["reference"] == reference


def test_two_exports_agree_as_far_as_their_links_do(make_record: Callable[..., Record], tmp_path: Path) -> None:
    links = [frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 0), (0, 1)}), frozenset()]
    one = [replace(make_record(i, "a b", "c d"), links=links[which]) for i, which in enumerate((0, 0, 2, 0))]
    two = [replace(make_record(i, "a b", "c d"), links=links[which]) for i, which in enumerate((0, 1, 2, 0))]
    two[3] = make_record(3, "a b", "other words")
    page = write(one, tmp_path / "a.html", other=Side("two", {"run": "two"}, two), gold=[parse_links("0-0")] * 4)
    (block,) = page.blocks
    assert [sentence["agreement"] for sentence in block] == [1.0, 0.4, 1.0, None]
    assert block[3]["sides"][1]["gold"] is None  # which speaks of the first export's words
    for number, side in enumerate((one, two)):
        for (_, _, found), record in zip(stored(page, number), side, strict=True):
            assert np.abs(found.pieces[0] - record.values[0]).max() <= 1 / 510 + 1e-7


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["a", "c", "x"], "line 2 is 'b' in one.npz but 'c' in two.npz: two exports must be of the same lines"),
        (["a", "b"], "two.npz ends before line 3, which one.npz has"),
        (["a", "b", "x", "y"], "one.npz ends before line 4, which two.npz has"),
    ],
)
def test_exports_of_other_lines_are_refused(
    make_record: Callable[..., Record], tmp_path: Path, sources: list[str], message: str
) -> None:
    one = [make_record(i, source, "t") for i, source in enumerate(["a", "b", "x"])]
    two = [make_record(i, source, "t") for i, source in enumerate(sources)]
    with pytest.raises(UserError, match=re.escape(message)):
        write(one, tmp_path / "a.html", name="one.npz", other=Side("two.npz", {}, two))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gold": [parse_links("0-0")]}, "there are 1 lines of gold links: none for line 2 of the export"),
        ({"references": ["x"] * 3}, "there are 3 lines of references but the export has 2"),
        (
            {"gold": [parse_links("0-0"), parse_links("3-0")]},
            "gold links, line 2: the link 3-0 lies outside the pair of 2",
        ),
    ],
)
def test_what_does_not_fit_the_lines_is_refused(
    make_record: Callable[..., Record], tmp_path: Path, given: dict[str, list[Links]], message: str
) -> None:
    records = [make_record(i, "a b", "c") for i in range(2)]
    with pytest.raises(UserError, match=re.escape(message)):
        write(records, tmp_path / "a.html", **given)
    assert list(tmp_path.iterdir()) == []


def test_the_script_is_valid_javascript(page: Page, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    (tmp_path / "code.js").write_text(page.code, encoding="utf-8")
    done = subprocess.run([node, "--check", tmp_path / "code.js"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    """That of a run whose test part has gold links."""
    parts = [f"data.{part}={{source:t.src,target:t.trg}}" for part in ("train", "valid")]
    parts.append("data.test={source:t.src,target:t.trg,links:t.gold}")
    return compose_values([*parts, "data.root=.", "data.source_language=xx", "data.target_language=yy"])


@pytest.fixture
def run(
    config: dict[str, Any], make_record: Callable[..., Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A run whose export is of its test part's references."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"t.src": "a b\ne\n", "t.trg": "c d\nf\n", "t.gold": "0-0\n0-0\n"}.items():
        Path(name).write_text(text, encoding="utf-8")
    Run(Path("run")).write_config(config)
    records = [make_record(0, "a b", "c d"), make_record(1, "e", "f")]
    write_export("npz", Path("run/alignments/test.npz"), iter(records), NPZ)
    return Path("run")


NPZ = {"run": "toy", "views": HEADER["views"][:1]}


def test_a_run_knows_the_gold_of_its_references(run: Path) -> None:
    assert main(["inspect", str(run), "-o", "a.html"]) == 0
    assert (Page(Path("a.html")).data["gold"], Page(Path("a.html")).data["bleu"]) == (True, False)


def test_a_run_knows_the_references_of_its_translations(run: Path, make_record: Callable[..., Record]) -> None:
    own = [make_record(0, "a b", "c e"), make_record(1, "e", "f")]
    write_export("npz", run / "alignments" / "test.npz", iter(own), NPZ)
    assert main(["inspect", str(run), "-o", "a.html"]) == 0
    page = Page(Path("a.html"))
    assert (page.data["gold"], page.data["bleu"]) == (False, True)
    assert [sentence["reference"] for sentence in page.blocks[0]] == ["c d", "f"]


def test_a_run_without_its_corpus_is_shown_all_the_same(run: Path) -> None:
    Path("t.trg").unlink()
    assert main(["inspect", str(run), "-o", "a.html"]) == 0
    assert (Page(Path("a.html")).data["gold"], Page(Path("a.html")).data["bleu"]) == (False, False)


def test_gold_and_references_by_hand_and_two_exports(
    run: Path, make_record: Callable[..., Record], capsys: pytest.CaptureFixture[str]
) -> None:
    other = [make_record(0, "a b", "g"), make_record(1, "e", "f")]
    write_export("jsonl", Path("b.jsonl"), other, {})
    command = ["inspect", str(run), "b.jsonl", "-o", "a.html", "--gold", "t.gold", "--reference", "t.trg"]
    assert main(command) == 0
    page = Page(Path("a.html"))
    assert [export["header"]["run"] for export in page.data["exports"]] == ["toy", "b"]
    assert [export["header"]["file"] for export in page.data["exports"]] == ["run", "b.jsonl"]
    assert [sentence["sides"][1]["bleu"] for sentence in page.blocks[0]] == [0.0, 100.0]
    write_export("jsonl", Path("b.jsonl"), iter([make_record(0, "a b", "g"), make_record(1, "z", "f")]), {})
    assert main(command) == 2
    assert "line 2 is 'e' in run but 'z' in b.jsonl" in capsys.readouterr().err
