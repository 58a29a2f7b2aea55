"""The link format: what is written is read back, both bases agree, mistakes name their line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.pharaoh import Links, format_links, parse_links, read_links
from nmt.errors import UserError

NUMBERS = st.integers(0, 200)


def test_sure_links_are_possible_too() -> None:
    assert parse_links("0-0 1p2 2?1") == Links(frozenset({(0, 0)}), frozenset({(0, 0), (1, 2), (2, 1)}))


def test_links_unpack_as_sure_and_possible() -> None:
    sure, possible = parse_links("0-1")
    assert sure == possible == {(0, 1)}


def test_counting_from_one() -> None:
    assert parse_links("1-2 3p1", one_based=True) == parse_links("0-1 2p0")


def test_written_links_are_sorted_by_number() -> None:
    assert format_links({(10, 0), (2, 1), (2, 0)}) == "2-0 2-1 10-0"
    assert format_links(set()) == ""


@given(st.frozensets(st.tuples(NUMBERS, NUMBERS)))
def test_reading_undoes_writing(links: frozenset[tuple[int, int]]) -> None:
    assert parse_links(format_links(links)) == Links(links, links)


@pytest.mark.parametrize("field", ["1", "1-", "-1-2", "1-2-3", "a-b", "1_2", "1-2,3-4", "\u0661-1"])
def test_what_is_no_link_is_refused(field: str) -> None:
    with pytest.raises(UserError, match="is not a link"):
        parse_links(f"0-0 {field}")


def test_files_keep_empty_lines_and_name_the_wrong_one(tmp_path: Path) -> None:
    path = tmp_path / "a.links"
    path.write_text("0-0\n\n  \n1-1\n", encoding="utf-8", newline="\n")
    assert [len(links.sure) for links in read_links(path)] == [1, 0, 0, 1]
    with pytest.raises(UserError, match=r"a\.links, line 1: '0-0': words are counted from 1"):
        read_links(path, one_based=True)


def test_a_published_file_reads_the_same_in_both_bases(nmt_data: Path) -> None:
    folder = nmt_data / "alignment" / "ro-en"
    from_one = read_links(folder / "roen.gold.1based", one_based=True)
    assert from_one == read_links(folder / "roen.gold")
    assert len(from_one) == 248
