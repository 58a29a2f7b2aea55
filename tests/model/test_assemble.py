"""From configurations to networks: tied tables, and sizes that cannot be."""

from __future__ import annotations

import pytest
import torch

from nmt.compose import compose
from nmt.errors import UserError
from nmt.model.assemble import assemble, check_sizes
from tests.laws.models import CORPUS, RECURRENT, TRANSFORMER, build_model, toy_batch

TYING = [("none", False, False), ("output", True, False), ("all", True, True)]


@pytest.mark.parametrize(("tied", "output", "source"), TYING)
@pytest.mark.parametrize("case", ["recurrent-bahdanau-gru", "recurrent-luong_dot-unfed", "transformer-pre-learned"])
def test_tied_tables_are_one(case: str, tied: str, output: bool, source: bool) -> None:
    """Two-way: target embedding and projection; three-way: the source embedding as well. They stay one in training."""
    model = build_model(case, f"model.tied={tied}", source=29)
    tables = [model.encoder.embedding.table.weight, model.decoder.embedding.table.weight]  # type: ignore[attr-defined]
    weight = model.decoder.projection.weight
    assert (weight is tables[1]) == output
    assert (tables[0] is tables[1]) == source
    result = model(toy_batch())
    model.decoder.readout(result.states, result.log_prior).square().sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    assert (weight.data_ptr() == tables[1].data_ptr()) == output


IMPOSSIBLE = [
    ((*TRANSFORMER, "model.encoder.self_attention.heads=4"), "heads is 4: it must divide"),
    ((*TRANSFORMER, "model.encoder.layers=0"), "model.encoder: layers is 0"),
    ((*TRANSFORMER, "model.decoder.layers=0"), "model.decoder: layers is 0"),
    ((*TRANSFORMER, "model.encoder.feedforward_size=0"), "feedforward_size is 0"),
    ((*TRANSFORMER, "model.decoder.dropout=1.5"), "model.decoder.*dropout is 1.5: allowed is 0 <= dropout < 1"),
    (
        (*TRANSFORMER, "attention=none", "attention.feed_summary=false", "wiring=null"),
        "reads a context of 0 numbers, and the residual sum needs 6",
    ),
    ((*TRANSFORMER, "alignment.layer=2"), r"alignment.layer is 2: the decoder has 2"),
    ((*TRANSFORMER, "alignment.layer=-3"), r"alignment.layer is -3"),
    ((*RECURRENT, "attention=luong_dot", "model.decoder.hidden_size=11"), "dot score needs .* not 11 and 10"),
    ((*RECURRENT, "model.encoder.layers=0"), r"model.encoder: layers \(0\) and hidden_size"),
    ((*RECURRENT, "model.encoder.cell=elman"), "cell is 'elman': allowed are gru, lstm"),
    ((*RECURRENT, "model.encoder.dropout=1.5"), "model.encoder: dropout is 1.5"),
    ((*RECURRENT, "attention.dropout=-1"), "dropout is -1"),
    ((*RECURRENT, "alignment.head=1"), "alignment.head is 1: the decoder has 1"),
    ((*RECURRENT, "attention=luong_concat", "attention.score.size=-1"), "model.decoder.attention.score"),
    ((*RECURRENT, "alignment.layer=1"), "alignment.layer is 1: the decoder has 1"),
    (
        (*RECURRENT, "model.decoder.hiden_size=5"),
        "there is no such key .did you mean model.decoder.hidden_size",
    ),
    ((*RECURRENT, "attention.window.size=5"), "attention.window.size: there is no such key"),
]


@pytest.mark.parametrize(("overrides", "message"), IMPOSSIBLE, ids=[message for _, message in IMPOSSIBLE])
def test_impossible_sizes_are_refused(overrides: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_sizes(compose([*CORPUS, *overrides]))


@pytest.mark.parametrize("tied", ["none", "all"])
@pytest.mark.parametrize("case", ["recurrent-bahdanau-gru", "transformer-pre-learned"])
def test_words_of_both_sides_are_dropped(case: str, tied: str) -> None:
    """In training alone, and with a rate that is one."""
    model = build_model(case, f"model.tied={tied}", "model.word_dropout=0.5", source=29)
    for training in (True, False):
        for side in (model.train(training).encoder, model.decoder):
            vectors = side.embedding(torch.full((50, 2), 5))  # type: ignore[attr-defined]
            assert (vectors == 0).all(-1).any() == training
    with pytest.raises(UserError, match=r"model.word_dropout is 1.0: allowed is 0 <= x < 1"):
        build_model(case, "model.word_dropout=1.0")


def test_checking_takes_no_memory() -> None:
    model = check_sizes(compose([*CORPUS, *RECURRENT, "model.encoder.hidden_size=100000", "attention=luong_general"]))
    assert all(parameter.is_meta for parameter in model.parameters())


def test_same_seed_same_network() -> None:
    config = compose([*CORPUS, *TRANSFORMER])
    networks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        networks.append(assemble(config, source_vocabulary=11, target_vocabulary=13))
    weights = [torch.cat([part.detach().flatten() for part in network.parameters()]) for network in networks]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
