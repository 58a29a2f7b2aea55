"""What is kept is what would be made, and nothing that happens to the cache is in anybody's way."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from nmt.data import cache
from nmt.data.cache import cache_folder, cached_store, unkept_store
from nmt.data.digest import content_key
from nmt.data.filters import Report
from nmt.data.pairs import IdPair
from nmt.data.store import FORMAT, HEADER, PairStore, Unwritable, write_store
from nmt.errors import UserError

PAIRS = [IdPair(0, [5, 6], [7]), IdPair(2, [8], [9, 10, 11])]
KEY = content_key("a corpus")
ENTRY = f"{KEY}-{FORMAT}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where entries are."""
    monkeypatch.setenv("NMT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "encoded"


class Maker:
    """Writes the pairs, and counts how often."""

    def __init__(self) -> None:
        self.times = 0
        self.places: list[Path] = []

    def __call__(self, directory: Path) -> PairStore:
        self.times += 1
        self.places.append(directory)
        report = Report("corpus", ["one"])
        for pair in PAIRS:
            report.keep(pair.corpus)
        return write_store(PAIRS, directory, report=report, linked=False)


def holds_the_pairs(store: PairStore) -> bool:
    return store.pairs(range(len(store))) == PAIRS and store.report.kept == 2


def test_what_is_kept_is_not_made_again(folder: Path) -> None:
    make = Maker()
    for _ in range(3):
        assert holds_the_pairs(cached_store(KEY, make))
    assert make.times == 1
    assert holds_the_pairs(cached_store(content_key("another"), make))
    assert make.times == 2
    assert {path.name for path in folder.iterdir()} == {ENTRY, f"{content_key('another')}-{FORMAT}"}, "nothing else"


def test_a_store_outlives_the_cache(folder: Path) -> None:
    stores = [cached_store(KEY, Maker()) for _ in range(2)]
    shutil.rmtree(folder.parent)
    assert all(map(holds_the_pairs, stores))


def test_what_is_not_to_be_kept_leaves_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert holds_the_pairs(unkept_store(Maker()))
    assert not list(tmp_path.iterdir())


def test_what_is_damaged_is_made_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file missing, cut off, of other content, of another format, or no store at all."""
    make = Maker()
    cached_store(KEY, make)
    cases: list[tuple[str, bytes | None]] = [("ids", None), ("ids", b""), ("ids", b"x" * 28), ("index", b"x" * 17)]
    cases += [(HEADER, content) for content in (None, b"", b"[]", b'{"format": 1}', b'{"format": 2}', b"\xff")]
    for times, (name, content) in enumerate(cases, start=2):
        (folder / ENTRY / name).unlink()
        if content is not None:
            (folder / ENTRY / name).write_bytes(content)
        assert holds_the_pairs(cached_store(KEY, make))
        assert make.times == times, (name, content)
        assert "damaged" in capsys.readouterr().err
    assert holds_the_pairs(cached_store(KEY, make))
    assert capsys.readouterr().err == ""


def test_a_fault_of_the_corpus_leaves_nothing(folder: Path) -> None:
    def make(directory: Path) -> PairStore:
        Maker()(directory)
        raise UserError("bad.src, line 3")

    with pytest.raises(UserError, match="line 3"):
        cached_store(KEY, make)
    assert not list(folder.iterdir())


def test_two_at_once_both_have_it(folder: Path) -> None:
    """The second to end finds the first one's in its place."""
    inner = Maker()

    def make(directory: Path) -> PairStore:
        store = Maker()(directory)
        assert holds_the_pairs(cached_store(KEY, inner))
        return store

    assert holds_the_pairs(cached_store(KEY, make))
    assert inner.times == 1
    assert [path.name for path in folder.iterdir()] == [ENTRY]
    assert holds_the_pairs(cached_store(KEY, inner))
    assert inner.times == 1


def race(number: int) -> bool:
    return all(holds_the_pairs(cached_store(content_key(str(turn)), Maker())) for turn in range(20))


def test_processes_race(folder: Path) -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert all(pool.map(race, range(4), chunksize=1))
    assert {path.name for path in folder.iterdir()} == {f"{content_key(str(turn))}-{FORMAT}" for turn in range(20)}


@pytest.mark.parametrize("what", ["a file in its place", "no room"])
def test_where_nothing_can_be_kept_work_goes_on(
    what: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once for this process, with a line that says why; nothing is left anywhere."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    make = Maker()
    if what == "no room":

        def full(directory: Path) -> PairStore:
            if directory.is_relative_to(folder):
                raise Unwritable(f"{directory}: cannot be written: No space left on device")
            return make(directory)

        store = cached_store(KEY, full)
        assert not list(folder.iterdir())
    else:
        folder.parent.write_text("")
        store = cached_store(KEY, make)
    assert holds_the_pairs(store)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be written" in told
    assert "NMT_CACHE" in told
    assert make.places[0].is_relative_to(tmp_path / "temporary")
    assert not list((tmp_path / "temporary").iterdir())


def test_a_folder_that_may_only_be_read_serves_what_it_has(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached_store(KEY, Maker())

    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    make = Maker()
    assert holds_the_pairs(cached_store(KEY, make))
    assert make.times == 0


def hold(folder: Path, told: Connection) -> None:
    with cache._workshop(folder) as own:
        (own / "store").mkdir()
        told.send(own)
        signal.pause()


def test_what_the_dead_left_goes_and_what_the_living_make_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alive is who holds the lock: a process that was killed holds none."""
    context = multiprocessing.get_context("fork")
    asked, told = context.Pipe()
    process = context.Process(target=hold, args=(folder, told), daemon=True)
    process.start()
    own = asked.recv()
    monkeypatch.setattr(cache, "FRESH", -1.0)
    cached_store(KEY, Maker())
    assert own.is_dir()
    process.kill()
    process.join()
    monkeypatch.setattr(cache, "FRESH", 60.0)
    cached_store(content_key("soon after"), Maker())
    assert own.is_dir(), "what is young may not be locked yet"
    long_ago = time.time() - 100
    os.utime(own, (long_ago, long_ago))
    cached_store(content_key("later"), Maker())
    assert not own.exists()
    assert (folder / ENTRY / HEADER).exists()


def test_the_folder_is_the_users_choice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("NMT_CACHE", "~/mine")
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.setenv("NMT_CACHE", "")
    assert cache_folder() == tmp_path / "xdg" / "nmt"
    for nothing in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", nothing)
        assert cache_folder() == tmp_path / ".cache" / "nmt"
