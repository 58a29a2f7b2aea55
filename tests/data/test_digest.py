"""Nothing but the same content has the same digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.data import digest as digests_module
from nmt.data.digest import TextDigest, content_key, file_digest


def test_keys_tell_parts_apart() -> None:
    keys = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        ("c", "ab"),
        ("ab", "c", ""),
        ("", "ab", "c"),
        ("1 a", "b"),
        ("\ud800",),
    ]
    assert len({content_key(*parts) for parts in keys}) == len(keys)
    assert content_key("ab", "c") == content_key("ab", "c")
    assert len(content_key()) == 64


def digest_of(pairs: list[tuple[str, str]]) -> str:
    digest = TextDigest()
    assert list(digest.over(iter(pairs))) == pairs
    return digest.hexdigest()


def test_no_two_corpora_have_one_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the same characters are divided among lines, sides and pairs; over several blocks."""
    monkeypatch.setattr(digests_module, "BLOCK", 2)
    corpora = [
        [],
        [("", "")],
        [("", "")] * 2,
        [("", "")] * 3,
        [("ab", "c")],
        [("a", "bc")],
        [("c", "ab")],
        [("ab", "c"), ("", "")],
        [("", ""), ("ab", "c")],
        [("a", "b"), ("c", "")],
        [("\u00e9", "")],
        [("e\u0301", "")],
        [("a", "b")] * 5,
        [("a", "b")] * 4 + [("ab", "")],
        [("a", "b")] * 3 + [("ab", ""), ("a", "b")],
    ]
    digests = [digest_of(pairs) for pairs in corpora]
    assert len(set(digests)) == len(corpora)
    assert digests == [digest_of(pairs) for pairs in corpora]


def test_a_digest_is_of_all_pairs() -> None:
    digest = TextDigest()
    next(digest.over([("a", "b"), ("c", "d")]))
    with pytest.raises(AssertionError, match="not all pairs"):
        digest.hexdigest()


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    for name, content in (("a", b"1-1\n"), ("b", b"1-1\n"), ("c", b"1-1\r\n")):
        (tmp_path / name).write_bytes(content)
    digests = [file_digest(tmp_path / name) for name in "abc"]
    assert digests[0] == digests[1] != digests[2]
