"""A file is there whole or not at all."""

from __future__ import annotations

import subprocess
import sys
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
