"""The translator on small random models: lines in, lines out, whatever else is in the call."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import nmt
from nmt.align.methods import METHODS
from nmt.compose import compose_values
from nmt.config import SearchConfig, read_config
from nmt.data.batch import Batch
from nmt.data.tokenizer import Tokenizer
from nmt.errors import UserError
from nmt.model.assemble import assemble
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.run import Run, save_weights
from nmt.search.hypothesis import Hypothesis
from nmt.search.penalty import MeanPenalty, NoPenalty, WuPenalty
from nmt.translator import Translation, Translator, choose_device, make_penalty
from tests.laws.models import CASES, CORPUS

WORDS = ["ka", "lo", "mi", "tu", "re", "so", "fa", "ne", "bi", "do"]
KINDS = {
    "bahdanau": CASES["recurrent-bahdanau-gru"],
    "luong": CASES["recurrent-luong_general-lstm2"],
    "none": CASES["recurrent-none-gru"],
    "transformer": CASES["transformer-pre-sinusoidal"],
    "learned": (*CASES["transformer-post-learned"], "position.maximum=16"),
}
attention = METHODS["attention"]
LINES = ["ka lo", "", "mi tu re so fa ne bi do ka", "   ", "lo", "zzz ka", "tu mi tu mi"]


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a random model over the ten words."""
    path = tmp_path_factory.mktemp(request.param) / "run"
    chosen = [*CORPUS, *KINDS[request.param], "tokenizer=word", "search.batch_tokens=60", f"run={path}"]
    values = compose_values(chosen)
    run = Run(path)
    run.write_config(values)
    pick = random.Random(7)
    lines = [" ".join(pick.choices(WORDS, k=5)) for _ in range(50)]
    run.tokenizer_file("source").parent.mkdir()
    tokenizer = Tokenizer.train(lines, model_type="word", vocabulary_size=100, path=run.tokenizer_file("source"))
    run.tokenizer_file("target").write_bytes(run.tokenizer_file("source").read_bytes())
    torch.manual_seed(3)
    model = assemble(read_config(values), source_vocabulary=len(tokenizer), target_vocabulary=len(tokenizer))
    for part in model.parameters():
        part.data.mul_(2.0)  # clearer preferences
    save_weights(run.best, model)
    return path


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    return opened(folder)


def opened(folder: Path, *overrides: str) -> Translator:
    """The run in double precision, so that equal means equal."""
    translator = nmt.load(folder, overrides)
    translator.model.double()
    return translator


def test_a_line_for_a_line(translator: Translator) -> None:
    """A01, F02: blank in, blank out, and every other line as if it were alone."""
    found = translator.translate(LINES)
    assert len(found) == len(LINES)
    for line, one in zip(LINES, found, strict=True):
        if not line.strip():
            assert one.text == ""
            assert one.hypotheses == ()
            continue
        (own,) = translator.translate([line])
        assert own.text == one.text
        assert own.hypotheses[0].score == pytest.approx(one.hypotheses[0].score, abs=1e-10)
        assert own.notes == one.notes
    assert translator.translate([]) == []


@pytest.mark.parametrize("tokens", [1, 13, 10_000])
def test_batches_do_not_matter(folder: Path, translator: Translator, tokens: int) -> None:
    """F01."""
    lines = [" ".join(WORDS[:length]) for length in (9, 1, 8, 2, 7, 3)]
    other = opened(folder, f"search.batch_tokens={tokens}").translate(lines)
    for one, two in zip(translator.translate(lines), other, strict=True):
        assert one.text == two.text
        assert one.hypotheses[0].log_prob == pytest.approx(two.hypotheses[0].log_prob, abs=1e-10)


def test_scores_are_those_of_forced_decoding(translator: Translator) -> None:
    """`score` of a finished translation's text gives the hypothesis's own log_prob, piece by piece."""
    found = translator.translate(LINES, nbest=3)
    checked = 0
    for line, one in zip(LINES, found, strict=True):
        for hypothesis in one.hypotheses:
            text = translator.target_tokenizer.decode(hypothesis.tokens)
            if hypothesis.finished and hypothesis.tokens:
                (score,) = translator.score([(line, text)])
                assert score.token_log_probs == pytest.approx(hypothesis.token_log_probs, abs=1e-10)
                assert score.log_prob == pytest.approx(hypothesis.log_prob, abs=1e-10)
                assert score.tokens[-1] == "</s>"
                checked += 1
    assert checked


def test_scores_in_a_batch_and_of_blanks(translator: Translator) -> None:
    pairs = [("ka lo", "mi"), ("", "mi"), ("ka", ""), ("lo mi tu re", "so fa ne bi do")]
    together = translator.score(pairs)
    for pair, score in zip(pairs, together, strict=True):
        (alone,) = translator.score([pair])
        assert alone.log_prob == pytest.approx(score.log_prob, abs=1e-10)
        assert score.log_prob == pytest.approx(math.fsum(score.token_log_probs), abs=1e-9)
    assert together[1] == together[2] == (0.0, (), ())
    assert len(together[3].tokens) == 6


def test_nbest(translator: Translator) -> None:
    (one,) = translator.translate(["ka lo mi"], nbest=5)
    scores = [hypothesis.score for hypothesis in one.hypotheses]
    assert scores == sorted(scores, reverse=True)
    assert len({hypothesis.tokens for hypothesis in one.hypotheses}) == len(scores) == 5
    assert one.text == translator.translate(["ka lo mi"])[0].text
    for count in (0, 6):
        with pytest.raises(UserError, match=f"nbest is {count}: allowed is 1 to search.beam_size, 5"):
            translator.translate(["ka"], nbest=count)


def test_nothing_forbidden_is_produced(translator: Translator) -> None:
    """F09: no unk, bos or pad in a wide n-best."""
    found = translator.translate(["ka lo", "zzz"], nbest=5)
    assert {id for one in found for best in one.hypotheses for id in best.tokens}.isdisjoint({0, 1, 2, 3})


def test_what_a_translation_read_is_what_a_forced_pass_over_its_text_reads(translator: Translator) -> None:
    """G01, G02: of every hypothesis its own, and reading changes no translation."""
    found = translator.translate(LINES, nbest=2)
    readings = iter(translator.read_translations(list(zip(LINES, found, strict=True)), attention))
    assert translator.translate(LINES, nbest=2) == found
    for line, one in zip(LINES, found, strict=True):
        for hypothesis in one.hypotheses:
            reading = next(readings)
            steps, size = reading.values.shape[2:]
            assert (steps, size) == (len(hypothesis.tokens) + 1, len(translator.source_tokenizer.encode(line)) + 1)
            text = translator.target_tokenizer.decode(hypothesis.tokens)
            if text and translator.target_tokenizer.encode(text) == list(hypothesis.tokens):
                (forced,) = translator.read_pairs([(line, text)], 1, attention)
                rows = steps if hypothesis.finished else steps - 1
                np.testing.assert_allclose(reading.values[:, :, :rows], forced.values[:, :, :rows], atol=1e-5)
                assert reading[1:] == forced[1:]
            if not hypothesis.finished:
                assert not reading.values[:, :, -1].any()
    assert next(readings, None) is None


def test_attention_of_pairs(translator: Translator) -> None:
    pairs = [("ka lo", "mi tu re"), ("", "mi"), ("ka lo mi tu", "so")]
    read = translator.read_pairs(pairs, 1, attention)
    assert [one.values.shape[2:] for one in read] == [(4, 3), (2, 1), (2, 5)]
    words = [(one.source_pieces.word, one.target_pieces.word) for one in read]
    assert words == [((0, 1), (0, 1, 2)), ((), (0,)), ((0, 1, 2, 3), (0,))]
    assert read[0].source_pieces == ((0, 1), (0, 3), (2, 5))
    assert not read[1].values.any()
    no_attention = translator.config.attention["_target_"].endswith("NoAttention")
    for row in (0, 2):
        assert read[row].values.shape[:2] == (translator.layers, translator.heads)
        sums = read[row].values.sum(-1)
        np.testing.assert_allclose(sums, np.zeros_like(sums) if no_attention else np.ones_like(sums), atol=1e-5)


def test_a_method_is_given_the_words_of_the_pieces_it_reads(translator: Translator) -> None:
    """Of a source that was cut, those that are left; and it may use gradients, also after a translation."""
    seen: list[tuple[tuple[int, ...], ...]] = []

    def method(model: EncoderDecoder, batch: Batch, words: Sequence[Sequence[int]]) -> Tensor:
        seen.append(tuple(map(tuple, words)))
        embedded = model.encoder.embedding(batch.source)
        assert embedded.requires_grad
        return torch.ones(len(batch), 1, 1, batch.target_in.shape[1], batch.source.shape[1]) * embedded.sum()

    lines = ["ka lo", " ".join(WORDS * 3)]
    translator.translate(lines)
    whole = Hypothesis(tokens=(4, 5), finished=True, log_prob=0.0, score=0.0, token_log_probs=(0.0,) * 3)
    hypotheses = (whole, replace(whole, finished=False, token_log_probs=(0.0,) * 2))
    found = [Translation("x", (hypothesis,)) for hypothesis in hypotheses]
    readings = translator.read_translations(list(zip(lines, found, strict=True)), method)
    longest = 15 if translator.model.encoder.longest == 16 else 30
    assert sorted(words for batch in seen for words in batch) == [(0, 1), tuple(range(longest))]
    assert readings[1].source_pieces.word == tuple(range(longest))
    assert [bool(reading.values[:, :, -1].any()) for reading in readings] == [True, False]


def test_lines_beyond_the_positions(folder: Path, translator: Translator) -> None:
    """F04: with learned positions up to 16 a longer source is cut, which is told; other models read all of it."""
    lines = ["ka lo", " ".join(WORDS * 3), "mi"]
    found = translator.translate(lines)
    learned = "learned" in str(folder)
    assert ("source cut to 15 of 30 pieces" in found[1].notes) == learned
    for row in (0, 2):
        assert found[row].text == translator.translate([lines[row]])[0].text
        assert not any("source cut" in note for note in found[row].notes)
    assert all(len(best.tokens) <= 15 for one in found for best in one.hypotheses) or not learned
    if learned:
        for pair, side in (((lines[1], "ka"), "the source"), (("ka", lines[1]), "the target")):
            with pytest.raises(UserError, match=f"line 2: {side} has 30 pieces: this model's positions reach to 15"):
                translator.score([("ka", "ka"), pair])
        assert len(translator.translate([" ".join(WORDS + WORDS[:5])])[0].notes) <= 1
    else:
        assert translator.score([(lines[1], lines[1])])[0].log_prob < 0


def test_a_cut_translation_says_so(folder: Path) -> None:
    """At most 0 x source + 1 pieces: what is not finished by then is cut, and noted."""
    short = opened(folder, "search.max_ratio=0", "search.max_offset=1")
    for one in short.translate(["ka lo mi", "lo"]):
        assert len(one.hypotheses[0].token_log_probs) == 1
        assert ("cut at the maximum length" in one.notes) != one.hypotheses[0].finished


def test_greedy_is_a_beam_of_one(folder: Path, translator: Translator) -> None:
    """F08; and a beam beyond the vocabulary is no error."""
    greedy = opened(folder, "search.beam_size=1").translate(LINES)
    assert [len(one.hypotheses) for one in greedy] == [1 if line.strip() else 0 for line in LINES]
    (wide,) = opened(folder, "search.beam_size=50", "search.max_offset=2", "search.max_ratio=0.5").translate(
        ["ka"], nbest=50
    )
    assert 1 <= len(wide.hypotheses) <= 50


def test_a_pair_too_long_is_named_by_its_line(folder: Path) -> None:
    if opened(folder).model.encoder.longest is None:
        return
    for ask in (opened(folder).score, partial(opened(folder).read_pairs, method=attention)):
        with pytest.raises(UserError, match=r"line 1501: the source has 16 pieces"):
            ask([("ka", "lo"), ("ka " * 16, "lo")], 1500)


def test_a_trained_run_cannot_be_changed(folder: Path) -> None:
    for override in (
        "seed=5",
        "run=x",
        "model.embedding_size=13",
        "tokenizer.joint=false",
        "train.updates=3",
        "optimizer.lr=1",
    ):
        with pytest.raises(UserError, match=f"{re.split('[.=]', override)[0]}: a trained run's can't be changed"):
            nmt.load(folder, [override])
    with pytest.raises(UserError, match=r"search.beam_sice: there is no such key \(did you mean search.beam_size\?\)"):
        opened(folder, "search.beam_sice=3")


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="this is no run"):
        nmt.load(tmp_path)


def test_devices() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda")
    for name in ("gpu", "cuda:99"):
        with pytest.raises(UserError, match=f"device is '{name}': it can't be used here"):
            choose_device(name)


@pytest.mark.parametrize(
    ("name", "kind"), [("wu", WuPenalty(alpha=0.5)), ("mean", MeanPenalty()), ("none", NoPenalty())]
)
def test_penalties(name: str, kind: object) -> None:
    search = SearchConfig(
        beam_size=1,
        length_penalty=name,
        alpha=0.5,
        max_ratio=1.0,
        max_offset=1,
        batch_tokens=1,  # type: ignore[arg-type]
    )
    assert make_penalty(search) == kind
