"""The link format: what is written is read back, both bases agree, mistakes name their line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
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


@given(st.lists(st.frozensets(st.tuples(NUMBERS, NUMBERS)), min_size=1))
@settings(deadline=None)  # a disk may be slow
def test_a_file_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, sentences: list[frozenset]) -> None:
    path = tmp_path_factory.mktemp("links") / "links"
    path.write_text("".join(format_links(links) + "\n" for links in sentences), encoding="utf-8", newline="\n")
    assert read_links(path) == [Links(links, links) for links in sentences]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.wa"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_the_naacl_form_is_known_by_its_content(tmp_path: Path) -> None:
    text = "<alignments>\n0001 1 2 S\n0001 2 1 P 0.75\n\n3 3 1\n03\t1  1 P\r\n3 1 1 S\n0003 0 4 S\n</alignments>\n"
    first = Links(frozenset({(0, 1)}), frozenset({(0, 1), (1, 0)}))
    third = Links(frozenset({(2, 0), (0, 0)}), frozenset({(2, 0), (0, 0)}))
    path = written(tmp_path, text)
    assert read_links(path) == read_links(path, one_based=True) == [first, Links(frozenset(), frozenset()), third]


@pytest.mark.parametrize("line", ["2 1", "2 1 1 X", "1-1", "2 1 -1", "2 1 1 S P", "<s", "2 1 \u0661"])
def test_a_foreign_line_in_the_naacl_form_is_named(line: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"1 1 1 S\n{line}\n")
    with pytest.raises(UserError, match=r"a\.wa, line 2: .* is not `sentence source target \[S\|P\]`"):
        read_links(path)


def test_sentences_of_the_naacl_form_are_counted_from_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.wa, line 1: '0 1 1 S': sentences are counted from 1"):
        read_links(written(tmp_path, "0 1 1 S\n"))


@pytest.mark.parametrize("part", ["dev", "test"])
def test_published_files_read_the_same_in_both_forms(part: str, nmt_data: Path) -> None:
    folder = nmt_data / "alignment" / "hansards_en-fr"
    assert read_links(folder / f"{part}.wa.nonullalign") == read_links(folder / f"{part}.gold")


def test_a_published_file_reads_the_same_in_both_bases(nmt_data: Path) -> None:
    folder = nmt_data / "alignment" / "ro-en"
    from_one = read_links(folder / "roen.gold.1based", one_based=True)
    assert from_one == read_links(folder / "roen.gold")
    assert len(from_one) == 248
