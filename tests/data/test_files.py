"""A file is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nmt.data import files
from nmt.errors import UserError


def test_folders_are_made_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "my, dir (v2)" / "a"
    files.write_atomically(path, b"one")
    files.write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_content_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    files.write_atomically(path, b"old")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full_disk)
    with pytest.raises(UserError, match="cannot be written: No space left"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(UserError, match="cannot be written"):
        files.write_atomically(tmp_path / "a" / "b", b"")


def test_what_could_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made by asking."""
    files.check_writable(tmp_path / "new" / "folder" / "file")
    files.check_writable(Path("/dev/stdout"))
    assert not any(tmp_path.iterdir())
    with pytest.raises(UserError, match="is a directory"):
        files.check_writable(tmp_path)
    monkeypatch.setattr(files.os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match=f"nothing may be made in {tmp_path}"):
        files.check_writable(tmp_path / "new" / "file")


def test_what_is_open_is_written_from_where_it_stands(tmp_path: Path) -> None:
    """`-o /dev/stdout >> file` adds to the file, and takes nothing from it."""
    file = tmp_path / "file"
    file.write_bytes(b"before\n")
    script = "import pathlib, nmt.data.files as f; print('said'); f.write_atomically(pathlib.Path({!r}), b'x\\n')"
    for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        with file.open("ab") as stream:
            subprocess.run([sys.executable, "-c", script.format(path)], stdout=stream, check=True)
    assert file.read_bytes() == b"before\n" + b"said\nx\n" * 3


def test_a_folder_is_held_by_one(tmp_path: Path) -> None:
    """Whether it was there or was made; nothing is left of the lock, nor of a folder that has come to hold nothing."""
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        with files.locked(folder, "nmt train"):
            assert folder.is_dir()
            with (
                pytest.raises(UserError, match=r"b: another nmt train is training here"),
                files.locked(folder, "nmt train"),
            ):
                pass
        assert not folder.exists()
    with files.locked(folder, "nmt train"):
        (folder / "work").touch()
    with files.locked(folder, "nmt train"):
        pass
    assert [path.name for path in folder.iterdir()] == ["work"]


HOLDER = """
import subprocess, sys, time
from pathlib import Path
from nmt.data.files import locked
with locked(Path(sys.argv[1]), "it") as lock:
    print(subprocess.Popen(["sleep", "60"], pass_fds=[lock], stdout=subprocess.DEVNULL).pid, flush=True)
    time.sleep(60)
"""


def test_what_holds_a_folder_is_a_living_process(tmp_path: Path) -> None:
    """A killed one, whose lock stays, keeps nobody out; one that has inherited the lock does."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        heir = int(holder.stdout.readline())
        holder.kill()
    with pytest.raises(UserError, match="another it is training here"), files.locked(tmp_path, "it"):
        pass
    os.kill(heir, signal.SIGKILL)
    assert (tmp_path / files.LOCK).exists()
    for _ in range(100):  # it takes the system a moment
        with contextlib.suppress(UserError), files.locked(tmp_path, "it"):
            break
        time.sleep(0.02)
    assert not (tmp_path / files.LOCK).exists()


def test_a_lock_that_was_removed_meanwhile_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who opened the file just before its holder removed it has to make another."""
    own, calls = files.fcntl.flock, []

    def late(*given: object) -> None:
        own(*given)  # type: ignore[arg-type]
        calls.append(given)
        if len(calls) == 1:
            (tmp_path / ".lock").unlink()

    monkeypatch.setattr(files.fcntl, "flock", late)
    with files.locked(tmp_path, "it"):
        assert (tmp_path / ".lock").exists()
        with pytest.raises(UserError, match="another it"), files.locked(tmp_path, "it"):
            pass


def test_a_file_system_without_locks_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(files.fcntl, "flock", unsupported)
    with files.locked(tmp_path, "it"), files.locked(tmp_path, "it"):
        pass
