"""The posterior of marginal hard attention against Bayes' rule over whole softmaxes.

Shape letters: S source positions, T target positions, M choices, V vocabulary.
"""

from __future__ import annotations

import pytest
import torch

from nmt.align.methods.posterior import posterior
from nmt.data.batch import make_batch
from nmt.errors import UserError
from nmt.search import distribution
from tests.align.methods.laws import cut, model_of
from tests.laws.models import alone, toy_batch

CASE = "recurrent-hard_marginal-gru"
PRIORS = {
    "all": (),
    "two": ("attention.normalizer.positions=2",),
    "more than some have": ("attention.normalizer.positions=5",),
    "fed": ("wiring.input_feeding=true", "attention.normalizer.positions=3"),
    "before": (
        "~wiring.input_feeding",
        "wiring._target_=nmt.model.recurrent.wiring.BeforeStep",
        "attention.normalizer.positions=2",
    ),
}


@pytest.mark.parametrize("kind", PRIORS)
@torch.no_grad()
def test_bayes(kind: str) -> None:
    """p(s) p(y | s) / sum; of a few positions, which they are is known from where the weights are not zero."""
    model, batch = model_of(CASE, *PRIORS[kind]), toy_batch()
    for row, found in enumerate(cut(posterior(model, batch, ()), batch)):
        one = alone(batch, row)
        prior = model.attention_maps(one)["cross"][0, 0, 0]  # [T, S]
        output = model(one)
        every = model.decoder.projection(output.states[0]).softmax(-1)  # [T, M, V]
        for step, token in enumerate(one.target_out[0].tolist()):
            places = prior[step].argsort(descending=True)[: every.shape[1]]
            if output.positions is None:
                places = torch.arange(every.shape[1])
            joint = torch.zeros_like(prior[step])
            joint[places] = prior[step, places] * every[step, :, token]
            torch.testing.assert_close(found[0, 0, step], joint / joint.sum(), atol=1e-10, rtol=0)
    total = posterior(model, batch, ()).sum(-1)
    torch.testing.assert_close(total, torch.ones_like(total))


def test_a_single_choice_is_certain() -> None:
    """Read by the most probable position alone, the posterior is that position whatever came."""
    model, batch = model_of(CASE, "attention.normalizer.at_inference=argmax"), toy_batch()
    for found, weights in zip(
        cut(posterior(model, batch, ()), batch), cut(model.attention_maps(batch)["cross"], batch), strict=True
    ):
        assert found.equal(weights)


def test_logits_are_made_a_chunk_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = model_of(CASE), toy_batch()
    wanted = posterior(model, batch, ())
    monkeypatch.setattr(distribution, "CHUNK", 12)
    seen: list[int] = []
    model.decoder.projection.register_forward_hook(lambda _, given, __: seen.append(given[0].flatten(0, -2).shape[0]))
    torch.testing.assert_close(posterior(model, batch, ()), wanted, atol=1e-12, rtol=0)
    assert max(seen) <= 12


@pytest.mark.parametrize(
    "case", ["recurrent-luong_general-gru", "recurrent-hard_reinforce-gru", "transformer-pre-sinusoidal"]
)
def test_an_attention_without_a_posterior_is_refused(case: str) -> None:
    with pytest.raises(UserError, match=r"posterior.*marginal.*attention=hard_marginal"):
        posterior(model_of(case), make_batch([[5]], [[6]]), ())
