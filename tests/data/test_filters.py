"""Pairs are dropped as pairs, each for one reason, and counted; every limit keeps its own value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.config import FiltersConfig
from nmt.data.corpora.corpus import Pair
from nmt.data.filters import Dropped, Filters, Report, _Numbers
from nmt.data.pairs import IdPair, TextPair
from nmt.errors import UserError

EVERY = FiltersConfig(
    max_words=3, max_ratio=2.0, identical=True, duplicates=True, overlap=True, script=True, characters=True
)
lines = st.text(st.sampled_from("ab \t\r\u00e9\u03b1\u2028\u0007"), max_size=6)


def reasons(filters: Filters, pairs: Sequence[Pair]) -> list[str | None]:
    return [filters.of_text(TextPair(index, *pair)) for index, pair in enumerate(pairs)]


def by_pieces(config: FiltersConfig | None, sizes: Sequence[tuple[int, int]]) -> list[str | None]:
    filters = Filters(config)
    return [filters.of_pieces(IdPair(0, [7] * source, [7] * target)) for source, target in sizes]


def unread() -> Iterator[Pair]:
    raise AssertionError("this is read only if a filter needs it")
    yield


def test_one_sided_blanks_do_not_shift_the_other_side() -> None:
    pairs = [(f"s{line}", f"t{line}") for line in range(600)]
    pairs[49], pairs[119] = ("", "t49"), ("s119", " \t")
    found = reasons(Filters(), pairs)
    assert [line for line, reason in enumerate(found) if reason] == [49, 119]
    assert {found[49], found[119]} == {"blank"}


def test_numbers_and_marks_are_no_blanks() -> None:
    assert reasons(Filters(FiltersConfig()), [("0", "0"), ("-", "."), ("0", "\u3000\u00a0")]) == [None, None, "blank"]


def test_the_limit_of_pieces_itself_is_kept_on_either_side() -> None:
    sizes = [(9, 1), (10, 10), (11, 1), (1, 11), (0, 5), (5, 0)]
    expected = [None, None, "max_pieces", "max_pieces", "blank", "blank"]
    assert by_pieces(FiltersConfig(max_pieces=10), sizes) == expected


def test_without_a_configuration_only_blank_pairs_go() -> None:
    assert by_pieces(None, [(5000, 7), (1, 5000), (0, 3)]) == [None, None, "blank"]
    assert reasons(Filters(held_out=unread(), sample=unread()), [("a", "a"), ("a", "a"), ("\x07", "a")]) == [None] * 3


def test_the_ratio_itself_is_kept_whichever_side_is_longer() -> None:
    sizes = [(2, 3), (3, 2), (2, 4), (4, 2), (1, 1)]
    assert by_pieces(FiltersConfig(max_ratio=1.5), sizes) == [None, None, "max_ratio", "max_ratio", None]


def test_words_stand_between_spaces() -> None:
    filters = Filters(FiltersConfig(max_words=3))
    pairs = [("a b c", "a"), ("a b c d", "a"), ("a", "a b c d"), ("  a   b\tx  c\ty ", "a")]
    assert reasons(filters, pairs) == [None, "max_words", "max_words", None]


def test_identical_sides_are_those_that_differ_by_outer_blanks_at_most() -> None:
    pairs = [("Firefox", " Firefox "), ("Firefox", "firefox"), ("a b", "a  b")]
    assert reasons(Filters(FiltersConfig(identical=True)), pairs) == ["identical", None, None]


def test_a_pair_that_has_come_before_is_a_duplicate() -> None:
    filters = Filters(FiltersConfig(duplicates=True))
    pairs = [("a", "x"), ("a", "y"), ("b", "x"), ("a", " x"), ("x", "a"), ("A", "x")]
    assert reasons(filters, pairs) == [None, None, None, "duplicates", None, None]


def test_a_duplicate_of_a_pair_that_was_left_out_has_that_reason() -> None:
    filters = Filters(FiltersConfig(duplicates=True, max_words=1))
    assert reasons(filters, [("a b", "x"), ("a b", "x")]) == ["max_words"] * 2


def test_overlap_is_of_one_side_with_the_same_side() -> None:
    filters = Filters(FiltersConfig(overlap=True), held_out=[("dev s", "dev t"), ("test s", "")])
    pairs = [("dev s", "x"), ("x", "dev t "), ("dev t", "dev s"), ("test s", "x"), ("dev s.", "x"), ("Dev s", "x")]
    assert reasons(filters, pairs) == ["overlap", "overlap", None, "overlap", None, None]


@pytest.mark.parametrize("code", [0x07, 0x0D, 0x7F, 0x85, 0xFFFD, 0xE000, 0xFDD0, 0x10FFFF, 0xD800])
def test_broken_characters_on_either_side(code: int) -> None:
    filters = Filters(FiltersConfig(characters=True))
    assert reasons(filters, [(f"a{chr(code)}", "b"), ("a", f"{chr(code)}b")]) == ["characters"] * 2


@pytest.mark.parametrize(
    "sound", ["\t", "\u00a0", "\u200d", "\u2028", "\u202b", "\u00ad", "e\u0301", "\U0001f600", "क्"]
)
def test_rare_characters_are_not_broken(sound: str) -> None:
    assert reasons(Filters(FiltersConfig(characters=True)), [(f"a{sound}b", sound + "c")]) == [None]


def test_a_script_is_learnt_and_half_of_another_is_allowed() -> None:
    sample = [("Это дом", "a house"), ("да", "yes"), ("OK", "да")]
    filters = Filters(FiltersConfig(script=True), sample=sample)
    pairs = [("дом abc", "house"), ("дом abcd", "house"), ("дом", "дом"), ("12 - 3", "№ 5"), ("a house", "дом")]
    assert reasons(filters, pairs) == [None, "script", "script", None, "script"]


def test_a_sample_without_letters_leaves_all_scripts_in() -> None:
    assert reasons(Filters(FiltersConfig(script=True), sample=[("1", "2")]), [("abc", "дом")]) == [None]


def test_sides_that_look_alike_are_told_once_and_no_pair_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    same = [(f"the {name} house is over there", f"the {name} house is over there") for name in "abcdefghij" * 20]
    filters = Filters(FiltersConfig(language=True), sample=same)
    assert set(reasons(filters, same)) == {None}
    assert capsys.readouterr().err.count("data.filters.language") == 1


def test_what_a_filter_does_not_need_is_not_read() -> None:
    Filters(FiltersConfig(duplicates=True, identical=True), held_out=unread(), sample=unread())


@given(st.lists(st.tuples(lines, lines), max_size=12))
def test_each_pair_is_counted_once_and_written_on_one_line(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair]
) -> None:
    path = tmp_path_factory.mktemp("dropped") / "dropped.tsv"
    filters = Filters(EVERY, held_out=[("a", "b")], sample=[("a", "b")])
    report, kept = Report("train", ["x", "y"]), []
    with Dropped(path, report.names) as dropped:
        for index, (source, target) in enumerate(pairs):
            pair = TextPair(index, source, target, corpus=index % 2)
            if reason := filters.of_text(pair):
                report.drop(pair.corpus, reason)
                dropped.write(pair, reason)
            else:
                report.keep(pair.corpus)
                kept.append(pair)
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert report.kept + report.dropped.total() == len(pairs)
    assert report.kept == len(kept)
    assert [len(row) for row in rows] == [5] * report.dropped.total()
    assert sorted([int(row[0]) - 1 for row in rows] + [pair.index for pair in kept]) == list(range(len(pairs)))
    assert all((pair.source, pair.target) == pairs[pair.index] for pair in kept)


def test_a_line_of_the_dropped_file(tmp_path: Path) -> None:
    with Dropped(tmp_path / "new" / "dropped.tsv", ["web", "books"]) as dropped:
        dropped.write(TextPair(41, "a\tb\u2028c", "\rd\ud800", corpus=1), "characters")
    content = (tmp_path / "new" / "dropped.tsv").read_bytes()
    assert content == b"42\tbooks\tcharacters\ta b c\t d\\ud800\n"


def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"), Dropped(tmp_path / "file" / "dropped.tsv"):
        pytest.fail("work began")


def test_an_interrupted_run_leaves_no_half_of_a_dropped_file(tmp_path: Path) -> None:
    def interrupted() -> None:
        with Dropped(tmp_path / "dropped.tsv") as dropped:
            dropped.write(TextPair(0, "a", ""), "blank")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_the_report_is_a_line_a_member() -> None:
    report = Report("train", ["a.en, a.gl", "b"])
    for _ in range(598):
        report.keep(0)
    for reason in ("blank", "max_pieces", "max_pieces"):
        report.drop(0, reason)
    report.keep(1)
    assert report.describe() == (
        "train (a.en, a.gl): 598 pairs kept, 3 dropped: 2 max_pieces, 1 blank\ntrain (b): 1 pair kept, none dropped"
    )
    assert report.kept == 599
    assert Report("valid").describe() == "valid: 0 pairs kept, none dropped"


def test_the_report_outlives_its_process() -> None:
    report = Report("train", ["a", "b"])
    report.keep(1)
    report.drop(0, "blank")
    again = Report.from_dict(report.as_dict())
    assert again.as_dict() == report.as_dict()
    assert again.describe() == report.describe()
    again.keep(0)
    assert report.kept == 1


def test_the_set_of_numbers_is_a_set() -> None:
    draw = Random(1)
    one_place = [1024 * step for step in range(100)]
    numbers = one_place + [draw.getrandbits(64) for _ in range(5000)] + [2**64 - 1, 0]
    numbers += draw.sample(numbers, 2000)
    ours, theirs = _Numbers(), set[int]()
    for number in numbers:
        assert ours.add(number) == (number not in theirs)
        theirs.add(number)
