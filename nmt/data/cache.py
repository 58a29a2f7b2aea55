"""What was made once and need not be made again: encoded corpora, kept by what they were made of.

An entry's name is a digest of content, never of a file's name or time: another corpus, tokenizer or filter has another
entry, and the same corpus elsewhere has the same. An entry is renamed into its place, so that it is there whole or not
at all; processes that make the same one at the same time do not disturb one another. Nothing here is ever in the way of
anybody: whatever is in the folder may be removed at any time.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nmt.data.store import FORMAT, PairStore, Unwritable
from nmt.errors import UserError
from nmt.progress import say

FRESH = 60.0  # seconds for which what is being made is not looked at: its maker may not have locked it yet
LOCK = "lock"

Make = Callable[[Path], PairStore]


def cache_folder() -> Path:
    """$NMT_CACHE, else $XDG_CACHE_HOME/nmt, else ~/.cache/nmt; it need not be there. UserError: there is no home."""
    if own := os.environ.get("NMT_CACHE"):
        return Path(own).expanduser()
    if (common := os.environ.get("XDG_CACHE_HOME")) and Path(common).is_absolute():  # its standard ignores others
        return Path(common) / "nmt"
    try:
        return Path.home() / ".cache" / "nmt"
    except RuntimeError as error:
        raise UserError("there is no home folder to keep a cache in: name a folder by NMT_CACHE") from error


def cached_store(key: str, make: Make) -> PairStore:
    """The store of this `content_key`: opened and verified where it is kept, else made by `make` in a folder that is
    not there yet, and kept. What is damaged is made anew.

    Where the cache can't be written (said in a line) `make` is called, once more perhaps, for a store that goes with
    this process. The store stays whole for who has it, whatever becomes of its files.
    """
    try:
        folder = cache_folder() / "encoded"
    except UserError as error:
        return _made_for_once(make, str(error))
    entry = folder / f"{key}-{FORMAT}"
    found = _kept(entry)
    if found is not None:
        return found
    try:
        return _made_to_keep(entry, make)
    except Unwritable as error:
        return _made_for_once(make, f"{error}; name another folder by NMT_CACHE")


def _kept(entry: Path) -> PairStore | None:
    """What is kept there; None where there is nothing, or nothing whole."""
    if not entry.is_dir():
        return None
    try:
        store = PairStore(entry)
        store.verify()
        return store
    except (UserError, OSError, KeyError, TypeError, ValueError) as error:
        say(f"{entry}: damaged, it is made anew ({error})")
        shutil.rmtree(entry, ignore_errors=True)
        return None


def _made_to_keep(entry: Path, make: Make) -> PairStore:
    with _workshop(entry.parent) as own:
        store = make(own / "store")
        for file in (own / "store").iterdir():
            _sync(file)
        try:
            os.rename(own / "store", entry)
        except OSError as error:
            if not entry.is_dir():  # where it is, another process has kept the same one meanwhile
                say(f"{entry}: not kept ({error.strerror or error})")
        _sync(entry.parent)
    return store


def _made_for_once(make: Make, why: str) -> PairStore:
    say(f"{why}; this encoded corpus is not kept")
    return unkept_store(make)


def unkept_store(make: Make) -> PairStore:
    """A store that goes with this process: its files have no names any more when this returns."""
    with tempfile.TemporaryDirectory(prefix="nmt-") as own:
        return make(Path(own) / "store")


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """A folder of our own beside the entries, locked and then removed. What dead processes left there goes first.

    Unwritable: it can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        own = Path(tempfile.mkdtemp(prefix=".", dir=folder))
    except OSError as error:
        raise Unwritable(f"{folder}: cannot be written: {error.strerror or error}") from error
    try:
        with (own / LOCK).open("xb") as lock:
            with suppress(OSError):  # a file system without locks: nobody will think us dead there
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _sweep(folder: Path) -> None:
    for left in folder.glob(".*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > FRESH and not _is_in_use(left):
                shutil.rmtree(left, ignore_errors=True)


def _is_in_use(own: Path) -> bool:
    """Whether a living process, on whatever machine, holds the lock of its folder."""
    try:
        with (own / LOCK).open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _sync(path: Path) -> None:
    """What was written there is on the disk."""
    with suppress(OSError):  # file systems that can't
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
