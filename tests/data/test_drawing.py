"""The plain cut is SentencePiece's, random ones have the probabilities of the papers, and every process draws alike."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data import drawing, model_proto
from nmt.data.drawing import BpeDropout, Pieces, UnigramSampling
from nmt.data.model_proto import PIECE, TYPE, specials_first
from nmt.data.special import UNK
from nmt.data.tokenizer import Tokenizer

SYLLABLES = ["ka", "lo", "mi", "tu", "re", "so"]
SYMBOLS = ["<2en>", "lomi", "x,y"]
MODELS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bytes": {"byte_fallback": True, "vocab_size": 330},
    "symbols": {"user_defined_symbols": SYMBOLS},
    "across words": {"split_by_whitespace": False, "vocab_size": 120},
    "space behind": {"treat_whitespace_as_suffix": True},
    "all spaces": {
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "allow_whitespace_only_pieces": True,
        "normalization_rule_name": "identity",
    },
    "symbols and bytes": {"user_defined_symbols": SYMBOLS, "byte_fallback": True, "vocab_size": 330},
}
PARTS = st.sampled_from([*SYLLABLES, *SYMBOLS, "k", "a", " ", "  ", "aa", "lom", "漢", "字", "😀", "\ufb01", "q", "7"])
LINES = st.one_of(st.text(), st.lists(PARTS, max_size=40).map("".join))


def lines() -> list[str]:
    generator = random.Random(5)
    words = ["".join(generator.choices(SYLLABLES, k=generator.randint(1, 4))) for _ in range(40)]
    return [
        "  ".join(generator.choices(words, k=6)) if n % 2 else " ".join(generator.choices(words, k=6))
        for n in range(300)
    ]


def trained(kind: str, **options: Any) -> bytes:
    writer = BytesIO()
    more = {"vocab_size": 70, "model_type": kind, "hard_vocab_limit": False, "pad_id": 3, "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines()), model_writer=writer, **more)
    return specials_first(writer.getvalue())


@pytest.fixture(scope="module")
def tokenizers() -> dict[tuple[str, str], Tokenizer]:
    return {
        (kind, name): Tokenizer(model=trained(kind, **options))
        for kind in ("bpe", "unigram")
        for name, options in MODELS.items()
    }


def test_the_models_are_what_they_are_for(tokenizers: dict[tuple[str, str], Tokenizer]) -> None:
    for kind in ("bpe", "unigram"):
        texts = {name: list(tokenizers[kind, name]._drawer._pieces.ids) for name in MODELS}
        assert any("\u2581" in text[1:] for text in texts["across words"])
        assert any(text.endswith("\u2581") for text in texts["space behind"])
        assert "\u2581\u2581" in texts["all spaces"] or kind == "unigram"
        assert len(tokenizers[kind, "bytes"]._drawer._pieces.bytes) == 256


def normalised(tokenizer: Tokenizer, line: str) -> str:
    return str(tokenizer._processor.normalize(line))


@pytest.mark.parametrize("short", [drawing.SHORT, 0])
@settings(max_examples=300)
@given(name=st.sampled_from(list(MODELS)), line=LINES)
def test_bpe_without_dropout_is_the_cut_of_sentencepiece(
    tokenizers: dict[tuple[str, str], Tokenizer], short: int, name: str, line: str
) -> None:
    tokenizer = tokenizers["bpe", name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "SHORT", short)
        assert tokenizer._drawer.draw(normalised(tokenizer, line), 0.0, 1) == tokenizer.encode(line)


@settings(max_examples=200)
@given(name=st.sampled_from(list(MODELS)), line=LINES, alpha=st.floats(0, 1), seed=st.integers())
def test_long_stretches_are_merged_as_short_ones(
    tokenizers: dict[tuple[str, str], Tokenizer], name: str, line: str, alpha: float, seed: int
) -> None:
    tokenizer = tokenizers["bpe", name]
    text = normalised(tokenizer, line)
    drawn = []
    for short in (0, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(drawing, "SHORT", short)
            drawn.append(tokenizer._drawer.draw(text, alpha, seed))
    assert drawn[0] == drawn[1]


@settings(max_examples=300)
@given(name=st.sampled_from(list(MODELS)), line=LINES)
def test_the_limit_of_unigram_sampling_is_the_cut_of_sentencepiece(
    tokenizers: dict[tuple[str, str], Tokenizer], name: str, line: str
) -> None:
    """Cuts of one score are alike: they may differ."""
    tokenizer = tokenizers["unigram", name]

    def score(ids: Sequence[int]) -> float:
        return sum(tokenizer._processor.get_score(id) for id in ids)

    drawn, plain = tokenizer.sample(line, 1e6, 1), tokenizer.encode(line)
    assert score(drawn) == pytest.approx(score(plain), abs=1e-3)
    assert tokenizer.decode(drawn, unknown="?") == tokenizer.decode(plain, unknown="?")
    assert [id for id in drawn if id == UNK or tokenizer._processor.is_byte(id)] == [
        id for id in plain if id == UNK or tokenizer._processor.is_byte(id)
    ]


def unigram(**scores: float) -> UnigramSampling:
    return UnigramSampling(Pieces({text: id for id, text in enumerate(scores, start=4)}, scores, {}, ()))


def bpe(*texts: str, unused: Sequence[str] = (), symbols: Sequence[str] = ()) -> BpeDropout:
    """The first text is the best one."""
    ids = {text: id for id, text in enumerate([*texts, *symbols], start=4)}
    scores = {text: float(-rank) for rank, text in enumerate(texts)}
    pieces = {text: ids[text] for text in texts if text not in unused}
    return BpeDropout(Pieces(pieces, scores, {symbol: ids[symbol] for symbol in symbols}, ()))


def agree(draw: Callable[[int], Sequence[int]], expected: Mapping[tuple[int, ...], float], count: int = 4000) -> None:
    """Pearson's test: the statistic is near its degrees of freedom, five standard deviations at most."""
    assert sum(expected.values()) == pytest.approx(1)
    counts = Counter(tuple(draw(seed)) for seed in range(count))
    assert set(counts) <= {cut for cut, chance in expected.items() if chance > 0}
    likely = {cut: count * chance for cut, chance in expected.items() if count * chance > 5}
    rest = count - sum(likely.values())
    distance = sum((counts[cut] - mean) ** 2 / mean for cut, mean in likely.items())
    assert distance < len(likely) + 5 * math.sqrt(2 * len(likely))
    assert abs(sum(counts.values()) - sum(counts[cut] for cut in likely) - rest) <= 5 * math.sqrt(rest + 1)


def test_two_cuts_have_the_odds_of_their_scores() -> None:
    drawer = unigram(a=math.log(0.2), b=math.log(0.3), ab=math.log(0.5))
    whole = math.sqrt(0.5) / (math.sqrt(0.5) + math.sqrt(0.2 * 0.3))
    agree(lambda seed: drawer.draw("ab", 0.5, seed), {(6,): whole, (4, 5): 1 - whole})


def all_cuts(tokenizer: Tokenizer, text: str) -> list[tuple[int, ...]]:
    if not text:
        return [()]
    known = tokenizer._drawer._pieces.ids
    return [
        (known[text[:end]], *rest)
        for end in range(1, len(text) + 1)
        if text[:end] in known
        for rest in all_cuts(tokenizer, text[end:])
    ]


@pytest.mark.parametrize("alpha", [0.01, 0.2, 1.0])
@pytest.mark.parametrize(("name", "line"), [("plain", "kalomi tu soso"), ("across words", "tu soso kalo")])
def test_every_cut_has_its_probability(
    tokenizers: dict[tuple[str, str], Tokenizer], name: str, line: str, alpha: float
) -> None:
    tokenizer = tokenizers["unigram", name]
    cuts = all_cuts(tokenizer, normalised(tokenizer, line))
    assert len(cuts) >= 18
    weights = [math.exp(alpha * sum(map(tokenizer._processor.get_score, cut))) for cut in cuts]
    agree(
        lambda seed: tokenizer.sample(line, alpha, seed),
        {cut: weight / sum(weights) for cut, weight in zip(cuts, weights, strict=True)},
    )


def test_an_unknown_character_has_the_penalty_of_sentencepiece() -> None:
    """The worst score less 10 for x, so that the cut by itself weighs exp(-1 - 11) and the one in `ax` exp(-3)."""
    drawer = UnigramSampling(Pieces({"a": 4, "ax": 5, "b": 6}, {"a": -1.0, "ax": -3.0, "b": -2.0}, {}, ()))
    alpha = 0.2
    apart, together = math.exp(alpha * (-1 - 13)), math.exp(alpha * -3)
    whole = together / (apart + together)
    agree(lambda seed: drawer.draw("ax", alpha, seed), {(5,): whole, (4, UNK): 1 - whole})


def outcomes(symbols: tuple[str, ...], scores: Mapping[str, float], alpha: float) -> dict[tuple[str, ...], float]:
    """Algorithm 1 of Provilkov et al. 2020, with every choice followed."""
    merges = [place for place in range(len(symbols) - 1) if symbols[place] + symbols[place + 1] in scores]
    merges.sort(key=lambda place: (-scores[symbols[place] + symbols[place + 1]], place))
    found: Counter[tuple[str, ...]] = Counter({symbols: alpha ** len(merges)})
    for rank, place in enumerate(merges):
        merged = (*symbols[:place], symbols[place] + symbols[place + 1], *symbols[place + 2 :])
        for end, chance in outcomes(merged, scores, alpha).items():
            found[end] += alpha**rank * (1 - alpha) * chance
    return dict(found)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("short", [drawing.SHORT, 0])
def test_bpe_dropout_is_that_of_the_paper(monkeypatch: pytest.MonkeyPatch, short: int, alpha: float) -> None:
    monkeypatch.setattr(drawing, "SHORT", short)
    drawer = bpe("ab", "bc", "abc", "cd", "aa", "abcd", "a", "b", "c", "d")
    ids, scores = drawer._pieces.ids, drawer._pieces.scores

    def chances(word: str) -> dict[tuple[int, ...], float]:
        found = outcomes(tuple(word), scores, alpha)
        return {tuple(ids[symbol] for symbol in end): chance for end, chance in found.items()}

    for word in ("abcd", "aabc", "aaaa"):
        agree(partial(drawer.draw, word, alpha), chances(word))
    one = chances("abc")
    two = {first + second: one[first] * one[second] for first in one for second in one}
    agree(partial(drawer.draw, "abcabc", alpha), two)  # no piece holds "ca": two stretches


def test_what_one_merge_in_two_looks_like() -> None:
    """`ab` is dropped one time in four, once: nothing else could be merged."""
    drawer = bpe("ab", "a", "b")
    agree(lambda seed: drawer.draw("ab", 0.25, seed), {(4,): 0.75, (5, 6): 0.25})
    agree(lambda seed: drawer.draw("aba", 0.25, seed), {(4, 5): 0.75, (5, 6, 5): 0.25})


def test_an_unused_piece_is_a_step_on_the_way_and_no_end() -> None:
    drawer = bpe("ab", "cd", "abcd", "abcde", "a", "b", "c", "d", "e", unused=["ab", "abcd"])
    assert drawer.draw("abcde", 0, 0) == [7]
    assert drawer.draw("abcd", 0, 0) == [8, 9, 5]


@given(line=LINES)
def test_unused_pieces_are_taken_apart_as_by_sentencepiece(some_unused: Tokenizer, line: str) -> None:
    assert some_unused._drawer.draw(normalised(some_unused, line), 0.0, 1) == some_unused.encode(line)


@pytest.fixture(scope="module")
def some_unused() -> Tokenizer:
    """Every other piece of several characters is unused (type 5)."""
    numbered = enumerate(model_proto._fields(trained("bpe")))
    model = b"".join(
        model_proto._field(PIECE, field.value + model_proto._field(TYPE, 5))
        if place % 2 and 4 < place < 50
        else field.raw
        for place, field in numbered
        if isinstance(field.value, bytes)
    )
    tokenizer = Tokenizer(model=model)
    assert len(tokenizer._drawer._pieces.scores) == len(tokenizer._drawer._pieces.ids) + 23
    assert all(len(text) > 1 for text in tokenizer.pieces(range(4, 50)))
    return tokenizer


def test_symbols_are_never_cut_or_joined_and_the_longest_is_found() -> None:
    drawer = bpe("ab", "a", "b", "s", symbols=["s", "sab"])
    assert drawer.draw("absabs", 0, 0) == [4, 9, 8]
    assert {tuple(drawer.draw("sabsab", 0.9, seed)) for seed in range(50)} == {(9, 9)}


def test_a_run_of_unknown_characters_is_one() -> None:
    assert bpe("a").draw("a漢字a漢", 0.5, 1) == [4, UNK, 4, UNK]
    assert unigram(a=-1.0).draw("漢字漢a字", 0.5, 1) == [UNK, 4, UNK]


def test_what_is_kept_is_bounded_and_changes_nothing(
    tokenizers: dict[tuple[str, str], Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = tokenizers["bpe", "plain"]
    before = [tokenizer.sample(line, 0.3, seed) for seed, line in enumerate(lines())]
    monkeypatch.setattr(drawing, "KEPT_STATES", 7)
    monkeypatch.setattr(tokenizer._drawer, "_states", {})
    assert [tokenizer.sample(line, 0.3, seed) for seed, line in enumerate(lines())] == before
    assert len(tokenizer._drawer._states) <= 7


def test_every_process_draws_alike(tmp_path: Path) -> None:
    text = ["kalomi tuso  re漢字lomi", "mimi <2en> x,y kalore"]
    program = (
        "import json, sys; from pathlib import Path; from nmt.data.tokenizer import Tokenizer\n"
        "paths, text = json.loads(sys.argv[1])\n"
        "made = [Tokenizer.load(Path(path)) for path in paths]\n"
        "print([t.sample(line, 0.3, seed) for t in made for line in text for seed in (0, -3, 2**40)])"
    )
    paths = [str(tmp_path / kind) for kind in ("bpe", "unigram")]
    for path in paths:
        Path(path).write_bytes(trained(Path(path).name, **MODELS["symbols"]))
    printed = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps([paths, text])],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    here = [
        Tokenizer.load(Path(path)).sample(line, 0.3, seed) for path in paths for line in text for seed in (0, -3, 2**40)
    ]
    assert printed == {f"{here}\n"}
    assert len(set(map(tuple, here))) > 6
