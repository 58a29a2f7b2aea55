"""The inspector's page in a real browser, opened from a file as by double click: what a reader sees and does."""

from __future__ import annotations

import json
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.align.inspector import Side, write_inspector
from nmt.align.links import argmax_links
from nmt.align.matrix import AlignmentMatrix, merge_pieces
from nmt.align.record import Record, View
from nmt.align.signs import signs
from nmt.data.pharaoh import parse_links
from nmt.data.words import split_words
from scripts.browser import Browser, find_program
from tests.align.conftest import pieces

PAIRS = [
    ("Der kleine Hund schläft heute", "The little dog sleeps today"),
    ("<script>alert(1)</script> & \"x\" 'y'", "<img src=x onerror=alert(2)> &amp; $5"),
    ("", ""),
    ("القائمة « ملف »", "O menú « Ficheiro »"),
    ("Wir sehen uns", "see you"),
    ("zwei drei vier fünf sechs sieben acht", "two three four five six seven eight nine"),
    ("nul\x00 漢字", "a\tb"),
]
GOLD = [parse_links(line) for line in ("0-0 1-1 2p2", "", "", "0-1", "0-1 1p0", "0-0", "")]
REFERENCES = ["The little dog sleeps today", "x", "", "O menú", "see you soon", "one two three four", ""]
VIEWS = [
    *(View("attention", layer, head, 0) for layer in range(2) for head in (None, 0, 1)),
    View("erasure", 0, None, 0),
    View("erasure", 0, None, 0, raw=True),
]
HEADER = {"run": "toy", "views": [view.as_dict() for view in VIEWS], "links": "argmax"}
OTHER_VIEWS = [View("attention", 1, 1, 0), View("attention", 0, None, 0)]
OTHER_HEADER = {"run": "peer", "views": [view.as_dict() for view in OTHER_VIEWS]}


def make_records(views: Sequence[View], seed: int) -> list[Record]:
    """Random rows; a raw view has both signs and large values."""
    generator = np.random.default_rng(seed)
    return [make_record(generator, index, *pair, views) for index, pair in enumerate(PAIRS)]


def make_record(generator: np.random.Generator, index: int, source: str, target: str, views: Sequence[View]) -> Record:
    source_pieces, target_pieces = pieces(source), pieces(target)
    width, height = len(source_pieces.word) + 1, len(target_pieces.word) + 1
    values = generator.dirichlet([0.15] * width, (len(views), height)).astype(np.float32)
    for number, view in enumerate(views):
        if view.raw:
            values[number] = generator.normal(0, 7, (height, width))
    maps = source_pieces.word, target_pieces.word
    links = argmax_links(merge_pieces(values[0], *maps, split_words(source), split_words(target)))
    return Record(index, source, target, source_pieces, target_pieces, values, frozenset(links))


RECORDS, OTHER_RECORDS = make_records(VIEWS, 1), make_records(OTHER_VIEWS, 2)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for the whole file."""
    program = find_program()
    if program is None:
        pytest.skip("no Chromium on this machine")
    with Browser(program) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """one.html of an export, two.html of two, both with gold and references."""
    place = tmp_path_factory.mktemp("pages")
    scored: dict[str, Any] = {"gold": GOLD, "references": REFERENCES}
    write_inspector(RECORDS, place / "one.html", HEADER, **scored)
    write_inspector(RECORDS, place / "two.html", HEADER, other=Side("b", OTHER_HEADER, OTHER_RECORDS), **scored)
    return place


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Browser]:
    """one.html, its first sentence drawn. Whatever a test does there, the console stays silent."""
    opened(browser, folder / "one.html")
    yield browser
    assert browser.log == []


@pytest.fixture
def both(browser: Browser, folder: Path) -> Iterator[Browser]:
    """two.html, likewise."""
    opened(browser, folder / "two.html")
    yield browser
    assert browser.log == []


def opened(browser: Browser, path: Path, fragment: str = "") -> None:
    browser.run("try { localStorage.clear() } catch {}")
    browser.open(path, fragment)
    drawn(browser)


def drawn(browser: Browser) -> None:
    """Wait until every figure is that of the sentence, view and unit that are asked for."""
    browser.wait("draw().then(() => document.querySelectorAll('.figure > *').length === exports.length)")


def press(browser: Browser, *keys: str) -> None:
    for key in keys:
        browser.press(key)
    drawn(browser)


def choose(browser: Browser, selector: str, value: str) -> None:
    """Pick an option, or set a field, as a person does: the control tells its listeners."""
    script = f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('input', {{bubbles: true}}));"
    browser.run(
        f"{script} e.dispatchEvent(new Event('change', {{bubbles: true}})) }})(document.querySelector('{selector}'))"
    )
    drawn(browser)


def texts(browser: Browser, selector: str) -> list[str]:
    found = browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")
    return list(found)


def listed(browser: Browser) -> list[int]:
    return [int(number) for number in texts(browser, ".row .number")]


def counted(browser: Browser, selector: str) -> int:
    return len(texts(browser, selector))


def line(browser: Browser) -> str:
    return str(browser.run("document.querySelector('#line').textContent"))


def table_of(browser: Browser, panel: int = 0) -> list[list[str]]:
    """The numbers of a panel's table, without the mark of a link."""
    return list(browser.run(TABLE.replace("PANEL", str(panel))))


def shown(matrix: AlignmentMatrix, *, raw: bool = False) -> list[list[str]]:
    """What must be read in the page: the number stored in 8 bits, or 16 for signed ones, to two decimals."""
    values = matrix.weights.astype(np.float64)
    if raw:
        scale = np.abs(values).max()
        values = np.rint(values / scale * 32767) / 32767 * scale
    else:
        values = np.rint(values * 255) / 255
    return [[f"{value:.2f}".replace("-0.00", "0.00") for value in row] for row in values]


def test_it_opens_without_a_word_and_without_a_request(page: Browser, folder: Path) -> None:
    assert page.requests == [(folder / "one.html").as_uri()]
    assert page.run("document.title") == "Alignments: toy"
    assert counted(page, ".figure svg") == 1
    assert texts(page, "#count") == ["7 sentences"]


def test_every_number_is_the_exports(page: Browser) -> None:
    press(page, "t")
    for unit in ("words", "pieces"):
        page.run(f"setUnit('{unit}')")
        for record in RECORDS:
            page.run(f"show({record.index})")
            tables = page.run(f"(async (found) => {{ {EVERY_VIEW} return found; }})([])")
            for number, view in enumerate(VIEWS):
                matrix = record.words(number) if unit == "words" else record.pieces(number)
                assert tables[number] == shown(matrix, raw=view.raw), (record.index, view, unit)


TABLE = """[...document.querySelectorAll('.panel')[PANEL].querySelectorAll('tbody tr')].map((row) =>
  [...row.querySelectorAll('td')].map((cell) => cell.textContent.replace(' •', '')))"""
EVERY_VIEW = f"""for (let v = 0; v < {len(VIEWS)}; v++) {{
  await chooseView(0, v);
  found.push({TABLE.replace("PANEL", "0")});
}}"""


def test_the_matrix_shows_them_too_and_names_what_is_pointed_at(page: Browser) -> None:
    expected = shown(RECORDS[0].matrix)
    written = [text for row in expected for text in row if text != "0.00"]
    assert texts(page, ".figure svg > g:nth-of-type(1) > text") == written
    box = page.run("(b => [b.x, b.y])(document.querySelector('.figure svg').getBoundingClientRect())")
    place = page.run(
        "(({left, top, cellWidth, cellHeight}) => [left, top, cellWidth, cellHeight])(matrixPlace(panels[0].shown))"
    )
    for s, t in ((0, 0), (3, 1), (5, 4)):
        page.move(box[0] + place[0] + (s + 0.5) * place[2], box[1] + place[1] + (t + 0.5) * place[3])
        words = [*RECORDS[0].source_words, "</s>"][s], [*RECORDS[0].target_words, "</s>"][t]
        (told,) = texts(page, ".readout")
        assert told.startswith(f"{words[0]} → {words[1]}  {expected[t][s]}")
        assert ("link" in told) is ((s, t) in RECORDS[0].links)
        assert texts(page, ".figure [font-weight='700'] > text:first-child") == [
            words[1] * 2,
            words[0] * 2,
        ]  # and titles
        assert counted(page, ".row-band, .column-band") == 2
    page.move(2, 2)
    assert counted(page, ".row-band, .column-band, .cell") == 0


def test_the_focused_matrix_is_read_by_the_arrows(page: Browser) -> None:
    page.run("document.querySelector('.figure').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.press(key)
    (told,) = texts(page, ".readout")
    assert told.startswith(f"kleine → little  {shown(RECORDS[0].matrix)[1][1]}")
    assert line(page) == "line 1"


def test_search_in_both_sides(page: Browser) -> None:
    page.press("/")
    for key in "DOG j":
        page.press(key)
    assert listed(page) == []
    page.press("Escape")
    for text, lines in (
        ("dog", [1]),
        ("SCHLÄFT", [1]),
        ("e", [1, 2, 4, 5, 6]),
        ("onerror", [2]),
        ("", list(range(1, 8))),
    ):
        choose(page, "#search", text)
        assert listed(page) == lines
    choose(page, "#search", "zwei")
    assert texts(page, "#count") == ["1 of 7 sentences"]
    page.run("document.querySelector('#search').focus()")
    press(page, "Enter")
    assert line(page) == "line 6"


def test_order(page: Browser) -> None:
    sources = [len(record.source_words) for record in RECORDS]
    bleu = page.run("sentences.map(s => s.sides[0].bleu)")
    entropies = [signs(np.array(shown(record.words(4)), float)).entropy for record in RECORDS]
    page.run("chooseView(0, 4)")
    for metric, values in (("length", sources), ("bleu0", bleu)):
        choose(page, "#sort", metric)
        assert [values[number - 1] for number in listed(page)] == sorted(values)
    page.click("#direction")
    assert [bleu[number - 1] for number in listed(page)] == sorted(bleu, reverse=True)
    choose(page, "#sort", "entropy0")
    order = listed(page)
    assert order[-1] == 3  # blank: there is no entropy to order by
    assert [round(float(entropies[number - 1]), 1) for number in order[:-1]] == sorted(
        (round(float(entropy), 1) for entropy in entropies if not np.isnan(entropy)), reverse=True
    )
    assert texts(page, ".row .value")[-1] == "\u2013"


def test_filters(page: Browser) -> None:
    page.click("#filter")
    choose(page, "[name=length-least]", "4")
    choose(page, "[name=length-most]", "5")
    assert listed(page) == [1, 2, 4]
    assert texts(page, "#filter") == ["Filter (1)"]
    page.click("#filters [type=reset]")
    choose(page, "[name=aer0-most]", "0.99")
    assert listed(page) == [
        number for number, aer in enumerate(page.run("sentences.map(s => s.sides[0].aer)"), start=1) if aer <= 0.99
    ]
    page.click("#filters [type=reset]")
    page.click("[name=sign-1]")
    unread = [int(signs(rounded(record)).unread) for record in RECORDS]
    assert listed(page) == [number for number, count in enumerate(unread, start=1) if count]


def rounded(record: Record, view: int = 0) -> np.ndarray:
    """Over words, as the page holds them."""
    return np.rint(record.words(view).weights.astype(np.float64) * 255) / 255


def test_warnings_are_those_that_python_counts(page: Browser) -> None:
    page.run("setFigure('matrix')")
    for view in range(6):
        page.run(f"chooseView(0, {view})")
        for record in RECORDS:
            found = signs(rounded(record, view))
            counts, marks = page.run(f"show({record.index}).then(() => [{COUNTS}, {MARKS}])")
            assert counts == [found.unread, found.repeated, found.uniform]
            assert [marks.count(sign) for sign in "∅↻≈"] == counts


COUNTS = "['unread', 'repeated', 'uniform'].map(kind => panels[0].shown.found[kind].size)"
MARKS = """[...document.querySelectorAll('.column-label > text + text, .row-label > text + text')]
  .map(e => e.textContent).join('')"""


def test_views_are_chosen_by_selects_by_arrows_and_by_pictures(page: Browser) -> None:
    press(page, "t")
    assert [
        page.run(f"[...document.querySelector('[data-part={part}]').options].map(o => o.text)")
        for part in ("method", "layer", "head")
    ] == [
        ["attention", "erasure", "erasure (raw)"],
        ["0", "1"],
        ["mean", "0", "1"],
    ]
    choose(page, "[data-part=layer]", "1")
    choose(page, "[data-part=head]", "0")
    assert table_of(page) == shown(RECORDS[0].words(4))
    press(page, "ArrowRight", "ArrowRight")
    assert table_of(page) == shown(RECORDS[0].words(6))
    assert page.run("document.querySelector('[data-part=layer]').closest('label').hidden")
    press(page, "ArrowRight", "ArrowRight", "ArrowLeft")
    assert table_of(page) == shown(RECORDS[0].words(7), raw=True)
    choose(page, "[data-part=method]", VIEWS_FAMILY)
    page.run("document.querySelector('.heads').open = true")
    page.wait("document.querySelectorAll('.heads canvas').length === 6")
    page.click(".heads [data-view='5']")
    drawn(page)
    assert table_of(page) == shown(RECORDS[0].words(5))


VIEWS_FAMILY = '["attention",false,0]'


def test_pieces_and_words(page: Browser) -> None:
    press(page, "t", "p")
    assert table_of(page) == shown(RECORDS[0].pieces(0))
    assert texts(page, "thead th")[:3] == list(RECORDS[0].pieces(0).source_words[:3])
    press(page, "p")
    assert table_of(page) == shown(RECORDS[0].matrix)


def test_gold_links_and_threshold(page: Browser) -> None:
    for figure in ("matrix", "ribbon"):
        page.run(f"setFigure('{figure}')")
        assert [counted(page, f".figure .{kind}") for kind in ("sure", "possible", "link")] == [
            2,
            1,
            len(RECORDS[0].links),
        ]
        assert counted(page, ".figure .possible[stroke-dasharray]") == 1
        assert counted(page, ".figure .sure[stroke-dasharray]") == 0
    press(page, "g")
    assert counted(page, ".figure .sure, .figure .possible") == 0
    for threshold in (0.1, 0.5):
        choose(page, "#links", "threshold")
        choose(page, "#threshold", str(threshold))
        assert counted(page, ".figure .link") == int((rounded(RECORDS[0])[:-1, :-1] >= threshold).sum())
    choose(page, "#links", "none")
    assert counted(page, ".figure .link") == 0


def test_a_link_of_words_spans_their_pieces(page: Browser) -> None:
    page.run("(async () => { await show(3); await setUnit('pieces'); })()")
    width = page.run("Number(document.querySelector('.figure .sure').getAttribute('width'))")
    cell = page.run("matrixPlace(panels[0].shown).cellWidth")
    assert round((width + 1) / cell) == RECORDS[3].source_pieces.word.count(0)


def test_two_exports_side_by_side(both: Browser) -> None:
    assert texts(both, "h3")[:2] == ["A: toy", "B: peer"]
    press(both, "t")
    assert table_of(both, 0) == shown(RECORDS[0].matrix)
    assert table_of(both, 1) == shown(OTHER_RECORDS[0].matrix)
    choose(both, ".panel:nth-child(1) [data-part=head]", "1")
    choose(both, ".panel:nth-child(1) [data-part=layer]", "1")
    assert both.run("state.views") == [5, 0]
    choose(both, ".panel:nth-child(1) [data-part=layer]", "0")
    choose(both, ".panel:nth-child(1) [data-part=head]", "null")
    assert table_of(both, 1) == shown(OTHER_RECORDS[0].words(1))  # it follows where it has the same view
    agreement = both.run("sentences.map(s => s.agreement)")
    choose(both, "#sort", "agreement")
    assert [agreement[number - 1] for number in listed(both)] == sorted(agreement)
    choose(both, "#sort", "bleu-difference")
    assert set(texts(both, ".row .value")) == {"0.00"}


ALONE, SECOND, END = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1)
EVEN = (0.25, 0.25, 0.25, 0.25)
# Rows of the target words, over three source words and </s>; then the marks and the coverage that they come to.
SIGNED = [
    ([ALONE, SECOND, (0, 0, 1, 0)], "", "1.00"),
    ([ALONE, ALONE, ALONE], "∅↻", "0.33"),
    ([EVEN, EVEN, EVEN], "≈", "1.00"),
    ([ALONE, SECOND, END], "∅", "0.67"),
    ([(0.5, 0.25, 0.25, 0)] * 7, "↻", "1.00"),
]


def word_record(index: int, target: str, rows: Sequence[Sequence[float]], *links: tuple[int, int]) -> Record:
    """Of a source of three words, a piece each; the rows are those of the target's words."""
    source, values = "ka lo mi", np.array([[*rows, END]], np.float32)
    return Record(index, source, target, pieces(source), pieces(target), values, frozenset(links))


def values_by(browser: Browser, metric: str) -> dict[int, str]:
    """What the list shows of each line, in its order by a metric."""
    choose(browser, "#sort", metric)
    return dict(zip(listed(browser), texts(browser, ".row .value"), strict=True))


def test_coverage_and_the_filter_of_each_warning(browser: Browser, tmp_path: Path) -> None:
    view = View("attention", 0, None, 0)
    records = [word_record(i, " ".join("a" * len(rows)), rows) for i, (rows, _, _) in enumerate(SIGNED)]
    write_inspector(records, tmp_path / "signs.html", {"run": "signs", "views": [view.as_dict()]})
    opened(browser, tmp_path / "signs.html", "#4")
    assert texts(browser, ".row .marks") == [marks for _, marks, _ in SIGNED]
    assert texts(browser, ".facts")[0].endswith("coverage 0.67")
    covered = values_by(browser, "coverage0")
    assert list(covered.items()) == [(2, "0.33"), (4, "0.67"), (1, "1.00"), (3, "1.00"), (5, "1.00")]
    browser.click("#filter")
    choose(browser, "[name=coverage0-most]", "0.5")
    assert listed(browser) == [2]
    browser.click("#filters [type=reset]")
    choose(browser, "#sort", "line")
    for number, sign in enumerate("∅↻≈", start=1):
        browser.click(f"[name=sign-{number}]")
        assert listed(browser) == [line for line, (_, marks, _) in enumerate(SIGNED, start=1) if sign in marks]
        browser.click("#filters [type=reset]")
    assert browser.log == []


def test_each_export_has_its_own_scores_and_differences_are_b_less_a(browser: Browser, tmp_path: Path) -> None:
    """Of line 1 both have the same target; A links it as gold does, B the other way. Of line 2 B has the reference."""
    header = {"run": "toy", "views": [View("attention", 0, None, 0).as_dict()]}
    first = [word_record(0, "a b", [ALONE, SECOND], (0, 0), (1, 1)), word_record(1, "x y", [ALONE, SECOND], (0, 0))]
    second = [word_record(0, "a b", [SECOND, ALONE], (1, 0), (0, 1)), word_record(1, "a b", [ALONE, SECOND])]
    write_inspector(
        first,
        tmp_path / "two.html",
        header,
        other=Side("b", header, second),
        gold=[parse_links("0-0 1-1")] * 2,
        references=["a b"] * 2,
    )
    opened(browser, tmp_path / "two.html")
    assert [text.partition(" · entropy")[0].partition(" · ")[2] for text in texts(browser, ".facts")] == [
        "BLEU 100.0 · AER 0.00",
        "BLEU 100.0 · AER 1.00",
    ]
    assert {metric: values_by(browser, metric) for metric in ("bleu0", "bleu1", "bleu-difference")} == {
        "bleu0": {1: "100.0", 2: "0.0"},
        "bleu1": {1: "100.0", 2: "100.0"},
        "bleu-difference": {1: "0.00", 2: "100.00"},
    }
    assert {metric: values_by(browser, metric) for metric in ("aer0", "aer1", "aer-difference")} == {
        "aer0": {1: "0.00", 2: "0.33"},  # of two sure links it makes one, and no wrong one: 1 - (1 + 1) / (1 + 2)
        "aer1": {1: "1.00", 2: "\u2013"},  # gold is of A's words
        "aer-difference": {1: "1.00", 2: "\u2013"},
    }
    assert browser.log == []


def test_pointing_at_one_of_two_shows_in_both(both: Browser) -> None:
    both.run("point(0, {s: 1, t: 2})")
    told = texts(both, ".readout")
    assert told[0].startswith(f"kleine → dog  {shown(RECORDS[0].matrix)[2][1]}")
    assert told[1].startswith(f"kleine → dog  {shown(OTHER_RECORDS[0].matrix)[2][1]}")


def test_addresses_of_lines_and_the_way_back(browser: Browser, folder: Path) -> None:
    opened(browser, folder / "one.html", "#4")
    assert line(browser) == "line 4"
    browser.click("#next")
    browser.click("#next")
    assert (line(browser), browser.run("location.hash")) == ("line 6", "#6")
    for move, expected in (("back", "line 5"), ("back", "line 4"), ("forward", "line 5")):
        browser.run(f"history.{move}()")
        browser.wait(f"document.querySelector('#line').textContent === '{expected}'")
    browser.run("location.hash = '#2'")
    browser.wait("document.querySelector('#line').textContent === 'line 2'")
    browser.run("location.hash = '#99'")
    browser.wait("!document.querySelector('#message').hidden")
    assert texts(browser, "#message") == ["There is no line 99 here."]
    assert line(browser) == "line 2"
    assert browser.log == []


def test_keys(page: Browser) -> None:
    press(page, "j", "ArrowDown", "k")
    assert line(page) == "line 2"
    page.wait("location.hash === '#2'")
    press(page, "End")
    assert line(page) == "line 7"
    press(page, "j")
    assert line(page) == "line 7"
    page.press("/")
    assert page.run("document.activeElement.id") == "search"
    page.press("j")
    assert page.run("document.activeElement.value") == "j"
    page.press("Escape")
    page.press("?")
    assert page.run("document.querySelector('#help-box').open")
    page.press("Escape")
    page.wait("!document.querySelector('#help-box').open")
    press(page, "r")
    assert page.run("document.querySelector('.figure svg').classList.contains('ribbon')")
    press(page, "m", "n")
    assert counted(page, ".figure svg > g:nth-of-type(1) > text") == 0


def test_the_ribbon_follows_the_pointer(page: Browser) -> None:
    press(page, "r")
    matrix = rounded(RECORDS[0])
    assert counted(page, ".curve.weight") == int((matrix >= 0.05).sum())
    page.run("point(0, {s: 2, t: null})")
    assert counted(page, ".curve.weight.on") == int((matrix[:, 2] >= 0.05).sum())


def test_text_is_shown_and_never_run(page: Browser) -> None:
    page.run("show(1)")
    for figure in ("matrix", "ribbon", "table"):
        page.run(f"setFigure('{figure}')")
        assert "<script>alert(1)</script>" in page.run("document.querySelector('.figure').textContent")
    assert texts(page, "#texts dd")[:2] == list(PAIRS[1])
    assert counted(page, "#list script, #main script, img") == 0
    assert page.log == []


def test_right_to_left_words_stand_alone(page: Browser) -> None:
    page.run("show(3)")
    directions = page.run(
        "[...document.querySelectorAll('.column-label > text:first-child')].map(e => e.getAttribute('direction'))"
    )
    assert directions == ["rtl", "ltr", "rtl", "ltr", "ltr"]
    assert page.run("[...document.querySelectorAll('#texts dd')].map(e => e.dir)") == ["auto"] * 3
    press(page, "r")
    centres = page.run(
        "[...document.querySelectorAll('.label[data-s] > text:first-child')].map(e => Number(e.getAttribute('x')))"
    )
    assert centres == sorted(centres, reverse=True)


def test_blank_pairs_say_so(page: Browser) -> None:
    page.run("show(2)")
    assert texts(page, ".readout") == ["One side has no words: there is nothing to align."]
    assert texts(page, "#texts dd")[:2] == ["(blank)", "(blank)"]


def test_figures_are_saved_as_svg_and_png(page: Browser, tmp_path: Path) -> None:
    page.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for index in (1, 6):  # markup, and characters that XML forbids
        page.run(f"show({index})")
        for figure in ("matrix", "ribbon"):
            page.run(f"setFigure('{figure}')")
            drawn(page)
            size = page.run("(e => ['width', 'height'].map(key => Number(e.getAttribute(key))))(panels[0].drawing.svg)")
            svg, png = (saved(page, tmp_path, kind) for kind in ("svg", "png"))
            root = ElementTree.fromstring(svg)
            labels = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
            assert any((PAIRS[index][0].split(" ")[0].replace("\x00", "␀") in label) for label in labels)
            assert b"var(" not in svg
            assert b'class="cell"' not in svg
            assert png.startswith(b"\x89PNG\r\n\x1a\n")
            assert struct.unpack(">2I", png[16:24]) == (2 * size[0], 2 * size[1])
            assert len(set(png)) > 200  # not one colour


def saved(browser: Browser, folder: Path, kind: str) -> bytes:
    for old in folder.iterdir():
        old.unlink()
    browser.click(f".save-{kind}")
    browser.wait(lambda: [path for path in folder.iterdir() if path.suffix == f".{kind}"], f"a {kind} file")
    (path,) = folder.iterdir()
    assert path.name.startswith("toy-line")
    return path.read_bytes()


def test_light_and_dark(page: Browser) -> None:
    def ground() -> tuple[str, str]:
        drawn(page)
        return page.run("getComputedStyle(document.body).backgroundColor"), page.run(
            "document.querySelector('.figure svg > rect').getAttribute('fill')"
        )

    light = ("rgb(255, 255, 255)", "#ffffff")
    dark = ("rgb(20, 23, 28)", "#14171c")
    assert ground() == light
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        assert ground() == dark
        press(page, "d")
        assert ground() == light
    finally:
        page.command("Emulation.setEmulatedMedia", features=[])
    page.click("#theme")
    assert ground() == dark


def test_numbers_can_be_read_on_every_shade(page: Browser) -> None:
    contrasts = page.run(
        "Object.values(THEMES).flatMap(theme => [...theme.inkOn].map(([ground, ink]) => contrast(ground, ink)))"
    )
    assert len(contrasts) > 200
    assert min(contrasts) >= 4.5


def test_every_control_has_a_name(both: Browser) -> None:
    both.command("Accessibility.enable")
    both.run("document.querySelector('#filters').hidden = false")
    nodes = both.command("Accessibility.getFullAXTree")["nodes"]
    both.command("Accessibility.disable")
    roles = [
        "button",
        "combobox",
        "searchbox",
        "checkbox",
        "radio",
        "slider",
        "spinbutton",
        "listbox",
        "option",
        "image",
    ]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")
    ]
    mute = [role for role, name in named if role in roles and not name.strip()]
    assert mute == []
    assert (
        "image",
        "Matrix of 5 target words by 5 source words, toy, line 1, attention, layer 0, mean of heads",
    ) in named


def test_a_browser_that_cannot_unpack_says_so(browser: Browser, folder: Path) -> None:
    script = browser.command("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    try:
        browser.open(folder / "one.html")
        (message,) = texts(browser, "#message")
    finally:
        browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    assert "no DecompressionStream" in message
    assert browser.log == []
    assert len(listed(browser)) == len(PAIRS)


def test_damaged_weights_are_told(browser: Browser, folder: Path, tmp_path: Path) -> None:
    text = (folder / "one.html").read_text(encoding="utf-8")
    head, begin, packed = text.partition('id="weights-0">')
    (tmp_path / "broken.html").write_text(head + begin + "AAAA" + packed[4:], encoding="utf-8")
    browser.open(tmp_path / "broken.html")
    browser.wait("!document.querySelector('#message').hidden")
    assert "cannot be unpacked" in texts(browser, "#message")[0]


def test_of_thousands_of_sentences_only_those_in_sight_are_in_the_page(browser: Browser, tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    view = [View("attention", 0, None, 0)]
    many: Iterable[Record] = (
        make_record(generator, index, f"wort{index}", f"word{index}", view) for index in range(1000)
    )
    write_inspector(many, tmp_path / "many.html", {"run": "many", "views": [view[0].as_dict()]})
    opened(browser, tmp_path / "many.html", "#900")
    assert counted(browser, ".row") < 50
    assert texts(browser, ".row[aria-selected=true] .number") == ["900"]
    assert browser.run("document.querySelector('.heads').hidden && document.querySelector('#gold-label').hidden")
    choose(browser, "#search", "wort99")
    browser.wait(lambda: listed(browser) == [100, *range(991, 1001)])  # once the list has scrolled up
    assert browser.log == []
