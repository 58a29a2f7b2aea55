"""Scripts by the names of letters; a detector that tells the sides of its own corpus, and knows when it can't."""

from __future__ import annotations

import random

import pytest

from nmt.data.languages import CLEAR, FEWEST, Detector, is_foreign, main_script, usual_script

ENGLISH = "the house on hill was old and dark when we came there with our friends from town to look for water"
GERMAN = "das haus auf dem berg war alt und dunkel als wir dort mit unseren freunden ankamen um wasser zu suchen"


def made_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    sides = ENGLISH.split(), GERMAN.split()
    return [(" ".join(draw.choices(sides[0], k=8)), " ".join(draw.choices(sides[1], k=8))) for _ in range(count)]


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector(made_pairs(200))


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Straße, naïve", "Latin"),
        ("\uff57\uff49\uff44\uff45", "Latin"),
        ("μῆνιν ἄειδε θεά", "Greek"),
        ("Дом № 5", "Cyrillic"),
        ("שלום", "Hebrew"),
        ("مرحبا", "Arabic"),
        ("नमस्ते", "Devanagari"),
        ("สวัสดี", "Thai"),
        ("我们去学校", "Han"),
        ("東京へ行きます", "Japanese"),
        ("ｶﾞｿﾘﾝ", "Japanese"),
        ("東京에 갑니다", "Korean"),
        ("我用 Windows 操作系统", "Latin"),  # seven letters of it against six
        ("12:30 - 5 % …", None),
        ("µ º ª ℃ 𝑥²", None),
        ("", None),
    ],
)
def test_the_script_of_most_letters(text: str, script: str | None) -> None:
    assert main_script(text) == script


def test_the_usual_script_is_counted_by_lines() -> None:
    assert usual_script(["a", "b", "12", "", "длинная строка"]) == "Latin"
    assert usual_script(["1", ""]) is None


@pytest.mark.parametrize(
    ("line", "script", "foreign"),
    [
        ("東京", "Japanese", False),
        ("カタカナ", "Japanese", False),
        ("東京 and", "Japanese", True),
        ("東京 or", "Japanese", False),
        ("大韓", "Korean", False),
        ("ひらがな", "Han", True),
        ("Größe", "Latin", False),
        ("Größe", "Greek", True),
        ("дом", "Latin", True),
        ("99 %", "Greek", False),
        ("дом", None, False),
        ("", "Latin", False),
    ],
)
def test_more_than_half_of_the_letters_are_of_another_script(line: str, script: str | None, foreign: bool) -> None:
    assert is_foreign(line, script) == foreign


def test_the_sides_of_pairs_not_seen_are_told(detector: Detector) -> None:
    for source, target in made_pairs(100, seed=1):
        assert detector.margin(source) > CLEAR
        assert detector.margin(target) < -CLEAR
        assert not detector.misplaced(source, target)


def test_swapped_and_copied_sides_are_misplaced(detector: Detector) -> None:
    for source, target in made_pairs(100, seed=2):
        assert detector.misplaced(target, source)
        assert detector.misplaced(source, source)
        assert detector.misplaced(target, target)


@pytest.mark.parametrize("line", ["", "1234567890 " * 5, "!!! --- ???", "Water", "Friends Town", "W" * (FEWEST - 1)])
def test_short_lines_and_numbers_are_not_judged(detector: Detector, line: str) -> None:
    assert detector.margin(line) == 0
    assert not detector.misplaced(line, line)


def test_a_line_of_as_few_letters_as_can_be_judged_is(detector: Detector) -> None:
    line = "the old hill was"[: FEWEST + 3]  # three spaces, which are no letters
    assert sum(map(str.isalpha, line)) == 13
    assert detector.margin(line) == 0
    assert detector.margin(line + " on") > 0


def test_case_marks_and_digits_do_not_matter(detector: Detector) -> None:
    assert detector.margin("THE HOUSE, ON (the) Hill: 17 was") == detector.margin("the house on the hill was")


def test_a_third_of_wrong_pairs_does_not_mislead_it() -> None:
    wrong = [
        (target, source) if place % 6 == 0 else (source, source) if place % 6 == 1 else (source, target)
        for place, (source, target) in enumerate(made_pairs(600))
    ]
    learnt = Detector(wrong)
    right = made_pairs(100, seed=3)
    assert learnt.tells_apart
    assert not any(learnt.misplaced(source, target) for source, target in right)
    assert all(learnt.misplaced(target, source) and learnt.misplaced(source, source) for source, target in right)


@pytest.mark.parametrize("kind", ["the same text", "the same language", "reversed words", "no text", "three pairs"])
def test_sides_that_cannot_be_told_apart_leave_all_lines_unjudged(kind: str) -> None:
    pairs = {
        "the same text": [(source, source) for source, _ in made_pairs(200)],
        "the same language": list(
            zip(*[[source for source, _ in made_pairs(200, seed)] for seed in (4, 5)], strict=True)
        ),
        "reversed words": [(source, " ".join(reversed(source.split()))) for source, _ in made_pairs(200)],
        "no text": [],
        "three pairs": made_pairs(3),
    }[kind]
    learnt = Detector(pairs)
    assert not learnt.tells_apart
    assert not any(learnt.margin(line) for pair in made_pairs(20) for line in pair)


def test_an_alphabet_of_thousands_is_told_too() -> None:
    draw = random.Random(6)
    early, late = (range(0x4E00 + first, 0x4E00 + first + 1200) for first in (0, 900))  # a quarter is shared
    pairs = [tuple("".join(map(chr, draw.choices(side, k=20))) for side in (early, late)) for _ in range(400)]
    learnt = Detector(pairs[:300])
    assert learnt.tells_apart
    assert sum(learnt.misplaced(*pair) for pair in pairs[300:]) <= 2
    assert sum(learnt.misplaced(*reversed(pair)) for pair in pairs[300:]) >= 98
