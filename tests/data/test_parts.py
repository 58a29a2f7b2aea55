"""Gold links of a part: they fit the pairs, or are refused by line before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.config import DataConfig, FiltersConfig, Leaf
from nmt.data.parts import check_part, has_part, part_corpus, part_links, part_name, part_pairs
from nmt.errors import UserError

FILES = {"_target_": "nmt.data.corpora.files.Files"}


def corpus(folder: Path, gold: str | None) -> DataConfig:
    """Two pairs, of 2 and 3 and of 1 and 2 words."""
    texts = {"src": "ka lo\nmi\n", "trg": "AK OL EB\nIM OS\n", "gold": gold or ""}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    links = None if gold is None else f"{folder}/gold"
    return data_of({**FILES, "source": f"{folder}/src", "target": f"{folder}/trg", "links": links})


def data_of(test: Leaf) -> DataConfig:
    unread = {**FILES, "source": "no.src", "target": "no.trg"}
    return DataConfig("xx", "yy", train=unread, valid=unread, test=test, filters=FiltersConfig())


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


def test_what_a_section_names_is_built_with_the_languages(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"xx": "ka", "yy": "AK"}\n')
    data = data_of({"_target_": "nmt.data.corpora.jsonl.Jsonl", "path": f"{tmp_path}/a.jsonl"})
    assert list(part_pairs(data, "test")) == [("ka", "AK")]
    assert part_name(data, "test") == f"test ({tmp_path}/a.jsonl)"
    members = {"few": data.test, "many": data.test}
    mixed = data_of({"_target_": "nmt.data.corpora.mix.Mix", "corpora": members, "weights": {"few": 1, "many": 3}})
    assert part_corpus(mixed, "test").factors([1, 1]) == [0.5, 1.5]
    assert list(part_pairs(mixed, "test")) == [("ka", "AK")] * 2


@pytest.mark.parametrize(
    ("leaf", "complaint"),
    [
        ({"_target_": "torch.nn.Identity"}, r"data\.test\._target_ is 'torch\.nn\.Identity': .* no class of nmt\.data"),
        ({"_target_": "nmt.data.corpora.tmx.Tmx"}, r"data\.test\.path is missing"),
        ({"_target_": "nmt.data.corpora.tmx.Tmx", "path": 7}, r"data\.test: path is 7: allowed is a file or a list"),
        (
            {"_target_": "nmt.data.corpora.mix.Mix", "corpora": {"a": {**FILES, "source": "a", "target": 7}}},
            r"data\.test\.corpora\.a: target is 7",
        ),
        (
            {"_target_": "nmt.data.corpora.mix.Mix", "corpora": {"a": {**FILES, "source": "a"}}},
            r"data\.test\.corpora\.a\.target is missing",
        ),
    ],
)
def test_sections_that_describe_no_corpus(leaf: Leaf, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        part_corpus(data_of(leaf), "test")


def test_a_part_that_is_not_given() -> None:
    data = data_of(None)  # type: ignore[arg-type]
    assert not has_part(data, "test")
    with pytest.raises(UserError, match=r"data\.test is not given"):
        part_corpus(data, "test")


def test_a_part_without_text(tmp_path: Path) -> None:
    """A16: told before anything is trained."""
    data = corpus(tmp_path, None)
    for content in ("", "\n \n"):
        for name in ("src", "trg"):
            (tmp_path / name).write_text(content)
        with pytest.raises(UserError, match=r"test \(.*\): there is no pair with text on both sides"):
            check_part(data, "test")
