"""Commands that work long tell how far they are on stderr, and write what they would have written anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt import progress
from tests.integration.toy import Done, nmt, read, write
from tests.test_progress import on_terminal, seen

EVERY_BATCH = ("search.batch_tokens=200",)


def run(command: str, model: Path, toy: Path, output: Path) -> tuple[Done, bytes]:
    """What the command gave, and the file that it wrote if it writes one."""
    source = write(output.with_name("source"), *read(toy / "rev.test.src"), "")
    target = write(output.with_name("target"), *read(toy / "rev.test.trg"), "")
    arguments = {
        "translate": ("translate", model, source, *EVERY_BATCH),
        "filter": ("translate", model, *EVERY_BATCH),
        "score": ("score", model, "--source", source, "--target", target),
        "align": ("align", model, "--source", source, "--target", target, "-o", output),
        "align own": ("align", model, "--source", source, "-o", output, *EVERY_BATCH),
    }[command]
    done = nmt(*arguments, stdin=source.read_bytes())
    return done, output.read_bytes() if output.exists() else b""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("translate", "translating: 41/41 lines"),
        ("filter", "translating: 41 lines"),
        ("score", "scoring: 41/41 pairs"),
        ("align", "aligning: 41/41 lines"),
        ("align own", "aligning: 41/41 lines"),
    ],
)
def test_long_work_is_told_of_and_results_stay_the_same(
    command: str, said: str, early: Path, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is long from no time at all here. What is done never goes back, and ends at all 41 lines, blank ones too."""
    quiet = run(command, early, toy, tmp_path / "quiet")
    monkeypatch.setattr(progress, "EVERY", 0.0)
    told = run(command, early, toy, tmp_path / "told")
    assert quiet[0] == told[0]._replace(err="")
    assert quiet[1] == told[1]
    *lines, closing = told[0].err.splitlines()
    assert lines[-1].startswith(said)
    assert closing.startswith(f"{said.split(':')[0]}: 41 ")
    done = [int(line.split()[1].partition("/")[0]) for line in lines]
    assert done == sorted(done)
    assert len(done) > 1 or command == "score"


def test_a_bar_beside_the_results(early: Path, toy: Path) -> None:
    """stderr is a terminal and stdout a pipe: a bar while it works, notes above it, the same results."""
    source = toy / "rev.test.src"
    settings = ("search.max_ratio=0", "search.max_offset=1")
    plain = nmt("translate", early, source, *settings)
    assert plain.err, "every line is cut, which gives a note each"
    arguments = ["translate", str(early), str(source), *settings]
    received, out = on_terminal(f"import sys; from nmt.cli.main import main; sys.exit(main({arguments!r}))")
    assert out == plain.out
    assert seen(received) == plain.err.splitlines()
    assert "/40 lines" in received
