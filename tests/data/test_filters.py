"""Pairs are dropped as pairs, and counted; the length limit is in pieces without EOS and includes its own value."""

from __future__ import annotations

from nmt.data.filters import IdPair, Report, TextPair, drop_blanks, drop_unfit


def test_one_sided_blanks_do_not_shift_the_other_side() -> None:
    pairs = [(f"s{line}", f"t{line}") for line in range(600)]
    pairs[49], pairs[119] = ("", "t49"), ("s119", " \t")
    report = Report("train")
    kept = list(drop_blanks(pairs, report))
    assert len(kept) == 598
    assert report.blank == 2
    assert all((pair.source, pair.target) == (f"s{pair.index}", f"t{pair.index}") for pair in kept)
    assert kept[49] == TextPair(50, "s50", "t50")


def test_the_limit_itself_is_kept_on_either_side() -> None:
    sizes = [(9, 1), (10, 10), (11, 1), (1, 11), (0, 5), (5, 0)]
    pairs = [IdPair(line, [7] * source, [7] * target) for line, (source, target) in enumerate(sizes)]
    report = Report("train")
    assert [pair.index for pair in drop_unfit(pairs, 10, report)] == [0, 1]
    assert (report.kept, report.long, report.blank) == (2, 2, 2)


def test_without_a_limit_only_pairs_without_pieces_go() -> None:
    report = Report("dev")
    assert len(list(drop_unfit([IdPair(0, [7] * 5000, [7])], None, report))) == 1


def test_the_report_is_one_line() -> None:
    report = Report("a.en + a.gl", kept=598, blank=2, long=1)
    assert report.describe() == "a.en + a.gl: 598 pairs kept, 2 dropped for a blank side, 1 dropped for length"
