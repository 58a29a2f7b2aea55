import json
import re
from pathlib import Path

import pytest

from nmt.align.aer import aer
from nmt.cli.main import main
from nmt.data.pharaoh import Links, parse_links, read_links

GOLD = {"enfr": "hansards_en-fr/test.gold", "roen": "ro-en/roen.gold"}
# The published file gives this system's links in both directions under other names.
STORED = {"": "forward", "reverse.": "reverse"}


def links(text: str) -> Links:
    return parse_links(text)


def test_by_hand() -> None:
    gold, predicted = [links("0-0 1-1 2p1 2p2")], [{(0, 0), (2, 1), (2, 2), (3, 3)}]
    score = aer(gold, predicted)
    assert (score.precision, score.recall) == (3 / 4, 1 / 2)
    assert score.f1 == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert score.aer == pytest.approx(1 - (1 + 3) / (4 + 2))
    assert (score.lines, score.links) == (1, 4)


def test_a_corpus_is_summed_before_it_is_divided() -> None:
    gold = [links("0-0"), links("0-0 1-1 2-2 3-3")]
    predicted = [{(0, 1)}, {(0, 0), (1, 1), (2, 2), (3, 3)}]
    assert aer(gold, predicted).aer == pytest.approx(1 - 8 / 10)
    assert [aer([line], [found]).aer for line, found in zip(gold, predicted, strict=True)] == [1, 0]


def test_a_share_of_nothing_is_one() -> None:
    nothing = aer([links("")], [set()])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.aer) == (1, 1, 1, 0)
    silent = aer([links("0-0")], [set()])
    assert (silent.precision, silent.recall, silent.f1, silent.aer) == (1, 0, 0, 1)


def test_unequal_numbers_of_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="2 sentences of gold links, but 1 "):
        aer([links(""), links("")], [set()])


@pytest.mark.parametrize("system", ["fastalign", "giza"])
@pytest.mark.parametrize("pair", GOLD)
def test_published_table(system: str, pair: str, nmt_data: Path) -> None:
    folder = nmt_data / "alignment" / "systems"
    gold = read_links(nmt_data / "alignment" / GOLD[pair])
    line = re.compile(rf"test\.{pair}\.(\S*)talp: ([\d.]+)% \(([\d.]+)%/([\d.]+)%/(\d+)\)")
    rows = line.findall((folder / f"{system}.{pair}.expected.txt").read_text(encoding="utf-8"))
    rows = [row for row in rows if "bpe.word" not in row[0]]
    assert len(rows) >= 5
    for name, *published, count in rows:
        path = folder / f"{system}.{pair}.{STORED.get(name, name.rstrip('.'))}.talp"
        predicted = [swap(one.sure) if name == "reverse." else one.sure for one in read_links(path)]
        score = aer(gold, predicted)
        error, *shares = map(float, published)
        assert 100 * score.aer == pytest.approx(error, abs=0.1), name
        # The stored links are not quite those of the published run, so precision and recall move a little more.
        assert [100 * score.precision, 100 * score.recall] == pytest.approx(shares, abs=0.15), name
        assert score.links == pytest.approx(int(count), rel=0.003), name


def swap(pairs: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    return frozenset((t, s) for s, t in pairs)


def test_a_file_read_with_the_wrong_base_shows(nmt_data: Path) -> None:
    folder = nmt_data / "alignment"
    gold = read_links(folder / "ro-en" / "roen.gold.1based", one_based=True)
    assert gold == read_links(folder / "ro-en" / "roen.gold")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "gold").write_text("1-1 2p2\n\n2-1\n", encoding="utf-8")
    (tmp_path / "links").write_text("0-0 1-1\n\n1-1\n", encoding="utf-8")
    return str(tmp_path / "gold"), str(tmp_path / "links")


def test_command_prints_the_score(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    gold, predicted = files
    assert main(["aer", "--gold", gold, "--links", predicted, "--one-based", "gold", "--json"]) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["precision"] == pytest.approx(2 / 3)
    assert (score["recall"], score["lines"], score["links"]) == (0.5, 3, 3)
    assert score["aer"] == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert main(["aer", "--gold", gold, "--links", gold, "--one-based"]) == 0
    assert "AER        0.0000\n" in capsys.readouterr().out


def test_command_refuses_unequal_files(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    gold, predicted = files
    with open(predicted, "a", encoding="utf-8") as file:
        file.write("0-0\n")
    assert main(["aer", "--gold", gold, "--links", predicted]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"{gold} has 3 lines" in err
    assert f"{predicted} has 4" in err
