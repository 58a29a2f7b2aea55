"""`nmt align`, `nmt heatmap` and `nmt inspect` through the front door, with a model whose attention is known."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import nmt
from nmt.align.export import FORMATS, read_export, read_header
from nmt.align.record import View, header_views
from nmt.cli.main import main
from nmt.compose import compose_values
from nmt.run import SIDES, Run
from tests.laws.models import CASES, CORPUS

CHOICE = "attention, layer 1, head 2, shift 1"
LANGUAGES = {"RUN": "en de", "RUN3": "en de", "RUN2": "de en", "x/R2": "de en", "R2": "de en"}


@pytest.fixture
def loaded(reversing_model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that were loaded, in order; each is the reversing model."""
    names: list[str] = []
    for run, languages in LANGUAGES.items():
        settings = [f"data.{side}_language={name}" for side, name in zip(SIDES, languages.split(), strict=True)]
        Run(tmp_path / run).write_config(compose_values([*CORPUS, *CASES["recurrent-bahdanau-gru"], *settings]))
        Run(tmp_path / run).best.touch()

    def load(run, overrides=()):
        names.append(str(run))
        return reversing_model

    monkeypatch.setattr(nmt, "load", load)
    return names


@pytest.fixture
def blank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source with blank lines (CASES A01) and targets with blanks on either side or both."""
    monkeypatch.chdir(tmp_path)
    Path("e.src").write_text("ka lo\n\n   \nmi\n", encoding="utf-8")
    Path("e.trg").write_text("OL AK\n\nx\n\n", encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("loaded", "blank")
def test_own_translations_are_aligned_line_for_line() -> None:  # CASES G12, H04
    assert main(["align", "RUN", "--source", "e.src", "-o", "out"]) == 0
    assert Path("out").read_bytes() == b"0-1 1-0\n\n\n0-0\n"
    assert main(["align", "RUN", "--source", "e.src", "-o", "out.jsonl", "--format", "jsonl"]) == 0
    entries = [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(entry["index"], entry["source"], entry["target"]) for entry in entries] == [
        (0, "ka lo", "LO KA"),
        (1, "", ""),
        (2, "   ", ""),
        (3, "mi", "MI"),
    ]


@pytest.mark.usefixtures("blank")
def test_runs_of_both_directions_are_joined_by_their_mean(loaded: list[str]) -> None:
    runs = ["align", "RUN", "RUN3", "--reverse", "RUN2", "--symmetrize", "mean"]
    given = ["--source", "e.src", "--target", "e.trg", "-o", "out"]
    assert main([*runs, *given]) == 0
    assert loaded == ["RUN", "RUN3", "RUN2"]
    assert Path("out").read_bytes() == b"0-1 1-0\n\n\n\n"
    assert main([*runs, *given, "--threshold", "1"]) == 0
    assert Path("out").read_bytes() == b"0-1 1-0\n\n\n\n", "all runs are sure of these links"
    assert main([*runs, *given, "--format", "npz"]) == 0
    header = read_header(Path("out"))
    assert header["links"] == f"weight >= 0.4, mean with RUN3 ({CHOICE}), RUN2 ({CHOICE})"
    assert [str(view) for view in header_views(header)] == ["attention, mean of 3 runs"]


@pytest.mark.usefixtures("loaded", "blank")
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["RUN3"], "several runs of a direction are joined by --symmetrize mean alone"),
        (["--reverse", "RUN2", "RUN3"], "several runs of a direction are joined by --symmetrize mean alone"),
        (["--symmetrize", "mean"], "--symmetrize needs --reverse"),
        (["--reverse", "RUN2", "--symmetrize", "mean", "--all-heads", "--format", "npz"], "has one view, the mean"),
    ],
)
def test_what_a_mean_needs(flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", "RUN", *flags, "--source", "e.src", "--target", "e.trg", "-o", "out"]) == 2
    assert words in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (["--reverse", "RUN3"], "RUN3: this run translates en to de, and one from de to en is needed here"),
        (["RUN2", "--symmetrize", "mean"], "RUN2: this run translates de to en, and one from en to de is needed here"),
        (["--select", "--reverse", "RUN"], "RUN: this run translates en to de"),
    ],
)
def test_runs_beside_one_another_know_their_directions(
    runs: list[str], words: str, loaded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    output = [] if "--select" in runs else ["-o", "out"]
    assert main(["align", "RUN", *runs, "--source", "e.src", "--target", "e.trg", *output]) == 2
    assert words in capsys.readouterr().err
    assert loaded == [], "it is told before a model is loaded"


@pytest.mark.usefixtures("loaded", "blank")
@pytest.mark.parametrize(
    "command",
    [
        ["align", "RUN", "--source", "e.src", "--target", "e.trg", "-o", "e.trg"],
        ["align", "RUN", "--faithfulness", "--source", "e.src", "--target", "e.trg", "-o", "link"],
        ["aer", "--gold", "e.src", "--links", "e.src", "--per-sentence", "e.src"],
        ["inspect", "e.src", "-o", "e.src"],
        ["translate", "RUN", "e.trg", "e.src", "-o", "e.src"],
    ],
)
def test_nothing_that_is_read_is_written_over(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:  # C09
    Path("link").symlink_to("e.src")
    before = [Path(name).read_bytes() for name in ("e.src", "e.trg")]
    assert main(command) == 2
    assert f"{command[-1]} is read, and would be written over" in capsys.readouterr().err
    assert [Path(name).read_bytes() for name in ("e.src", "e.trg")] == before


@pytest.mark.usefixtures("loaded", "blank")
@pytest.mark.parametrize("format", FORMATS)
def test_given_pairs_are_aligned_line_for_line(format: str) -> None:
    assert main(["align", "RUN", "--source", "e.src", "--target", "e.trg", "-o", "out", "--format", format]) == 0
    if format == "pharaoh":
        assert Path("out").read_bytes() == b"0-1 1-0\n\n\n\n"
    elif format == "nematus":
        assert [line[0] for line in Path("out").read_text(encoding="utf-8").split("\n") if "|||" in line] == list(
            "0123"
        )
    else:
        assert [record.index for record in read_export(Path("out"))] == [0, 1, 2, 3]


@pytest.mark.usefixtures("loaded", "blank")
def test_links_stay_inside_the_sentence() -> None:  # CASES H02
    sources = ["ka", "ka lo mi tu", "漢字 ka", "a"] * 30
    targets = ["AK", "UT", "KA x y z zz", "b c"] * 30
    Path("s").write_text("\n".join(sources) + "\n", encoding="utf-8")
    Path("t").write_text("\n".join(targets) + "\n", encoding="utf-8")
    for extra in ([], ["--threshold", "0.2"], ["--head", "mean"], ["--shift", "0"], ["--reverse", "R2"]):
        assert main(["align", "RUN", "--source", "s", "--target", "t", "-o", "out", *extra]) == 0
        lines = Path("out").read_text(encoding="utf-8").split("\n")[:-1]
        for line, source, target in zip(lines, sources, targets, strict=True):
            for link in line.split():
                s, t = map(int, link.split("-"))
                assert s < len(source.split())
                assert t < len(target.split())


@pytest.mark.usefixtures("loaded", "blank")
def test_the_header_says_which_weights_they_are() -> None:
    arguments = ["align", "RUN", "--source", "e.src", "--format", "npz", "-o"]
    assert main([*arguments, "a.npz"]) == 0
    header = dict(read_header(Path("a.npz")))
    assert header.items() >= {"run": "reversing", "links": "argmax", "pairs": 4}.items()
    assert header_views(header) == [View("attention", 1, 2, 1)]
    assert (header["source_tokenizer"], header["target_tokenizer"]) == ("5" * 64, "7" * 64)
    flags = ["--layer", "-1", "--head", "mean", "--shift", "0", "--threshold", "0.5", "--reverse", "x/R2"]
    assert main([*arguments, "b.npz", *flags, "--symmetrize", "union"]) == 0
    header = dict(read_header(Path("b.npz")))
    assert header_views(header) == [View("attention", 1, None, 0)]
    assert header["links"] == f"weight >= 0.5, union with R2 ({CHOICE})"
    assert main([*arguments, "c.npz", "--links", "mutual"]) == 0
    assert read_header(Path("c.npz"))["links"] == "mutual"


@pytest.mark.usefixtures("loaded", "blank")
def test_further_methods_and_heads_are_further_views() -> None:
    pairs = ["align", "RUN", "--source", "e.src", "--target", "e.trg", "--format", "npz", "-o", "a.npz"]
    methods = ["--method", "erasure", "--method", "attention", "--method", "erasure"]
    assert main([*pairs, *methods, "--all-heads", "--raw"]) == 0
    views = header_views(read_header(Path("a.npz")))
    right, rest = (
        View("attention", 1, 2, 1),
        {View("attention", layer, head, 1) for layer in (0, 1) for head in (0, 1, 2)},
    )
    assert views[:2] == [View("erasure", 0, None, 0), right]
    assert set(views[2:-1]) == rest - {right}
    assert views[-1] == View("erasure", 0, None, 0, raw=True)
    first, *others = read_export(Path("a.npz"))
    assert first.values.shape == (len(views), 3, 3)
    assert first.links == {(1, 0), (0, 1)}, "the first method's"
    assert all(not other.values.any() for other in others)
    assert main([*pairs, "--all-heads"]) == 0
    assert header_views(read_header(Path("a.npz")))[0] == right


@pytest.mark.usefixtures("loaded", "blank")
def test_faithfulness_is_told_line_for_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The model's attention reads one word, a row late, and erasure finds that word."""
    assert main(["align", "RUN", "--faithfulness", "--source", "e.src", "--target", "e.trg", "-o", "f.jsonl"]) == 0
    lines = [json.loads(line) for line in Path("f.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {"index": 0, "tau": 1.0, "agreement": 1.0}
    assert lines[1:] == [{"index": index, "tau": None, "agreement": None} for index in (1, 2, 3)]
    out = capsys.readouterr().out
    assert out.startswith("attention, layer 1, head 2, shift 1 against erasure\nKendall's tau-b: mean 1.000")
    assert out.endswith("1 sentences, 3 more without anything to compare\n")


@pytest.mark.usefixtures("blank")
def test_a_reverse_run_is_loaded_and_its_links_turned(loaded: list[str]) -> None:
    found = {}
    for rule in ("intersection", "union"):
        command = ["align", "RUN", "--source", "e.src", "-o", rule, "--reverse", "R2", "--symmetrize", rule]
        assert main(command) == 0
        found[rule] = [set(line.split()) for line in Path(rule).read_text(encoding="utf-8").split("\n")]
    assert loaded == ["RUN", "R2"] * 2
    assert all(both <= either for both, either in zip(found["intersection"], found["union"], strict=True))  # H10
    assert found["union"][0] == {"0-1", "1-0"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--threshold", "1.5"], "--threshold: 1.5 must be a number above 0 and at most 1"),
        (["--threshold", "abc"], "--threshold: abc"),
        (["--threshold", "nan"], "--threshold: nan"),
        (["--head", "first"], "--head: first must be the number of a head, from 0, or `mean`"),
        (["--symmetrize", "union"], "--symmetrize needs --reverse"),
        (["--symmetrize", "both", "--reverse", "R2"], "both"),
        (["--target", "short.trg"], "e.src has 4 lines but short.trg has 1"),
        (["--target", "gone"], "gone"),
        (["--links", "best"], "--links: invalid choice: 'best'"),
        (["--links", "mutual", "--threshold", "0.5"], "not allowed with argument"),
        (["--method", "magic"], "--method: invalid choice: 'magic'"),
        (["--gold", "e.src"], "--gold needs --select"),
        (["--record"], "--record needs --select"),
        (["--select"], "--output does not go with --select"),
        (["--faithfulness"], "--faithfulness needs --target"),
        (["--all-heads"], "--all-heads: further views are kept by --format npz alone"),
        (["--method", "erasure", "--method", "attention"], "--method: further views are kept by --format npz"),
    ],
)
@pytest.mark.usefixtures("blank")
def test_mistakes_are_told_in_a_line_before_a_model_is_loaded(
    flags: list[str], message: str, loaded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("short.trg").write_text("x\n", encoding="utf-8")
    assert main(["align", "RUN", "--source", "e.src", "-o", "out", *flags]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), message in err) == ("", 1, True)
    assert loaded == []
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--layer", "2"], "the model has 2"),
        (["--head", "3"], "of the model has 3"),
        (["--head", "0", "--method", "erasure"], "--head is of attention, and the method is erasure"),
    ],
)
@pytest.mark.usefixtures("blank", "loaded")
def test_weights_that_the_model_lacks_leave_no_file(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.listdir()
    assert main(["align", "RUN", "--source", "e.src", "-o", "out", *flags]) == 2
    assert message in capsys.readouterr().err
    assert os.listdir() == before


@pytest.fixture
def export(loaded: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run directory with an export of awkward lines (CASES G08, G09)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    lines = ["cost $5 and $6", r"a_b \frac{x}", "漢 字 ك", "", "ka", "../x", "a/b", "ka", *["lo"] * 4]
    Path("s").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["align", "RUN", "--source", "s", "--format", "npz", "-o", "run/alignments/test.npz"]) == 0
    return Path("run")


def test_a_picture_of_a_line(export: Path) -> None:
    for line in range(1, 6):
        assert main(["heatmap", str(export), "--line", str(line), "-o", f"{line}.svg"]) == 0
    assert "$5" in Path("1.svg").read_text(encoding="utf-8")
    assert r"\frac{x}" in Path("2.svg").read_text(encoding="utf-8")
    assert "line 4 (a side is blank)" in Path("4.svg").read_text(encoding="utf-8")


def test_a_picture_for_every_line_has_a_number_for_a_name(export: Path) -> None:
    assert main(["heatmap", str(export), "-o", "out/pictures", "--format", "svg"]) == 0
    assert sorted(os.listdir("out/pictures")) == [f"{line:05d}.svg" for line in range(1, 13)]
    assert os.listdir("out") == ["pictures"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--line", "13", "-o", "a.png"], "no line 13; it holds the lines 1 to 12"),
        (["--line", "0", "-o", "a.png"], "no line 0"),
        (["--line", "1", "-o", "a.bmp"], ".png, .svg, .pdf"),
        (["-o", "a.png"], "give --line N"),
        (["--line", "2", "--gold", "gold", "-o", "a.png"], "gold has 1 lines: none for line 2"),
        (
            ["--line", "1", "--gold", "gold", "-o", "a.png"],
            "gold, line 1: the link 9-0 lies outside the pair of 4 source and 4 target words, counted from 0",
        ),
    ],
)
def test_pictures_that_cannot_be(
    flags: list[str], message: str, export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("gold").write_text("9-0\n", encoding="utf-8")
    assert main(["heatmap", str(export), *flags]) == 2
    assert re.search(re.escape(message), capsys.readouterr().err)
    assert not Path("a.png").exists()


def test_gold_of_the_line_is_outlined(export: Path) -> None:
    Path("gold").write_text("\n0-0 1p1\n", encoding="utf-8")
    assert main(["heatmap", str(export), "--line", "2", "--gold", "gold", "-o", "a.svg"]) == 0
    assert "stroke-dasharray" in Path("a.svg").read_text(encoding="utf-8")


def test_a_page_of_a_run_or_of_an_export(export: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(export), "-o", "a.html"]) == 0
    assert '"run":"reversing"' in Path("a.html").read_text(encoding="utf-8")
    assert main(["align", "RUN", "--source", "s", "--format", "jsonl", "-o", "own.jsonl"]) == 0
    assert main(["inspect", "own.jsonl", "-o", "b.html"]) == 0
    assert '"run":"own"' in Path("b.html").read_text(encoding="utf-8")
    assert main(["inspect", "gone", "-o", "c.html"]) == 2
    assert capsys.readouterr().err.startswith("nmt: error: gone")
