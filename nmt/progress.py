"""How far long work has come, for people: a bar on a terminal, a line now and then in a log. All of it on stderr.

    with progress("translating", unit="lines", total=1000) as bar:
        for line in lines:
            ...
            bar.advance()

A bar stands below what else is said, with rate and time left, and goes when the work is done. A terminal that cannot
move its cursor (TERM=dumb) is treated as a log. Work of half a minute or more leaves a line; shorter work leaves none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

Item = TypeVar("Item")
EVERY = 30.0  # seconds from line to line in a log
FRAME = 0.1  # seconds from picture to picture on a terminal
NARROWEST, WIDEST = 5, 40  # columns of a bar


class Bar:
    """Work under way: what is done of how much. `tell` shows it to whom it may concern, every `period` seconds."""

    def __init__(
        self, what: str, *, unit: str, total: int | None, done: int, tell: Callable[[Bar], None], period: float
    ) -> None:
        self.what = what
        self.unit = unit
        self.total = total
        self.done = self.before = done
        self.tell = tell
        self.period = period
        self.began = monotonic()
        self.due = self.began + period
        self.rate = self.note = ""

    def advance(self, count: int = 1, rate: str = "", note: str = "") -> None:
        """So many more are done. `rate` stands in the place of our own, `note` behind all; both stay until others."""
        self.done += count
        self.rate, self.note = rate or self.rate, note or self.note
        now = monotonic()
        if now >= self.due:
            self.due = now + self.period
            self.tell(self)

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items; each counts as done when the next is asked for."""
        for item in items:
            yield item
            self.advance()

    def seconds(self) -> float:
        """Since it began."""
        return monotonic() - self.began

    def pace(self) -> float:
        """Units a second, all stops counted, or 0 before anything was done."""
        return (self.done - self.before) / max(self.seconds(), 1e-9)

    def figures(self) -> str:
        """What stands beside the bar: how many, how fast, how long still."""
        pace = self.pace()
        of = "" if self.total is None else f"/{self.total:,}"
        parts = [f"{self.done:,}{of} {self.unit}", self.rate or (f"{short(pace)} {self.unit}/s" if pace else "")]
        if self.total is not None and pace:
            parts.append(f"left {clock(max(0, self.total - self.done) / pace)}")
        return "  ".join(filter(None, [*parts, self.note]))


class Screen:
    """The last lines of the terminal, one for each bar, the newest lowest. They are there while any work is."""

    def __init__(self) -> None:
        self.bars: list[Bar] = []
        self.live: Live | None = None
        self.is_silent = False

    @contextmanager
    def showing(self, bar: Bar) -> Iterator[None]:
        """The bar's line is there until the block ends, however it does."""
        self.bars.append(bar)
        self.draw()
        try:
            yield
        finally:
            self.bars.remove(bar)
            self.draw()

    def draw(self) -> None:
        """All bars as they stand. No thread draws: what waits uses no time, and signals meet no lock."""
        if self.live is None:
            self.live = self.start()
        if self.bars:
            self.live.refresh()
        else:
            self.live.stop()
            self.live = None

    def start(self) -> Live:
        """rich's display, which also takes in what others write to stderr meanwhile."""
        from rich.console import Console, Group
        from rich.live import Live

        console = Console(stderr=True)
        live = Live(
            get_renderable=lambda: Group(*(drawn(bar, console.width) for bar in self.bars)),
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
        )
        live.start()
        return live

    def say(self, text: str) -> None:
        """A line above the bars, byte for byte: its markup and emoji codes are text, and only the terminal wraps it."""
        if self.is_silent:
            return
        if self.live is None:
            print(text, file=sys.stderr, flush=True)
            return
        from rich.segment import Segment, Segments

        self.live.console.print(Segments([Segment(f"{text}\n")]), crop=False)


SCREEN = Screen()


@contextmanager
def progress(
    what: str, *, unit: str, total: int | None = None, done: int = 0, shown: bool = True, in_log: bool = True
) -> Iterator[Bar]:
    """Show work while the block lasts: `total` units (None: nobody knows), of which `done` were done before.

    shown: False where another shows it, or where the terminal is needed for something else. in_log: False for work that
    says lines of its own.
    """
    if shown and is_terminal():
        bar = Bar(what, unit=unit, total=total, done=done, tell=lambda _: SCREEN.draw(), period=FRAME)
        with SCREEN.showing(bar):
            yield bar
    else:
        tell = say_figures if shown and in_log else say_nothing
        bar = Bar(what, unit=unit, total=total, done=done, tell=tell, period=EVERY)
        yield bar
    if shown and in_log and bar.seconds() >= EVERY:
        rate = bar.rate or f"{short(bar.pace())} {unit}/s"
        say(f"{what}: {bar.done:,} {unit} in {clock(bar.seconds())}, {rate}")


def drawn(bar: Bar, width: int) -> RenderableType:
    """A bar as one line of a terminal `width` columns wide: its words, and between them the bar where there is room."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    figures = bar.figures()
    room = width - len(f"{bar.what}  {figures}")
    if bar.total is None or room < NARROWEST:
        return Text(f"{bar.what} {figures}", no_wrap=True, overflow="ellipsis")
    row = Table.grid(padding=(0, 1))
    row.add_row(
        Text(bar.what), ProgressBar(total=bar.total, completed=bar.done, width=min(room, WIDEST)), Text(figures)
    )
    return row


def say(text: str) -> None:
    """A line for people, on stderr."""
    SCREEN.say(text)


def keep_silent() -> None:
    """Say nothing from here on: of several processes that do the same, one speaks."""
    SCREEN.is_silent = True


def say_figures(bar: Bar) -> None:
    """The bar in words."""
    say(f"{bar.what}: {bar.figures()}")


def say_nothing(bar: Bar) -> None:
    """For work that nobody watches."""


def is_terminal() -> bool:
    """Whether stderr is a screen whose lines can be written anew."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    return str(timedelta(seconds=round(seconds)))


def short(number: float) -> str:
    """A number with as many digits as a rate deserves."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
