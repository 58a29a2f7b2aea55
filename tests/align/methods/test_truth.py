"""Where the truth is known: a model trained to reverse sentences word by word, asked what it read.

Target word j is made of source word n - 1 - j. A guess would find about one in four.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nmt.align.methods import METHODS
from nmt.data.batch import Batch, make_batch
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.train.loss import batch_loss
from tests.laws.models import build_model

UPDATES = 200
# Attention and erasure see the whole of a choice; a gradient sees what would change if a word were slightly another.
FOUND = {
    "attention": 0.9,
    "posterior": 0.95,
    "erasure": 0.75,
    "integrated_gradients": 0.75,
    "gradient": 0.4,
    "input_x_gradient": 0.4,
}


def reversed_pairs(random: np.random.Generator, count: int) -> Batch:
    """Sentences of two to six of ten words, and their translations backwards: word w is 26 - w."""
    sources = [random.integers(4, 14, size=random.integers(2, 7)).tolist() for _ in range(count)]
    return make_batch(sources, [[26 - word for word in reversed(source)] for source in sources])


@pytest.fixture(scope="module")
def trained() -> EncoderDecoder:
    random = np.random.default_rng(5)
    model = build_model("recurrent-hard_marginal-gru").float().train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(UPDATES):
        result = batch_loss(model, reversed_pairs(random, 40))
        optimizer.zero_grad()
        (result.loss / result.tokens).backward()
        optimizer.step()
    return model.eval()


@pytest.mark.parametrize("name", METHODS)
def test_the_word_that_was_translated_is_found(name: str, trained: EncoderDecoder) -> None:
    batch = reversed_pairs(np.random.default_rng(6), 30)
    lengths = [length - 1 for length in batch.source_lengths.tolist()]
    values = METHODS[name](trained, batch, [range(length) for length in lengths])[:, 0, 0]
    right = [
        int(values[row, step, :length].argmax()) == length - 1 - step
        for row, length in enumerate(lengths)
        for step in range(length)
    ]
    assert np.mean(right) >= FOUND[name]
