"""The posterior over source positions of models that sum over them: where the token that came points back to.

Marginal hard attention predicts p(y) = sum_m p(m) p(y | m) (Wu 2018); once y is known, p(m | y) = p(m) p(y | m) / p(y)
by Bayes' rule. The weights are the prior p(m), which has not seen y. A decoder that sums over alignments of the whole
sentence (nmt.model.markov) has a posterior that has seen the tokens after y as well.

Shape letters: B sentences, T target positions, S source positions, M choices of the mixture, R readout size.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.data.batch import Batch
from nmt.errors import UserError
from nmt.model import masks
from nmt.model.attention.normalizers.marginal import Marginal
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import LatentDecoder
from nmt.search.distribution import forced_log_probs

NO_CHOICE = (
    "method posterior: this model's attention makes no choice of a position that could be judged afterwards; "
    "one with the marginal normalizer does (attention=hard_marginal), and model=hidden_markov"
)


def check_choice(model: EncoderDecoder) -> None:
    """UserError for a model that makes no choice of a position, whatever its sizes."""
    if not isinstance(model.decoder, LatentDecoder) and not any(isinstance(m, Marginal) for m in model.modules()):
        raise UserError(f"alignment.{NO_CHOICE}")


@torch.inference_mode()
def posterior(model: EncoderDecoder, batch: Batch, source_words: Sequence[Sequence[int]]) -> Tensor:
    """[B, 1, 1, T, S], rows sum to 1.

    Raises:
        UserError: the model makes no choice of a position.
    """
    decoder = model.decoder
    if isinstance(decoder, LatentDecoder):
        valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
        return decoder.posterior(batch.target_out, valid, decoder.prepare(model.encode(batch)))[:, None, None]
    output = model(batch)
    prior: Tensor | None = output.log_prior  # [B, T, M]
    if prior is None:
        raise UserError(NO_CHOICE)
    # Each choice is scored like a token of its own, a chunk at a time: [T, M, V] would be too much.
    each = output._replace(states=output.states.flatten(1, 2), log_prior=None)  # [B, T x M, R]
    targets = batch.target_out.repeat_interleave(prior.shape[2], dim=1)
    likelihood = forced_log_probs(model.decoder, each, targets).view(prior.shape)
    shares: Tensor = (prior + likelihood).softmax(-1)
    if output.positions is not None:
        size = batch.source.shape[1]
        shares = shares.new_zeros(*shares.shape[:2], size).scatter(-1, output.positions, shares)
    return shares[:, None, None]
