"""`nmt data` and `nmt data check` through the front door: what is found, in which lines, and what exit code says."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nmt.cli.main import main

WORDS = ["ka", "lo", "mi", "tu", "re", "so", "fa", "ne", "bi", "do"]
SOURCE, TARGET = Path("a.src"), Path("a.trg")
ENDS = {"source": "src", "target": "trg"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: Path, *lines: bytes, end: bytes = b"\n") -> None:
    path.write_bytes(b"".join(line + end for line in lines))


def toy(count: int, seed: int = 7) -> tuple[list[bytes], list[bytes]]:
    """Sources, no two alike, and their reversed translations."""
    random.seed(seed)
    sources = [[*random.choices(WORDS, k=random.randint(1, 9)), f"x{number}"] for number in range(count)]
    targets = [" ".join(word.upper()[::-1] for word in reversed(words)) for words in sources]
    return [" ".join(words).encode() for words in sources], [target.encode() for target in targets]


def check(*arguments: object, capsys: pytest.CaptureFixture[str], code: int) -> list[dict[str, Any]]:
    """The parts of the report."""
    assert main(["data", "check", "--json", *map(str, arguments)]) == code
    found = json.loads(capsys.readouterr().out)
    parts: list[dict[str, Any]] = found["parts"]
    persons = [f for part in parts for f in part["findings"] if f["severity"] == "person"]
    assert found["needs_a_person"] is bool(persons)
    return parts


def lines(part: dict[str, Any]) -> dict[tuple[str, str | None], list[int]]:
    """Line numbers by kind and side."""
    return {(finding["kind"], finding["side"]): finding["lines"] for finding in part["findings"]}


def test_every_finding_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        SOURCE,
        b"\xef\xbb\xbfka lo\r",
        "mi\u2028tu".encode(),
        b"caf\xe9",
        b"",
        b"",
        b"ka lo",
        b"ka lo",
        b"re",
        "so\xa0fa\u200b".encode(),
        b" ne\x00",
        b"bi " * 12 + b"bi",
        "Ã©".encode(),
    )
    targets = [b"KA LO", b"MI TU", b"CAFE", b"FULL", b"", b"KA LO", b"OTHER", b"re", b"SO FA", b"NE", b"BI", b"E"]
    write(TARGET, *targets)
    (part,) = check(SOURCE, TARGET, "--max-words", 12, capsys=capsys, code=1)
    assert lines(part) == {
        ("utf8", "a.src"): [3],
        ("one_blank", None): [4],
        ("blank", None): [5],
        ("control", "a.src"): [10],
        ("separator", "a.src"): [2],
        ("broken", "a.src"): [12],
        ("duplicate", None): [6],
        ("ambiguous", None): [7],
        ("identical", None): [8],
        ("ratio", None): [11],
        ("long", "a.src"): [11],
        ("bom", "a.src"): [1],
        ("crlf", "a.src"): [1],
        ("spaces", "a.src"): [9],
        ("zero_width", "a.src"): [9],
        ("blanks", "a.src"): [10],
    }
    assert part["findings"][0]["bytes"] == [SOURCE.read_bytes().index(b"\xe9")]
    assert part["histograms"][0]["counts"]["a.trg"][:3] == [1, 7, 4]


def test_all_invalid_bytes_are_counted_and_the_first_lines_shown(capsys: pytest.CaptureFixture[str]) -> None:
    write(SOURCE, *[b"ka caf\xe9"] * 9)
    (part,) = check(SOURCE, "--lines", 2, capsys=capsys, code=1)
    found = part["findings"][0]
    assert (found["kind"], found["count"], found["lines"], found["bytes"]) == ("utf8", 9, [1, 2], [6, 14])
    assert found["excerpt"] == r"ka caf\xe9"


def test_a_whole_corpus_needs_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    for path, side in zip((SOURCE, TARGET), toy(600), strict=True):
        write(path, *side)
    assert main(["data", "check", "a.src", "a.trg"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("train: a.src, a.trg: 600 pairs\n  nothing to tell\n")
    assert err == ""


@pytest.mark.parametrize(("side", "offset"), [(1, -1), (0, 1)])
def test_a_lost_line_is_told_with_both_counts_and_its_place(
    side: int, offset: int, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = toy(600)
    del sides[side][330]
    write(SOURCE, *sides[0])
    write(TARGET, *sides[1])
    assert main(["data", "check", "a.src", "a.trg"]) == 1
    out = capsys.readouterr().out
    assert "600" in out
    assert "599" in out
    (part,) = check(SOURCE, TARGET, capsys=capsys, code=1)
    shift = next(finding for finding in part["findings"] if finding["kind"] == "shift")
    assert shift["offsets"] == [offset]
    assert shift["lines"][0] == pytest.approx(331, abs=5)


def test_leaks_are_told_of_the_held_out_part(capsys: pytest.CaptureFixture[str]) -> None:
    source, target = toy(30)
    write(SOURCE, *source)
    write(TARGET, *target)
    write(Path("v.src"), b"new", source[4], source[5], b"so it is new")
    write(Path("v.trg"), b"NEW", target[4], b"WHICH IS NEW", target[6])
    train, valid = check(SOURCE, TARGET, "--valid", "v.src", "v.trg", capsys=capsys, code=1)
    assert train["findings"] == []
    assert lines(valid) == {("leaked", None): [2], ("leaked_source", None): [3], ("leaked_target", None): [4]}
    assert "line 2 is pair 5 of train" in valid["findings"][0]["detail"]


def test_exchanged_sides(capsys: pytest.CaptureFixture[str]) -> None:
    english = "the {} of this old house is not as {} as the {} that they were with"
    german = "das {} von diesem alten Haus ist nicht so {} wie das {} mit dem sie waren"
    texts = [[text.format(n, 2 * n, 3 * n).encode() for n in range(200)] for text in (english, german)]
    for name, order in (("t", texts), ("v", texts[::-1])):
        for side, text in zip("ab", order, strict=True):
            write(Path(name + side), *text)
    _, valid = check("ta", "tb", "--valid", "va", "vb", capsys=capsys, code=1)
    found = valid["findings"][0]
    assert (found["kind"], found["count"], found["lines"][:2]) == ("exchanged", 200, [1, 2])
    mixed = [[*texts[side][:50], texts[1 - side][50], *texts[side][51:]] for side in (0, 1)]
    write(Path("ta"), *mixed[0])
    write(Path("tb"), *mixed[1])
    (train,) = check("ta", "tb", capsys=capsys, code=0)
    assert lines(train)["swapped", None] == [51]


def test_the_clean_copy_has_nothing_left_to_mend(capsys: pytest.CaptureFixture[str]) -> None:
    random.seed(3)
    odd = ["\x00", "\u2028", "\r", "\xa0", "\u200b", "  ", "\ufeff", "\x85", "\t", "ka", "lo", "é"]
    sides = [["".join(random.choices(odd, k=random.randint(0, 5))).encode() for _ in range(400)] for _ in "st"]
    sides[0][7] = b"caf\xe9"
    write(SOURCE, *sides[0], end=b"\r\n")
    write(TARGET, *sides[1])
    check(SOURCE, TARGET, "--write-clean", "clean", capsys=capsys, code=0)
    (part,) = check("clean/a.src", "clean/a.trg", capsys=capsys, code=0)
    assert {kind for kind, _ in lines(part)} <= {"ambiguous", "identical"}
    removed = [row.split("\t") for row in Path("clean/removed.tsv").read_text(encoding="utf-8").splitlines()]
    assert removed[0] == ["part", "line", "reason"]
    assert ["train", "8", "utf8"] in removed
    assert {row[2] for row in removed[1:]} == {"utf8", "blank", "duplicate"}
    assert part["lines"] == [401 - len(removed)] * 2
    again = [Path("clean", path).read_bytes() for path in (SOURCE, TARGET)]
    check("clean/a.src", "clean/a.trg", "--write-clean", "twice", capsys=capsys, code=0)
    assert [Path("twice", path).read_bytes() for path in (SOURCE, TARGET)] == again


def test_pairs_are_left_out_as_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    source, target = toy(600)
    source[49] = target[119] = b""
    write(SOURCE, *source)
    write(TARGET, *target)
    check(SOURCE, TARGET, "--write-clean", "clean", capsys=capsys, code=0)
    kept = [line for number, line in enumerate(source) if number not in (49, 119)]
    assert Path("clean/a.src").read_bytes().splitlines() == kept
    assert Path("clean/removed.tsv").read_text(encoding="utf-8") == (
        "part\tline\treason\ntrain\t50\tblank\ntrain\t120\tblank\n"
    )


def refused(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line said."""
    assert main(["data", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    return err


def test_no_clean_copy_of_what_a_person_must_decide(capsys: pytest.CaptureFixture[str]) -> None:
    write(SOURCE, b"ka", b"lo", b"mi")
    write(TARGET, b"KA", b"LO")
    before = SOURCE.read_bytes()
    err = refused("check", "a.src", "a.trg", "--write-clean", "clean", capsys=capsys)
    assert "a.src, a.trg have 3 and 2 lines" in err
    assert not Path("clean").exists()
    write(TARGET, b"KA", b"LO", b"MI")
    assert "written over" in refused("check", "a.src", "a.trg", "--write-clean", ".", capsys=capsys)
    assert SOURCE.read_bytes() == before
    assert "one file" in refused("check", "a.src", "--write-clean", "clean", capsys=capsys)


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    write(SOURCE, b"ka")
    assert "nothere" in refused("check", "a.src", "nothere", capsys=capsys)
    assert "given twice" in refused("check", "a.src", "a.src", capsys=capsys)
    assert "which corpus" in refused("check", capsys=capsys)
    assert "not both" in refused("check", "a.src", "data=demo", capsys=capsys)
    assert "settings stand after" in refused("check", "data=demo", "--json", capsys=capsys)
    assert "--lines is 0" in refused("check", "a.src", "--lines", "0", capsys=capsys)
    assert "did you mean 'check'?" in refused("chek", capsys=capsys)
    assert main(["data"]) == 0
    assert "check" in capsys.readouterr().out


def test_a_configuration_names_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    write(SOURCE, b"ka", b"")
    write(TARGET, b"KA", b"LO")
    Path("v.tsv").write_bytes("ka\u2028lo\tKA\n".encode())
    languages = ("data.source_language=xx", "data.target_language=yy", "data.test=null")
    files = [f"data.{part}.{side}=a.{end}" for part in ("train", "valid") for side, end in ENDS.items()]
    train, _ = check("data=files", "data.root=.", *languages, *files, capsys=capsys, code=1)
    assert (train["part"], train["sides"], lines(train)) == ("train", ["a.src", "a.trg"], {("one_blank", None): [2]})
    tables = ["data=tsv", "data.train.path=v.tsv", "data.valid.path=v.tsv"]
    train, valid = check(*tables, *languages, capsys=capsys, code=1)
    assert lines(train) == {("separator", "xx"): [1]}
    assert lines(valid) == {("leaked", None): [1], ("separator", "xx"): [1]}
    assert "another form than plain text" in refused("check", "--write-clean", "c", *tables, *languages, capsys=capsys)


def test_help_loads_nothing_heavy() -> None:
    slow = "{'torch', 'numpy', 'datasets', 'hydra', 'sentencepiece'}"
    code = (
        "import sys; from nmt.cli.main import main; main(['data', 'check', '--help']); "
        f"assert not {slow} & set(sys.modules), {slow} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--write-clean" in done.stdout
