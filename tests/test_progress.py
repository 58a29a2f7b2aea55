"""Progress: rates and times that can be checked by hand, logs that stay short, and a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from nmt import progress as module
from nmt.progress import Bar, clock, drawn, progress, say, short

SENTENCE = "update 3: a [bold]word[/bold] :smile: [link=x]" + " and\tmany more words" * 11 + ". E N D"


class Watch:
    """A clock that stands still until it is told to go."""

    def __init__(self) -> None:
        self.now = 1009.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(module, "monotonic", watch)
    return watch


def silent_bar(total: int | None, done: int = 0) -> Bar:
    return Bar("reading", unit="lines", total=total, done=done, tell=lambda _: None, period=1.0)


def test_time_left_is_of_what_this_sitting_did(watch: Watch) -> None:
    """300 lines in 20 seconds, the 100 of before left out: the other 600 take 40."""
    bar = silent_bar(total=1000, done=100)
    assert bar.figures() == "100/1,000 lines"
    watch.now += 20
    bar.advance(300)
    assert bar.figures() == "400/1,000 lines  15 lines/s  left 0:00:40"


def test_a_stream_has_a_rate_alone(watch: Watch) -> None:
    bar = silent_bar(total=None)
    watch.now += 4
    bar.advance(14)
    assert bar.figures() == "14 lines  3.5 lines/s"


def test_rate_and_note_stay_until_others_come(watch: Watch) -> None:
    bar = silent_bar(total=None)
    bar.advance(1, rate="23 tokens/s", note="loss 2.5")
    bar.advance(1)
    assert bar.figures() == "2 lines  23 tokens/s  loss 2.5"
    bar.advance(0, note="loss 2.4")
    assert bar.figures() == "2 lines  23 tokens/s  loss 2.4"


def test_over_counts_what_was_used(watch: Watch) -> None:
    """An item that is still being worked on is not done."""
    bar = silent_bar(total=3)
    assert [(item, bar.done) for item in bar.over("abc")] == [("a", 0), ("b", 1), ("c", 2)]
    assert bar.done == 3


def test_short_work_says_nothing_in_a_log(watch: Watch, capsys: pytest.CaptureFixture[str]) -> None:
    with progress("scoring", unit="pairs", total=7) as bar:
        for _ in range(7):
            watch.now += module.EVERY / 8
            bar.advance()
    assert capsys.readouterr() == ("", "")


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(watch: Watch, capsys: pytest.CaptureFixture[str]) -> None:
    """70 seconds, a pair each: lines after 30 and 60, and what it was in all."""
    with progress("scoring", unit="pairs", total=70) as bar:
        for _ in range(70):
            watch.now += 1
            bar.advance()
    assert capsys.readouterr().err.splitlines() == [
        "scoring: 30/70 pairs  1 pairs/s  left 0:00:40",
        "scoring: 60/70 pairs  1 pairs/s  left 0:00:10",
        "scoring: 70 pairs in 0:01:10, 1 pairs/s",
    ]


@pytest.mark.parametrize("quiet", [{"shown": False}, {"in_log": False}])
def test_nobody_is_told_who_should_not_be(
    quiet: dict[str, bool], watch: Watch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("training", unit="updates", **quiet) as bar:  # type: ignore[arg-type]
        watch.now += 997
        bar.advance()
    assert capsys.readouterr() == ("", "")


def test_work_that_fails_has_no_closing_line(watch: Watch, capsys: pytest.CaptureFixture[str]) -> None:
    def divide() -> float:
        with progress("dividing", unit="numbers"):
            watch.now += 997
            return 1 / 0

    with pytest.raises(ZeroDivisionError):
        divide()
    assert capsys.readouterr() == ("", "")


def test_rates_and_clocks() -> None:
    assert [short(number) for number in (1234.5, 10, 9.87, 0.0432)] == ["1,234", "10", "9.9", "0.043"]
    assert clock(3725.4) == "1:02:05"


@pytest.mark.parametrize("width", [1, 7, 23, 47, 79, 211])
def test_a_bar_is_one_line_of_any_terminal(width: int, watch: Watch) -> None:
    from rich.console import Console

    bar = silent_bar(total=1000)
    watch.now += 20
    bar.advance(300, note="[bold]loss[/bold] :smile:")
    console = Console(width=width, force_terminal=True, color_system=None)
    lines = console.render_lines(drawn(bar, width), pad=False)
    text = "".join(segment.text for segment in lines[0])
    assert len(lines) == 1
    assert len(text) <= width
    if width >= 79:
        assert text.endswith("300/1,000 lines  15 lines/s  left 0:00:47  [bold]loss[/bold] :smile:")


def on_terminal(code: str, **environment: str) -> tuple[str, str]:
    """(what arrives on an 80 column terminal that is stderr, what arrives on stdout) of a program."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**kept, "TERM": "xterm", **environment},
    )
    os.close(slave)
    received = b""
    while block := read_terminal(master):
        received += block
    os.close(master)
    out, _ = process.communicate()
    assert process.returncode == 0, received.decode()
    return received.decode(), out.decode()


def read_terminal(master: int) -> bytes:
    """What the program wrote next; Linux answers EIO when it has ended."""
    try:
        return os.read(master, 65536)
    except OSError:
        return b""


def seen(received: str) -> list[str]:
    """The lines that a terminal of unlimited width shows at the end, blank ones left out."""
    lines: list[str] = [""]
    row = column = 0
    for token in re.findall(r"\x1b\[\??[0-9;]*[A-Za-z]|.", received, re.DOTALL):
        if token == "\r":
            column = 0
        elif token == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif token.endswith("A") and token.startswith("\x1b"):
            row -= int(token[2:-1] or 1)
        elif token == "\x1b[2K":
            lines[row] = ""
        elif not token.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + token + lines[row][column + 1 :]
            column += 1
    return [line for line in map(str.rstrip, lines) if line]


# Longer than the terminal is wide, markup and emoji codes, within two bars; a library that prints; results on stdout.
PROGRAM = f"""
import sys
from nmt import progress as module
from nmt.progress import progress, say
module.FRAME = 0.0
with progress("training", unit="updates", total=3) as bar:
    bar.advance(1, rate="[bold]7[/bold] tokens/s")
    say({SENTENCE!r})
    with progress("validating", unit="lines", total=2) as inner:
        print("result")
        for line in inner.over(["a", "b"]):
            say(line)
        print("a warning", file=sys.stderr)
    bar.advance(2)
say("done")
"""
LINES = [SENTENCE, "a", "b", "a warning", "done"]


def test_lines_pass_above_the_bars_undamaged() -> None:
    received, out = on_terminal(PROGRAM)
    assert seen(received) == LINES, "and the bars are gone"
    assert out == "result\n"
    for shown in ("training", "1/3 updates  [bold]7[/bold] tokens/s", "validating", "1/2 lines", "3/3 updates", "━"):
        assert shown in received
    assert received.endswith("\x1b[?25h\rdone\r\n"), "the cursor is back"


def test_no_colour_where_none_is_wanted() -> None:
    colour = re.compile(r"\x1b\[[0-9;]*m")
    assert colour.search(on_terminal(PROGRAM)[0])
    received, _ = on_terminal(PROGRAM, NO_COLOR="1")
    assert not colour.search(received)
    assert seen(received) == LINES


def test_a_terminal_that_cannot_move_its_cursor_is_a_log() -> None:
    received, out = on_terminal(PROGRAM, TERM="dumb")
    assert received.split("\r\n") == [*LINES, ""]
    assert out == "result\n"
    long = PROGRAM.replace("module.FRAME", "module.EVERY")
    assert "training: 1/3 updates  [bold]7[/bold] tokens/s" in on_terminal(long, TERM="dumb")[0]


def test_a_bar_goes_when_its_work_fails() -> None:
    failing = """
from nmt.progress import progress, say
try:
    with progress("training", unit="updates", total=3) as bar:
        raise KeyboardInterrupt
except KeyboardInterrupt:
    say("stopped")
"""
    received, _ = on_terminal(failing)
    assert "0/3 updates" in received
    assert seen(received) == ["stopped"]


def test_rich_is_loaded_for_a_bar_alone() -> None:
    code = """
import sys
from nmt.progress import progress, say
with progress("scoring", unit="pairs", total=3) as bar:
    bar.advance()
    say("said")
print("rich" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "said\n")
    assert on_terminal(code)[1] == "True\n"


def test_a_line_without_bars_goes_to_stderr_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    say("[bold]\t:smile:")
    assert capsys.readouterr() == ("", "[bold]\t:smile:\n")
