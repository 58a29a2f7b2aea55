"""Mixed pairs: a Transformer's encoder with a recurrent decoder, and the reverse."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from nmt.compose import compose
from nmt.config import Config
from nmt.data.batch import make_batch
from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.errors import UserError
from nmt.model.assemble import assemble, check_sizes
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.recurrent.decoder import RecurrentDecoder
from nmt.model.recurrent.encoder import RecurrentEncoder
from nmt.model.transformer.decoder import TransformerDecoder
from nmt.model.transformer.encoder import TransformerEncoder
from nmt.search.beam import beam_search
from nmt.search.penalty import NoPenalty
from tests.laws.models import CORPUS, DRY, SOURCE_VOCABULARY, TARGET_VOCABULARY, alone, sentences, toy_batch
from tests.laws.parts import EXACT, check_steps, randomise
from tests.model.positions.kinds import KINDS

TO_RECURRENT = (
    "model=transformer_recurrent",
    "model.encoder.self_attention.heads=2",
    "model.encoder.layers=2",
    "model.encoder.feedforward_size=11",
    "model.decoder.hidden_size=5",
)
TO_TRANSFORMER = (
    "model=recurrent_transformer",
    "model.encoder.hidden_size=5",
    "model.decoder.self_attention.heads=2",
    "model.decoder.layers=2",
    "model.decoder.feedforward_size=11",
)
PAIRS = {
    "to-recurrent": TO_RECURRENT,
    "to-bahdanau": (*TO_RECURRENT, "attention=bahdanau"),
    "to-lstm2": (*TO_RECURRENT, "model.decoder.cell=lstm", "model.decoder.layers=2"),
    "to-transformer": TO_TRANSFORMER,
    "one-way-to-transformer": (*TO_TRANSFORMER, "model.encoder.bidirectional=false", "model.encoder.cell=lstm"),
    **{f"to-recurrent-{kind}": (*TO_RECURRENT, f"position={kind}") for kind in KINDS},
    **{f"to-transformer-{kind}": (*TO_TRANSFORMER, f"position={kind}") for kind in KINDS},
}


@cache
def config_of(pair: str, *overrides: str) -> Config:
    """The configuration of a pair in small."""
    return compose([*CORPUS, *DRY, "model.embedding_size=6", "model.tied=none", *PAIRS[pair], *overrides])


def build(pair: str, *overrides: str, target: int = TARGET_VOCABULARY) -> EncoderDecoder:
    """In double precision, every parameter random, in evaluation mode."""
    config = config_of(pair, *overrides)
    model = assemble(config, source_vocabulary=SOURCE_VOCABULARY, target_vocabulary=target).double().eval()
    randomise(model)
    return model


def test_what_they_are_made_of() -> None:
    given, back = build("to-recurrent"), build("to-transformer")
    assert [type(part) for part in (given.encoder, given.decoder)] == [TransformerEncoder, RecurrentDecoder]
    assert [type(part) for part in (back.encoder, back.decoder)] == [RecurrentEncoder, TransformerDecoder]


@pytest.mark.parametrize(
    ("model", "beside"), [("transformer_recurrent", ()), ("recurrent_transformer", ("wiring=null",))]
)
def test_their_own_sizes_fit_every_score(model: str, beside: tuple[str, ...]) -> None:
    """As configured, and with all tables tied; dot included, which wants queries and memory of one size."""
    given = [*CORPUS, f"model={model}", "model.tied=all"]
    check_sizes(compose(given))
    for preset in ("bahdanau", "luong_dot"):
        check_sizes(compose([*given, f"attention={preset}", *beside]))


def test_a_transformers_decoder_has_no_wiring_here_either() -> None:
    with pytest.raises(UserError, match=r"wiring: this decoder has none.*set wiring=null"):
        compose([*CORPUS, "model=recurrent_transformer", "attention=bahdanau"])


@pytest.mark.parametrize("pair", PAIRS)
def test_steps(pair: str) -> None:
    check_steps(build(pair), toy_batch())


@pytest.mark.parametrize("pair", PAIRS)
@torch.no_grad()
def test_alone_as_in_a_batch(pair: str) -> None:
    model, batch = build(pair), toy_batch()
    states = model(batch).states
    for row in range(len(batch)):
        own = model(alone(batch, row)).states[0]
        torch.testing.assert_close(states[row, : len(own)], own, **EXACT)


@pytest.mark.parametrize(("tied", "output", "source"), [("none", 0, 0), ("output", 1, 0), ("all", 1, 1)])
@pytest.mark.parametrize("pair", ["to-recurrent", "to-bahdanau", "to-transformer"])
def test_tied_tables_are_one(pair: str, tied: str, output: int, source: int) -> None:
    """And stay one after an update, from which the model still predicts."""
    model = build(pair, f"model.tied={tied}", target=SOURCE_VOCABULARY)
    tables = [model.encoder.embedding.table.weight, model.decoder.embedding.table.weight]  # type: ignore[attr-defined]
    batch = make_batch(sentences(), sentences(seed=12))
    result = model(batch)
    model.decoder.readout(result.states, result.log_prior).square().sum().backward()
    torch.optim.SGD(model.parameters(), lr=1e-3).step()
    assert (model.decoder.projection.weight.data_ptr() == tables[1].data_ptr()) == bool(output)
    assert (tables[0].data_ptr() == tables[1].data_ptr()) == bool(source)
    assert model(batch).states.isfinite().all()


@pytest.mark.parametrize("pair", ["to-recurrent", "to-bahdanau", "to-transformer", "to-transformer-shaw"])
@torch.no_grad()
def test_they_translate(pair: str) -> None:
    """A beam of three finds for each sentence what it finds for it alone, at the forced score of those tokens."""
    model, sources = build(pair), sentences(5)

    def search(given: list[list[int]]) -> list[tuple[tuple[int, ...], float, bool]]:
        limits = torch.full((len(given),), 7)
        memory = model.encode(make_batch(given, [[] for _ in given]))
        found = beam_search(
            model.decoder, memory, beam_size=3, max_lengths=limits, banned=(UNK, BOS, PAD), penalty=NoPenalty()
        )
        return [(tuple(one.tokens), one.log_prob, one.finished) for (one, *_) in found]

    for source, (tokens, log_prob, finished) in zip(sources, search(sources), strict=True):
        ((alone_tokens, alone_log_prob, _),) = search([source])
        assert tokens == alone_tokens
        assert log_prob == pytest.approx(alone_log_prob, abs=1e-10)
        ids = [*tokens, *([EOS] if finished else [])]
        output = model(make_batch([source], [ids]))
        log_probs = model.decoder.readout(output.states, output.log_prior).log_softmax(-1)[0]
        assert log_prob == pytest.approx(float(log_probs[torch.arange(len(ids)), ids].sum()), abs=1e-10)


@torch.no_grad()
def test_maps_are_of_what_attends() -> None:
    batch = toy_batch()
    assert build("to-recurrent").attention_maps(batch).keys() == {"encoder", "cross"}
    assert build("to-transformer").attention_maps(batch).keys() == {"decoder", "cross"}
