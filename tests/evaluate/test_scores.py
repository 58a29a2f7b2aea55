"""Scores against published figures, figures known by hand, and the sacrebleu command on the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.data.lines import read_lines
from nmt.errors import UserError
from nmt.evaluate.scores import bleu, chrf, evaluate, ter

HYPOTHESES = [
    "the red cat sat on the old mat .",
    "a small dog ran in the big park",
    "we like to read books at night",
]
REFERENCES = [
    "the red cat sat on the old mat .",
    "a small dog ran in the big park today",
    "we like to read good books at night",
]
WMT17 = [  # newstest2017 en-de, sacrebleu 2.6.0: BLEU, chrF2, TER
    ("uedin-nmt", 28.30, 57.72, 61.20),
    ("SYSTRAN", 26.71, 55.58, 61.09),
    ("online-B", 26.65, 56.26, 63.19),
    ("LIUM-NMT", 26.60, 55.93, 63.25),
    ("PROMT-Rule-based", 16.61, 50.36, 75.16),
]


@pytest.mark.parametrize(("system", "expected_bleu", "expected_chrf", "expected_ter"), WMT17)
def test_wmt17(nmt_data: Path, system: str, expected_bleu: float, expected_chrf: float, expected_ter: float) -> None:
    folder = nmt_data / "wmt17_systems"
    hypotheses, reference = list(read_lines(folder / f"{system}.de")), list(read_lines(folder / "reference.de"))
    assert bleu(hypotheses, [reference]).score == pytest.approx(expected_bleu, abs=0.005)
    assert chrf(hypotheses, [reference]).score == pytest.approx(expected_chrf, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(("system", "expected_bleu", "expected_chrf", "expected_ter"), WMT17)
def test_wmt17_ter(
    nmt_data: Path, system: str, expected_bleu: float, expected_chrf: float, expected_ter: float
) -> None:
    folder = nmt_data / "wmt17_systems"
    hypotheses, reference = list(read_lines(folder / f"{system}.de")), list(read_lines(folder / "reference.de"))
    assert ter(hypotheses, [reference]).score == pytest.approx(expected_ter, abs=0.005)


def test_three_sentences() -> None:
    """I01, with all lines there."""
    scores = evaluate(HYPOTHESES, [REFERENCES])
    assert scores.bleu.score == pytest.approx(83.46, abs=0.005)
    assert scores.chrf.score == pytest.approx(87.42, abs=0.005)
    assert scores.lines == 3


def test_ter_by_hand() -> None:
    """Two words are missing out of 9 + 9 + 8."""
    assert ter(HYPOTHESES, [REFERENCES]).score == pytest.approx(100 * 2 / 26)


def test_unequal_counts_are_refused() -> None:
    """I01: sacrebleu's own function would score the common part."""
    with pytest.raises(UserError, match=r"2 lines but reference 1 has 3"):
        evaluate(HYPOTHESES[:2], [REFERENCES])
    with pytest.raises(UserError, match=r"3 lines but reference 2 has 15"):
        evaluate(HYPOTHESES, [REFERENCES, REFERENCES * 5])  # I08, the other way round
    with pytest.raises(UserError, match=r"15 lines but reference 1 has 3"):
        evaluate([line for line in HYPOTHESES for _ in range(5)], [REFERENCES])  # I08: five-best


@pytest.mark.parametrize(("hypotheses", "references"), [([], [[]]), (["a"], [])])
def test_nothing_to_score(hypotheses: list[str], references: list[list[str]]) -> None:
    with pytest.raises(UserError, match="nothing to score"):
        evaluate(hypotheses, references)


def test_permuted_lines_score_far_lower() -> None:
    """I04: the references are nested as sacrebleu wants them, and a second one can only help."""
    rotated = HYPOTHESES[1:] + HYPOTHESES[:1]
    assert bleu(rotated, [REFERENCES]).score == pytest.approx(1.69, abs=0.005)
    assert bleu(HYPOTHESES, [REFERENCES, HYPOTHESES]).score == pytest.approx(100)
    assert bleu(rotated, [REFERENCES, HYPOTHESES]).score < 5


def test_signature_tells_the_tokenisation() -> None:
    """I02: 13a splits the punctuation off, so this is 100; without it the score is 22.09."""
    score = bleu(["The cat isn't here , is it ?"], [["The cat isn't here, is it?"]])
    assert score.score == pytest.approx(100)
    assert "tok:13a" in score.signature
    assert "case:mixed" in score.signature
    assert "nrefs:1" in score.signature


def test_unknown_word_marks_are_text() -> None:
    """I06: nothing passes through a vocabulary on its way to the metric."""
    assert bleu(["This is a new <unk>."], [["This is a new <<unk>>."]]).score == pytest.approx(55.97, abs=0.005)


def test_interval_holds_the_score_and_is_the_same_again() -> None:
    first = evaluate(HYPOTHESES * 20, [REFERENCES * 20], confidence=True)
    for score in first:
        assert score.low is not None
        assert score.high is not None
        assert score.low < score.score < score.high
        assert "bs:1000" in score.signature
    assert first == evaluate(HYPOTHESES * 20, [REFERENCES * 20], confidence=True)


def test_interval_where_some_samples_score_zero() -> None:
    """One line of three has letters in common with its reference; sacrebleu's own interval raises TypeError here."""
    score = chrf(["abc", "xx", "yy"], [["abd", "zz", "ww"]], confidence=True)
    assert score.low is not None
    assert score.high is not None
    assert score.low <= score.score <= score.high


def test_interval_of_a_zero_score() -> None:
    assert chrf(["x"], [["y"]], confidence=True).low == 0.0


def test_prints_itself_and_serialises() -> None:
    scores = evaluate(HYPOTHESES, [REFERENCES])
    lines = str(scores).splitlines()
    assert lines[0].split()[:2] == ["BLEU", "83.46"]
    assert lines[0].endswith(scores.bleu.signature)
    assert lines[3] == "3 lines"
    values = scores.as_dict()
    assert list(values) == ["bleu", "chrf", "ter", "lines"]
    assert values["bleu"] == {
        "score": scores.bleu.score,
        "signature": scores.bleu.signature,
        "low": None,
        "high": None,
    }
