"""The best tokens of a row, where torch's own top-k leaves the order of equals open."""

from __future__ import annotations

import pytest
import torch

from nmt.errors import UserError
from nmt.model.interface import DecoderOutput
from nmt.search import distribution
from nmt.search.distribution import best_tokens, forbidden_ids, next_log_probs
from tests.laws.models import build_model, toy_batch
from tests.search.toy import BANNED, ToyDecoder, toy_memory


@pytest.mark.parametrize("count", [1, 2, 7, 60, 100])
def test_equals_a_stable_sort_even_with_many_ties(count: int) -> None:
    few_values = torch.randint(-5, 0, (40, 60)).double()
    values, ids = best_tokens(few_values, count)
    expected = few_values.sort(dim=1, descending=True, stable=True)
    assert values.equal(expected.values[:, :count])
    assert ids.equal(expected.indices[:, :count])


def test_forbidden_ids_have_no_chance_and_the_others_keep_theirs() -> None:
    decoder, memory = ToyDecoder(vocabulary=9), toy_memory(3)
    prepared = decoder.prepare(memory)
    output: DecoderOutput = decoder.step(torch.ones(3, dtype=torch.long), decoder.start(prepared), prepared).output
    free = next_log_probs(decoder, output, forbidden_ids([], torch.device("cpu")))
    held = next_log_probs(decoder, output, forbidden_ids(BANNED, torch.device("cpu")))
    assert free.exp().sum(1).tolist() == pytest.approx([1.0] * 3)
    assert held[:, list(BANNED)].isinf().all()
    assert held[:, [2, 4, 5, 6, 7, 8]].equal(free[:, [2, 4, 5, 6, 7, 8]])


def test_not_a_number_is_a_clear_error() -> None:
    with pytest.raises(UserError, match="nan"):
        best_tokens(torch.tensor([[0.1, float("nan"), 0.2]]), 1)


def test_forced_log_probs_are_those_of_all_logits_and_never_hold_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mixture of seven choices, twelve rows of logits are those of one token."""
    monkeypatch.setattr(distribution, "CHUNK", 12)
    model, batch = build_model("recurrent-hard_marginal-gru"), toy_batch()
    output = model(batch)
    wanted = model.decoder.readout(output.states, output.log_prior).log_softmax(-1)
    wanted = wanted.gather(2, batch.target_out.unsqueeze(2)).squeeze(2)
    seen: list[int] = []
    model.decoder.projection.register_forward_hook(lambda _, given, __: seen.append(given[0].flatten(0, -2).shape[0]))
    found = distribution.forced_log_probs(model.decoder, output, batch.target_out)
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=0)
    assert max(seen) <= 12
