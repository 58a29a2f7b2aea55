"""Gold links of a part: they fit the pairs, or are refused by line before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.config import DataConfig, FilesConfig
from nmt.data.parts import check_part, part_links
from nmt.errors import UserError


def corpus(folder: Path, gold: str | None) -> DataConfig:
    """Two pairs, of 2 and 3 and of 1 and 2 words."""
    texts = {"src": "ka lo\nmi\n", "trg": "AK OL EB\nIM OS\n", "gold": gold or ""}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    links = None if gold is None else f"{folder}/gold"
    test = FilesConfig(f"{folder}/src", f"{folder}/trg", links)
    return DataConfig("xx", "yy", root=".", train=test, valid=test, test=test, hub=None, max_length=9)


def test_links_of_each_pair(tmp_path: Path) -> None:
    data = corpus(tmp_path, "0-0 1p2\n\n")
    check_part(data, "test")
    found = part_links(data, "test")
    assert found is not None
    assert [(set(links.sure), set(links.possible)) for links in found] == [
        ({(0, 0)}, {(0, 0), (1, 2)}),
        (set(), set()),
    ]


def test_none_are_given(tmp_path: Path) -> None:
    assert part_links(corpus(tmp_path, None), "test") is None


@pytest.mark.parametrize(
    ("gold", "complaint"),
    [
        ("0-0\n", r"gold has 1 lines but test \(.*src, .*trg\) has 2 pairs"),
        (
            "0-0\n1-0\n",
            r"gold, line 2: the link 1-0 lies outside the pair of 1 source and 2 target words, counted from 0",
        ),
        ("0-3\n\n", r"gold, line 1: the link 0-3 lies outside the pair of 2 source and 3 target words"),
        ("0-0\n0_0\n", r"gold, line 2: '0_0' is not a link"),
    ],
)
def test_links_that_do_not_fit(tmp_path: Path, gold: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        check_part(corpus(tmp_path, gold), "test")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    data = corpus(tmp_path, "")
    (tmp_path / "gold").unlink()
    with pytest.raises(UserError, match="gold: No such file"):
        check_part(data, "test")
