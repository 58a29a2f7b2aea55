"""Published outputs of fast_align and GIZA++: their error rates, their symmetrisation, and what a misreading shows.

The stored files are not quite those of the published run, so a figure of it is met within 0.1 point, not to the digit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from nmt.align.aer import aer
from nmt.align.links import Link, Rule, symmetrize
from nmt.align.misread import misreadings
from nmt.data.pharaoh import Links, read_links

Corpus = list[frozenset[Link]]

GOLD = {"enfr": "hansards_en-fr/test.gold", "roen": "ro-en/roen.gold"}
PLAIN = ("forward", "reverse", "intersection", "union", "grow-diagonal", "grow-diagonal-final")
STRICT: dict[str, Rule] = {"grow-diagonal": "grow-diag-strict", "grow-diagonal-final": "grow-diag-final-strict"}
# AER in percent of Koehn's rules on the stored forward and reverse links.
KOEHN: tuple[Rule, ...] = ("grow-diag", "grow-diag-final", "grow-diag-final-and")
KOEHN_AER = {
    ("fastalign", "enfr"): (14.59, 18.61, 15.19),
    ("giza", "enfr"): (6.29, 9.15, 6.38),
    ("fastalign", "roen"): (32.03, 33.99, 32.18),
    ("giza", "roen"): (28.22, 29.02, 27.11),
}
FAR = 200  # words; the stored links have no sentences beside them here


class Published(NamedTuple):
    """Gold links, each stored output as (source, target), and AER, precision, recall (percent), links as printed."""

    gold: list[Links]
    stored: dict[str, Corpus]
    printed: dict[str, tuple[float, ...]]

    def error(self, links: Corpus) -> float:
        return 100 * aer(self.gold, links).aer

    def combined(self, rule: Rule) -> Corpus:
        both = zip(self.stored["forward"], self.stored["reverse"], strict=True)
        return [frozenset(symmetrize({*forward}, {*backward}, rule, FAR, FAR)) for forward, backward in both]


@pytest.fixture(scope="module", params=KOEHN_AER, ids="-".join)
def system(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture(scope="module")
def published(system: tuple[str, str], nmt_data: Path) -> Published:
    name, pair = system
    folder = nmt_data / "alignment" / "systems"
    stored = {kind: [one.sure for one in read_links(folder / f"{name}.{pair}.{kind}.talp")] for kind in PLAIN}
    stored["reverse"] = moved(stored["reverse"], swap=True)
    line = re.compile(rf"test\.{pair}\.(\S*)talp: ([\d.]+)% \(([\d.]+)%/([\d.]+)%/(\d+)\)")
    rows = line.findall((folder / f"{name}.{pair}.expected.txt").read_text(encoding="utf-8"))
    printed = {kind.rstrip(".") or "forward": tuple(map(float, figures)) for kind, *figures in rows}
    return Published(read_links(nmt_data / "alignment" / GOLD[pair]), stored, printed)


def moved(corpus: Corpus, step: int = 0, *, swap: bool = False) -> Corpus:
    return [frozenset((t + step, s + step) if swap else (s + step, t + step) for s, t in line) for line in corpus]


@pytest.mark.parametrize("kind", PLAIN)
def test_stored_output_scores_as_published(kind: str, published: Published) -> None:
    score = aer(published.gold, published.stored[kind])
    error, precision, recall, count = published.printed[kind]
    assert 100 * score.aer == pytest.approx(error, abs=0.1)
    assert [100 * score.precision, 100 * score.recall] == pytest.approx([precision, recall], abs=0.15)
    assert score.links == pytest.approx(count, rel=0.003)


@pytest.mark.parametrize("rule", ["intersection", "union"])
def test_two_directions_give_the_stored_links(rule: Rule, published: Published) -> None:
    assert published.combined(rule) == published.stored[rule]


@pytest.mark.parametrize("kind", STRICT)
def test_strict_rules_score_as_published(kind: str, published: Published) -> None:
    error = published.error(published.combined(STRICT[kind]))
    assert error == pytest.approx(published.printed[kind][0], abs=0.1)
    assert error == pytest.approx(published.error(published.stored[kind]), abs=0.05)


@pytest.mark.parametrize("rule", KOEHN)
def test_koehns_rules_score_as_measured_elsewhere(rule: Rule, system: tuple[str, str], published: Published) -> None:
    expected = KOEHN_AER[system][KOEHN.index(rule)]
    assert published.error(published.combined(rule)) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("kind", PLAIN)
def test_only_a_misread_file_looks_misread(kind: str, published: Published) -> None:
    gold, links = published.gold, published.stored[kind]
    assert list(misreadings(gold, links)) == []
    later = [Links(*(frozenset((s + 1, t + 1) for s, t in part) for part in line)) for line in gold]
    assert [one[:2] for one in misreadings(later, links)] == [("gold", "counted from 1")]
    assert [one[:2] for one in misreadings(gold, moved(links, 1))] == [("links", "counted from 1")]
    [exchanged] = misreadings(gold, moved(links, swap=True))
    assert exchanged == ("links", "exchanged", aer(gold, links).aer)


def test_counting_from_the_wrong_number_costs_most_of_the_links(nmt_data: Path) -> None:
    """About 44 instead of 5.9."""
    gold = read_links(nmt_data / "alignment" / GOLD["enfr"])
    stored = read_links(nmt_data / "alignment" / "systems" / "giza.enfr.grow-diagonal.talp")
    assert 100 * aer(gold, moved([line.sure for line in stored], 1)).aer == pytest.approx(44, abs=1)
