"""Files that are there whole or not at all, and folders in which one program at a time writes."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from nmt.errors import UserError

OPEN = re.compile(r"/dev/(stdout|stderr)|(?:/dev/fd|/proc/self/fd)/(\d+)")
DESCRIPTORS = {"stdout": 1, "stderr": 2}
TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.part|\.tmp\w{6}")  # what is written to first: by `open_whole`, by safetensors
LOCK = ".lock"


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by these bytes, as `open_whole` does."""
    with open_whole(path) as file:
        file.write(content)


@contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes its place at `path` when the block ends without an exception. Missing folders are made.

    A library that writes to a path may write to the file's `name` instead. A pipe or device is written directly:
    replacing it would cut off whoever reads it. So is what this process has open (`/dev/stdout`), from where it stands.
    """
    _refuse_directory(path)
    is_open = OPEN.fullmatch(str(path))
    if is_open:
        sys.stdout.flush()
        with open(os.dup(DESCRIPTORS.get(is_open[1]) or int(is_open[2])), "wb") as stream:
            yield stream
        return
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    place = path.resolve()
    temporary = place.with_name(f".{secrets.token_hex(8)}.part")
    created = _create(temporary, path)
    try:
        with created as stream:
            mode = os.fstat(stream.fileno()).st_mode
            yield stream
        with temporary.open("rb") as written:  # a library that was given the name may have put another file there
            os.fchmod(written.fileno(), mode)
            os.fsync(written.fileno())
        os.replace(temporary, place)
    except OSError as error:
        if error.filename is not None:  # of another file than this one, which the caller was reading meanwhile
            raise
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_not_read(path: Path, read: Iterable[Path], name: str) -> None:
    """UserError where the file to be written, which `name` names, is one of those that are read."""
    if path.is_file() and any(other.is_file() and other.samefile(path) for other in read):
        raise UserError(f"{name}: {path} is read, and would be written over")


def check_writable(path: Path) -> None:
    """UserError, before there is anything to write, where no file can be made at `path`. Makes nothing itself."""
    _refuse_directory(path)
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise UserError(f"{path}: cannot be written: {folder} is not a directory")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"{path}: cannot be written: nothing may be made in {folder}")


@contextmanager
def locked(folder: Path, command: str) -> Iterator[int]:
    """Hold the folder, which is made if need be; the lock's file descriptor, by which a process that inherits it holds
    the folder as well. UserError where the same command holds it already. What was made for this goes in the end.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = _lock(folder / LOCK)
    except BlockingIOError as error:
        raise UserError(f"{folder}: another {command} is training here") from error
    try:
        with lock:
            yield lock.fileno()
    finally:
        with suppress(OSError), _lock(folder / LOCK):  # where nobody has inherited it
            (folder / LOCK).unlink()
            if made:
                folder.rmdir()


def _lock(path: Path) -> BinaryIO:
    """The file, made and locked. BlockingIOError where it is locked already."""
    while True:
        file = path.open("wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise
        except OSError:  # a file system without locks: nobody can be kept out
            return file
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # who held it has removed it meanwhile


def sweep(folder: Path) -> None:
    """Remove what writes that a kill cut off have left. Only for who alone writes into the folder."""
    for path in folder.glob(".*"):
        if TEMPORARY.fullmatch(path.name):
            path.unlink()


def _refuse_directory(path: Path) -> None:
    if path.is_dir():
        raise UserError(f"{path} is a directory, where a file is to be written")


def _create(temporary: Path, path: Path) -> BinaryIO:
    try:
        temporary.parent.mkdir(parents=True, exist_ok=True)
        return temporary.open("xb")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
