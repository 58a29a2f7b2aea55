import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.align.inspector import write_inspector
from nmt.align.record import Record

PAIRS = [
    ("<script>alert(1)</script>", "a --> <!-- b ]]> </SCRIPT >"),
    ("", ""),
    ("cost $5 & \"6\" 'x' {{DATA}}", "漢字 السعر \\u003c"),
    ("tab\tnul\x00 \u2028x", ""),
]


class Page(HTMLParser):
    """The scripts of a page by their type, every tag, and every attribute that names a place to fetch from."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: dict[str, str] = {}
        self.tags: list[str] = []
        self.places: list[str] = []
        self._kind: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.places += [value or "" for name, value in attributes if name in ("src", "href", "action", "srcset")]
        if tag == "script":
            self._kind = dict(attributes).get("type") or "code"

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._kind = None

    def handle_data(self, text: str) -> None:
        if self._kind:
            self.scripts[self._kind] = self.scripts.get(self._kind, "") + text


@pytest.fixture
def records(make_record: Callable[[int, str, str], Record]) -> list[Record]:
    return [make_record(index, *pair) for index, pair in enumerate(PAIRS)]


@pytest.fixture
def page(records: list[Record], tmp_path: Path) -> Page:
    write_inspector(records, tmp_path / "a.html", {"run": "toy </script>", "layer": -1})
    parsed = Page()
    parsed.feed((tmp_path / "a.html").read_text(encoding="utf-8"))
    return parsed


def system(page: Page) -> dict[str, Any]:
    (only,) = json.loads(page.scripts["application/json"])["systems"]
    return dict(only)


def test_the_numbers_in_the_page_are_those_of_the_records(page: Page, records: list[Record]) -> None:
    raw = np.frombuffer(base64.b64decode(system(page)["weights"]), np.uint8).astype(np.float64)
    expected = np.concatenate([record.matrix.weights.ravel() for record in records])
    assert raw.shape == expected.shape
    assert np.abs(raw / 255 - expected).max() <= 1 / 510 + 1e-7


def test_words_links_and_lines_are_those_of_the_records(page: Page, records: list[Record]) -> None:
    for entry, record in zip(system(page)["sentences"], records, strict=True):
        assert entry["index"] == record.index
        assert tuple(entry["source"]) == record.matrix.source_words
        assert tuple(entry["target"]) == record.matrix.target_words
        assert {(s, t) for s, t in entry["links"]} == record.links
    assert system(page)["header"] == {"run": "toy </script>", "layer": -1}


def test_text_cannot_become_part_of_the_page(page: Page) -> None:
    assert page.tags.count("script") == 2
    assert "alert" not in page.scripts["code"]
    assert "<" not in page.scripts["application/json"]
    assert "innerHTML" not in page.scripts["code"]


def test_nothing_is_fetched(page: Page, tmp_path: Path) -> None:
    assert page.places == ["data:,"]
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|import\(", text)
    assert "default-src 'none'" in text


def test_weights_a_hair_over_one_are_one(make_record: Callable[[int, str, str], Record], tmp_path: Path) -> None:
    record = make_record(0, "a", "b")
    record.matrix.weights[:] = 1.0000002
    write_inspector([record], tmp_path / "a.html", {})
    parsed = Page()
    parsed.feed((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert base64.b64decode(system(parsed)["weights"]) == b"\xff" * 4


def test_the_script_is_valid_javascript(page: Page, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    (tmp_path / "code.js").write_text(page.scripts["code"], encoding="utf-8")
    done = subprocess.run([node, "--check", tmp_path / "code.js"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
