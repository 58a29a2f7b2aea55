"""A configuration and two vocabularies -> the network: the one place where neighbours learn each other's sizes."""

from __future__ import annotations

from functools import partial

import torch

from nmt.build import build
from nmt.config import Config
from nmt.errors import UserError
from nmt.model.embedding import Embedding
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import EncoderSizes


def assemble(config: Config, *, source_vocabulary: int, target_vocabulary: int) -> EncoderDecoder:
    """Raises UserError naming the key for sizes that do not fit together."""
    model = config.model
    embedding = partial(Embedding, size=model.embedding_size, word_dropout=model.word_dropout)
    target = embedding(vocabulary_size=target_vocabulary)
    source = target if model.tied == "all" else embedding(vocabulary_size=source_vocabulary)
    encoder = build(model.encoder, "model.encoder", embedding=source)
    sizes = EncoderSizes(encoder.output_size, encoder.final_shape)
    decoder = build(model.decoder, "model.decoder", embedding=target, encoder=sizes, tied=model.tied != "none")
    return EncoderDecoder(encoder=encoder, decoder=decoder, full_context=config.alignment.full_context)


def check_sizes(config: Config) -> EncoderDecoder:
    """Assemble without memory or time (on torch's meta device), so that impossible sizes are refused before any data is
    read; the result has shapes but no numbers."""
    with torch.device("meta"):
        model = assemble(config, source_vocabulary=8, target_vocabulary=8)
    layer, layers = config.alignment.layer, model.decoder.layers
    if not -layers <= layer < layers:
        raise UserError(
            f"alignment.layer is {layer}: the decoder has {layers} (0 to {layers - 1}, or from the last: -1)"
        )
    head, heads = config.alignment.head, model.decoder.heads
    if head is not None and not 0 <= head < heads:
        raise UserError(f"alignment.head is {head}: the decoder has {heads} (0 to {heads - 1}; null: their mean)")
    return model
