import logging
import os
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from nmt.align import colours, figure, heatmap
from nmt.align.colours import diverging_colours, even_colours
from nmt.align.export import write_export
from nmt.align.heatmap import Outline, Panel, draw_heatmap, draw_panels, outline_pieces, outline_words
from nmt.align.matrix import AlignmentMatrix
from nmt.align.record import View, make_header
from nmt.cli.main import main
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
    monkeypatch.setattr(figure, "_fonts", lambda: ["DejaVu Sans"])
    missing = {
        suffix: draw_heatmap(matrix("漢字 カナ", "a ok"), tmp_path / f"a{suffix}")  # warnings are errors here
        for suffix in BEGINNINGS
    }
    assert missing == {".png": set("漢字カナ"), ".svg": set(), ".pdf": set("漢字カナ")}
    assert not caplog.records
    assert logging.getLogger("matplotlib").level < logging.ERROR


def test_what_svg_cannot_hold_is_shown_as_an_open_box(tmp_path: Path) -> None:
    odd = AlignmentMatrix(("a\x00b", "c\td"), ("e\u2028f", "\ufffeg"), np.zeros((3, 3), np.float32))
    draw_heatmap(odd, tmp_path / "a.svg", title="t\x07")
    assert {"a␣b", "c␣d", "e␣f", "␣g", "t␣"} <= set(texts(tmp_path / "a.svg"))


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_word_of_nothing_visible_is_drawn(suffix: str, tmp_path: Path) -> None:
    """U+FEFF alone is a glyph of no extent, which matplotlib's PDF can't place."""
    nothing = AlignmentMatrix(("\ufeff", "\u200b"), ("\u2060", "\u00ad"), np.zeros((3, 3), np.float32))
    draw_heatmap(nothing, tmp_path / f"a{suffix}")
    assert (tmp_path / f"a{suffix}").stat().st_size


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
    with pytest.raises(UserError, match=r"a\.gif: a picture is written as \.png, \.svg, \.pdf"):
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


def test_signed_values_are_white_at_zero_and_as_dark_on_both_sides() -> None:
    table = colours._oklab(diverging_colours()(np.linspace(0, 1, 257))[:, :3])
    np.testing.assert_allclose(table[128], [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(table[:128, 0], table[:128:-1, 0], atol=2e-3)
    distances = np.linalg.norm(table - table[128], axis=1)
    np.testing.assert_allclose(distances[:128], distances[:128:-1], atol=2e-3)
    assert np.linalg.norm(table[0] - table[-1]) > 0.15


def test_signed_values_have_a_scale_of_their_own(tmp_path: Path) -> None:
    signed = AlignmentMatrix(("a",), ("b",), np.array([[-12.5, 3.25], [0.0, 0.004]], np.float32))
    panels = [Panel(matrix("a", "b"), "attention"), Panel(signed, "erasure", raw="erasure (raw)")]
    draw_panels([panels], tmp_path / "a.svg", title="line 1")
    drawn = texts(tmp_path / "a.svg")
    assert {"-12.5", "+3.25", "0.88", "attention", "erasure", "line 1", "weight", "erasure (raw)"} <= set(drawn)
    assert "\N{MINUS SIGN}10" in drawn  # the scale reaches as far below 0 as above
    assert "10" in drawn


def test_the_words_of_one_pair_are_said_once_a_row_and_once_a_column(tmp_path: Path) -> None:
    def count(rows: list[list[Panel]]) -> tuple[int, int]:
        draw_panels(rows, tmp_path / "a.svg")
        drawn = texts(tmp_path / "a.svg")
        return drawn.count("source"), drawn.count("target")

    one, other = Panel(matrix("source", "target")), Panel(matrix("source", "target again"))
    assert count([[one, one, one], [one, one]]) == (3, 2)
    assert count([[one], [one, one]]) == (2, 2)
    assert count([[one, other]]) == (2, 2)


def test_a_single_row_is_broken_into_a_picture_of_good_shape(tmp_path: Path) -> None:
    text = " ".join(["word"] * 10)
    draw_panels([[Panel(matrix(text, text), str(number)) for number in range(12)]], tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    width, height = (float(root.attrib[side].removesuffix("pt")) for side in ("width", "height"))
    assert 1 < width / height < 2


def test_cells_of_long_pairs_are_one_image_and_their_words_stay_text(tmp_path: Path) -> None:
    long = " ".join(f"w{number}" for number in range(80))
    draw_heatmap(matrix(long, long), tmp_path / "a.svg")
    assert {"w0", "w79"} <= set(texts(tmp_path / "a.svg"))
    assert len(list(ElementTree.parse(tmp_path / "a.svg").iter(f"{SVG}image"))) >= 1
    assert (tmp_path / "a.svg").stat().st_size < 200_000


def test_gold_of_words_is_outlined_around_all_their_pieces() -> None:
    gold = parse_links("0-1 2p0 3-0")
    assert outline_words(gold)[0] == Outline(0, 1, 1, 1, True)
    # Word 3 of the source has no piece.
    assert outline_pieces(gold, [0, 0, 1, 2], [0, 1, 1, 1]) == [Outline(0, 1, 2, 3, True), Outline(3, 0, 1, 1, False)]


@pytest.mark.parametrize(
    ("word", "drawn"),
    [
        ("abc", "abc"),
        ("שלום", "םולש"),
        ("שלום.", ".םולש"),
        ("(שלום)", "(םולש)"),
        ("ב-2024", "2024-ב"),
        ("שָׁלוֹם", "םוֹלשָׁ"),
    ],
)
def test_old_matplotlibs_get_right_to_left_words_turned(
    word: str, drawn: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    word, drawn = (unicodedata.normalize("NFD", text) for text in (word, drawn))
    monkeypatch.setattr(figure, "_SETS_BOTH_WAYS", False)
    assert figure.in_drawn_order(word, "png") == drawn
    draw_heatmap(matrix(word, "b"), tmp_path / "a.svg")
    assert word in texts(tmp_path / "a.svg")  # SVG's viewers turn it themselves


@pytest.fixture
def exports(make_record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """long.npz has a layer of 2 heads, another of 2, and raw erasure, of 3 lines; same.npz 1 view; other.npz another
    source."""
    monkeypatch.chdir(tmp_path)
    lines = [("ka lo", "AK OL"), ("mi", ""), ("tuna $5 b c d e f g h i j", "ANUT x")]
    heads = [View("attention", layer, head, 0) for layer in (0, 1) for head in (0, 1)]
    views = {"long": [*heads, View("erasure", 0, None, 0, raw=True)], "same": heads[:1], "other": heads[:1]}
    for name, of_export in views.items():
        shown = lines if name != "other" else [*lines[:2], ("x", "y")]
        records = [make_record(index, *pair, views=len(of_export)) for index, pair in enumerate(shown)]
        header = make_header(run=name, views=of_export, links="argmax", source_tokenizer="", target_tokenizer="")
        write_export("npz", Path(f"{name}.npz"), iter(records), header)
        write_export("jsonl", Path(f"{name}.jsonl"), iter(records), header)
    return tmp_path


def heatmap_texts(*arguments: str) -> list[str]:
    assert main(["heatmap", *arguments, "-o", "a.svg"]) == 0
    return texts(Path("a.svg"))


@pytest.mark.usefixtures("exports")
def test_views_are_chosen_by_number_by_name_or_all() -> None:
    def names(*view: str) -> list[str]:
        drawn = heatmap_texts("long.npz", "--line", "3", *(flag for one in view for flag in ("--view", one)))
        return [text for text in drawn if text.startswith(("attention, layer", "erasure", "long"))]

    first, title = "attention, layer 0, head", "long · line 3"
    assert names() == [f"long · {first} 0 · line 3"]
    assert names("1", "erasure") == [f"{first} 1", "erasure (raw)", "erasure (raw)", title]
    assert names("Layer 0") == [f"{first} 0", f"{first} 1", title]
    every = [f"attention, layer {layer}, head {head}" for layer in (0, 1) for head in (0, 1)]
    assert names("all") == [*every, "erasure (raw)", "erasure (raw)", title]


@pytest.mark.usefixtures("exports")
def test_exports_side_by_side_and_lines_on_a_page() -> None:
    assert {"long", "same", "line 1"} <= {
        part for text in heatmap_texts("long.npz", "same.npz", "--line", "1") for part in text.split(" · ")
    }
    page = heatmap_texts("same.npz", "--grid", "3,1-2")
    assert [text for text in page if text.startswith("line")] == ["line 3", "line 1", "line 2 (a side"]
    assert "same · attention, layer 0, head 0" in page
    Path("copy.npz").write_bytes(Path("same.npz").read_bytes())
    assert {"same.npz", "copy.npz"} <= set(heatmap_texts("same.npz", "copy.npz", "--line", "1"))


@pytest.mark.usefixtures("exports")
def test_pieces_and_gold_of_words() -> None:
    Path("gold").write_text("\n\n0-0 1p1\n", encoding="utf-8")
    drawn = heatmap_texts("long.npz", "--line", "3", "--pieces", "--gold", "gold", "--view", "0", "--view", "1")
    assert {"tu", "na", "$5", "AN", "UT"} <= set(drawn)
    dashed = re.findall(r'style="fill: none; stroke[^"]*"', Path("a.svg").read_text(encoding="utf-8"))
    frames = [style for style in dashed if heatmap.GOLD in style]
    assert ["dasharray" in style for style in frames] == [False, True] * 2  # in every panel


@pytest.mark.usefixtures("exports")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["long.npz", "--line", "1", "--view", "posterior"], "no view 'posterior'; there are: 0 attention, layer 0"),
        (["long.npz", "--line", "1", "--view", "7"], "no view '7'"),
        (["long.npz", "other.npz", "--line", "3"], "line 3 of other.npz has another source than that of long.npz"),
        (["same.npz", "--grid", "1,4"], "same.npz: no line 4; it holds the lines 1 to 3"),
        (["same.npz", "--grid", "3-1"], "'3-1' are no lines; write them as 3,8,20-25"),
        (["same.npz", "--grid", "0"], "'0' are no lines"),
        (["same.npz", "--grid", "1", "--line", "1"], "not allowed with"),
        (["same.npz", "--grid", "1" + ",1" * 400], "a.svg: these are 401 matrices; one picture holds at most 400"),
    ],
)
def test_pictures_that_cannot_be_drawn(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = os.listdir()
    assert main(["heatmap", *arguments, "-o", "a.svg"]) == 2
    assert message in capsys.readouterr().err
    assert os.listdir() == before


@pytest.mark.usefixtures("exports")
def test_it_is_said_which_characters_no_font_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(figure, "_fonts", lambda: ["DejaVu Sans"])
    monkeypatch.setattr(heatmap, "_shown_word", lambda word: "漢")
    assert main(["heatmap", "same.npz", "-o", "pictures"]) == 0
    assert capsys.readouterr().err.count("no font on this machine has 漢: boxes stand for them") == 1
    assert sorted(os.listdir("pictures")) == ["00001.png", "00002.png", "00003.png"]
