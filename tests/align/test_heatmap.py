import logging
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from nmt.align import colours, heatmap
from nmt.align.colours import even_colours
from nmt.align.heatmap import draw_heatmap
from nmt.align.matrix import AlignmentMatrix
from nmt.data.pharaoh import parse_links
from nmt.errors import UserError

BEGINNINGS = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}
SVG = "{http://www.w3.org/2000/svg}"


def matrix(source: str, target: str) -> AlignmentMatrix:
    sources, targets = source.split(), target.split()
    weights = np.eye(len(targets) + 1, len(sources) + 1, dtype=np.float32) * 0.875
    return AlignmentMatrix(tuple(sources), tuple(targets), weights)


def texts(path: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(path).iter(f"{SVG}text")]


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_kinds_of_picture(suffix: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        draw_heatmap(matrix("a b", "c d"), (tmp_path / name).with_suffix(suffix))
    first, second = [(tmp_path / name).with_suffix(suffix).read_bytes() for name in ("one", "two")]
    assert first.startswith(BEGINNINGS[suffix])
    assert first == second


@pytest.mark.parametrize(
    "target", ["cost $5 and $6", r"a_b \frac{x} $\alpha$ ^2", "漢 字 ك", "<b>&amp; \"x\" 'y'", "😀 נשמה"]
)
def test_words_are_literal(target: str, tmp_path: Path) -> None:  # CASES G08
    path = tmp_path / "a.svg"
    draw_heatmap(matrix("ka $x$", target), path, title="line 1 costs $5 and $6")
    drawn = texts(path)
    for word in ["ka", "$x$", *target.split(), "</s>", "line 1 costs $5 and $6"]:
        assert word in drawn
    draw_heatmap(matrix("ka $x$", target), tmp_path / "a.png", title="$5 $6")


def test_a_machine_without_fonts_for_a_script_warns_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(heatmap, "_fonts", lambda: ["DejaVu Sans"])
    for suffix in BEGINNINGS:
        draw_heatmap(matrix("漢字 カナ", "नमस्ते 한국어"), tmp_path / f"a{suffix}")  # warnings are errors here
    assert not caplog.records
    assert logging.getLogger("matplotlib").level < logging.ERROR


def test_what_svg_cannot_hold_is_shown_as_an_open_box(tmp_path: Path) -> None:
    odd = AlignmentMatrix(("a\x00b", "c\td"), ("e\u2028f", "\ufffeg"), np.zeros((3, 3), np.float32))
    draw_heatmap(odd, tmp_path / "a.svg", title="t\x07")
    assert {"a␣b", "c␣d", "e␣f", "␣g", "t␣"} <= set(texts(tmp_path / "a.svg"))


def test_an_endless_word_is_cut(tmp_path: Path) -> None:
    draw_heatmap(matrix("w" * 300, "b"), tmp_path / "a.svg")
    assert "w" * 31 + "…" in texts(tmp_path / "a.svg")


def test_cells_show_the_weights_to_two_decimals_while_there_is_room(tmp_path: Path) -> None:
    short = AlignmentMatrix(("a",), ("b",), np.array([[0.125, 0.004], [0.666, 1.0]], np.float32))
    draw_heatmap(short, tmp_path / "a.svg")
    bar = ["0.00", "0.25", "0.50", "0.75", "1.00"]
    numbers = [text for text in texts(tmp_path / "a.svg") if text[:1].isdigit()]
    assert sorted(numbers) == sorted(["0.12", "0.67", "1.00", *bar])
    draw_heatmap(short, tmp_path / "b.svg", numbers=False)
    assert [text for text in texts(tmp_path / "b.svg") if text[:1].isdigit()] == bar
    long = " ".join("w" * 17)
    draw_heatmap(matrix(long, long), tmp_path / "c.svg")
    assert [text for text in texts(tmp_path / "c.svg") if text[:1].isdigit()] == bar


def test_the_picture_grows_with_the_words_and_a_blank_pair_has_one(tmp_path: Path) -> None:
    sizes = []
    for words in (0, 1, 10, 80):
        text = " ".join(["word"] * words)
        draw_heatmap(matrix(text, text), tmp_path / "a.svg")
        sizes.append(float(ElementTree.parse(tmp_path / "a.svg").getroot().attrib["width"].removesuffix("pt")))
    assert sizes == sorted(sizes)
    assert sizes[-1] / 80 > 72 * 0.2  # a word of a long sentence still has a fifth of an inch


def test_gold_links_are_outlined(tmp_path: Path) -> None:
    draw_heatmap(matrix("a b", "c d"), tmp_path / "a.svg", gold=parse_links("0-0 1p1"))
    styles = [path.attrib.get("style", "") for path in ElementTree.parse(tmp_path / "a.svg").iter(f"{SVG}path")]
    outlines = [style for style in styles if heatmap.GOLD in style]
    assert ["stroke-dasharray" in style for style in outlines] == [False, True]
    with pytest.raises(ValueError, match="gold link 2-0 lies outside a pair of 2 and 2 words"):
        draw_heatmap(matrix("a b", "c d"), tmp_path / "a.svg", gold=parse_links("2-0"))


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.gif: a heatmap is written as \.png, \.svg, \.pdf"):
        draw_heatmap(matrix("a", "b"), tmp_path / "a.gif")


def test_the_settings_of_the_machine_do_not_matter_and_are_left_alone(tmp_path: Path) -> None:
    with matplotlib.rc_context({"text.parse_math": True, "svg.fonttype": "path"}):
        draw_heatmap(matrix("$x$", "b"), tmp_path / "a.svg")
        assert matplotlib.rcParams["svg.fonttype"] == "path"
    assert "$x$" in texts(tmp_path / "a.svg")


def test_equal_steps_of_weight_are_equal_steps_of_colour() -> None:
    table = even_colours()(np.linspace(0, 1, 256))[:, :3]
    np.testing.assert_allclose(table[[0, -1]], [to_rgb(colours.PALE), to_rgb(colours.DARK)], atol=1e-3)
    steps = np.linalg.norm(np.diff(colours._oklab(table), axis=0), axis=1)
    np.testing.assert_allclose(steps, steps.mean(), rtol=0.02)
    # Ottosson's own example: white has lightness 1 and no colour.
    np.testing.assert_allclose(colours._oklab(np.ones(3)), [1, 0, 0], atol=1e-6)
