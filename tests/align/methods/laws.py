"""What the tests of the methods share: models, words for their batches, and log-probabilities by the whole softmax.

Shape letters: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

from torch import Tensor

from nmt.data.batch import Batch
from nmt.model.encoder_decoder import EncoderDecoder
from tests.laws.models import build_model
from tests.model.transformer.test_mixed import build

EVERYWHERE = ("attention", "gradient", "input_x_gradient", "integrated_gradients", "erasure")
CASES = (
    "recurrent-bahdanau-lstm2",
    "recurrent-luong_general-gru",
    "recurrent-luong_concat-unfed",
    "recurrent-transformer-gru",
    "recurrent-none-gru",
    "recurrent-hard_marginal-gru",
    "recurrent-coverage-gru",
    "transformer-pre-sinusoidal",
    "transformer-post-learned",
    "transformer-pre-shaw",
    "to-bahdanau",
    "to-transformer",
    "hidden_markov",
)
MIXED = ("to-bahdanau", "to-transformer")


def model_of(case: str, *overrides: str) -> EncoderDecoder:
    """A random model of a case or a mixed pair, in double precision, in evaluation mode."""
    return build(case, *overrides) if case in MIXED else build_model(case, *overrides)


def source_words(batch: Batch) -> list[list[int]]:
    """Words of one, two, one, two, ... pieces; the last is cut where the sentence ends."""
    pattern = [0, 1, 1, 2, 3, 3, 4, 5, 5]
    return [pattern[: length - 1] for length in batch.source_lengths.tolist()]


def log_probs(model: EncoderDecoder, batch: Batch, vectors: Tensor) -> Tensor:
    """ln p of every target token [B, T] where the source tokens have these vectors."""
    memory = model.encoder.read(vectors, batch.source_lengths)
    output = model.decoder.forward(batch.target_in, model.decoder.prepare(memory))
    every = model.decoder.readout(output.states, output.log_prior).log_softmax(-1)
    return every.gather(2, batch.target_out.unsqueeze(2)).squeeze(2)


def cut(values: Tensor, batch: Batch) -> list[Tensor]:
    """Values [B, L, H, T, S] -> each sentence's own, without padding."""
    sizes = zip(batch.target_lengths.tolist(), batch.source_lengths.tolist(), strict=True)
    return [values[row, :, :, :steps, :size] for row, (steps, size) in enumerate(sizes)]
