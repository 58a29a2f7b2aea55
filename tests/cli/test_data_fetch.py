"""`nmt data fetch` and `nmt data list` through the front door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.cli.main import main
from nmt.compose import compose
from nmt.data.parts import part_links, part_pairs

SETTINGS = ("data.root=here", "data.source_language=xx", "data.target_language=yy")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    for part in ("train", "valid", "test"):
        Path(f"here/{part}.xx").write_text(f"{part} ka\n\n", encoding="utf-8")
        Path(f"here/{part}.yy").write_text(f"AK {part}\nMI\n", encoding="utf-8")
    Path("here/gold").write_text("0-1 1p0\n\n", encoding="utf-8")


def run(*arguments: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> tuple[str, str]:
    assert main(["data", *arguments]) == code
    out, err = capsys.readouterr()
    return out, err


def test_it_says_what_it_got_and_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    settings = (*SETTINGS, "data.test.links=here/gold")
    out, err = run("fetch", "files", "-o", "there", *settings, capsys=capsys)
    assert err == ""
    assert "train    2 pairs, 1 with a blank side, 8 and 10 characters (here/train.xx, here/train.yy), first:" in out
    assert "train ka\n         AK train\n" in out
    use = out.rstrip("\n").rpartition("\n")[2].removeprefix("use      nmt train ").split()
    data = compose(use).data
    for part in ("train", "valid", "test"):
        assert list(part_pairs(data, part)) == [(f"{part} ka", f"AK {part}"), ("", "MI")]
    links = part_links(data, "test")
    assert links is not None
    assert (set(links[0].sure), set(links[0].possible)) == ({(0, 1)}, {(0, 1), (1, 0)})


def test_a_recipe_says_its_licence(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run("fetch", "demo", capsys=capsys)
    assert "licence  MIT, as all of this project\nsource   made by scripts/make_demo_corpus.py\n" in out
    assert "test     500 pairs, " in out
    assert out.endswith("use      nmt train data=demo\n")


def test_what_is_only_for_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    test = "data.test={_target_: nmt.data.corpora.files.Files, source: here/test.xx, target: here/test.yy}"
    out, _ = run("fetch", "base", "-o", "there", *SETTINGS, test, capsys=capsys)
    assert out.endswith("use      nmt evaluate RUN --source there/test.xx --reference there/test.yy\n")
    out, _ = run("fetch", "base", *SETTINGS, test, capsys=capsys)
    assert "use      for evaluation; as files by nmt data fetch base -o DIR data.root=here " in out


def test_an_empty_part_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("xx", "yy"):
        Path(f"here/valid.{language}").write_text("\n", encoding="utf-8")
    out, err = run("fetch", "files", "-o", "there", *SETTINGS, capsys=capsys, code=1)
    assert (out, err.count("\n")) == ("", 1)
    assert "valid (here/valid.xx, here/valid.yy): there is no pair with text on both sides" in err
    assert not [path for path in Path("there").rglob("*") if path.is_file()]


def test_settings_stand_last(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = run("fetch", "files", *SETTINGS, "-o", "there", capsys=capsys, code=2)
    assert err == "nmt: error: data.root=here: settings stand after files and options\n"
    _, err = run("fetch", "files", "--lines", "3", capsys=capsys, code=2)
    assert err.startswith("nmt: error: unrecognized arguments: --lines 3")


def test_sides_of_one_language_are_not_written_over_one_another(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("data.root=here", "data.source_language=xx", "data.target_language=xx")
    _, err = run("fetch", "files", "-o", "there", *settings, capsys=capsys, code=2)
    assert "data.source_language and data.target_language are both 'xx'" in err
    assert err.count("\n") == 1
    assert not Path("there").exists()
    run("fetch", "files", *settings, capsys=capsys)


def test_no_such_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = run("fetch", "multi30", capsys=capsys, code=2)
    assert "did you mean multi30k" in err
    assert err.count("\n") == 1


def test_list_has_every_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    from nmt.data.fetch.recipes import recipes

    names = [recipe.name for recipe in recipes()]
    out, _ = run("list", capsys=capsys)
    assert [line.split()[0] for line in out.splitlines()] == ["name", *names]
    assert "demo  " in out
    rows = json.loads(run("list", "--json", capsys=capsys)[0])
    assert [row["name"] for row in rows] == names
    demo = next(row for row in rows if row["name"] == "demo")
    assert demo["languages"] == "en-gl"
    assert all(row[key] for row in rows for key in ("size", "licence", "source"))
