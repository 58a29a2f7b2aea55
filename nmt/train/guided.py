"""Guided alignment: attention over the source is trained to word links, besides what it is trained to by translating.

Of a target token t whose linked source tokens are N_t, with the weights A that the run's `alignment` names:

    guided = - sum_t 1 / |N_t| sum_{s in N_t} ln A_ts,        loss = translation's + guided_weight * guided

(Garg 2019, section 4.2, with their lambda of 0.05; Chen 2016 for recurrent decoders.) A link of two words is one
of every piece of the one with every piece of the other (nmt.data.store). Tokens without links, EOS among them, take no
part. Neither does a link that the attention can't reach, whose weight is zero: one outside a local window.

Shape letters: B sentences, T target positions, S source positions, K links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from nmt.config import Config
from nmt.errors import UserError
from nmt.model.attention.none import NoAttention
from nmt.model.attention.normalizers.entmax import Entmax
from nmt.model.attention.normalizers.gumbel import Gumbel
from nmt.model.attention.normalizers.reinforce import Reinforce
from nmt.model.attention.normalizers.sparsemax import Sparsemax
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import LatentDecoder
from nmt.model.recurrent.decoder import RecurrentDecoder
from nmt.model.transformer.decoder import TransformerDecoder

UNGUIDED: dict[type[nn.Module], str] = {
    NoAttention: "it has no weights that could be trained to links",
    Reinforce: "in training it draws what it reads, and a draw has no gradient",
    Gumbel: "it reads one position, and the weights of all others are zero, which has no logarithm",
    Sparsemax: "it gives most positions a weight of zero, which has no logarithm",
    Entmax: "it gives most positions a weight of zero, which has no logarithm",
}


@dataclass(frozen=True)
class Guide:
    """Which weights the links supervise (layer from 0, row t + shift for target token t), and how much they count."""

    layer: int
    head: int
    shift: int
    weight: float


def make_guide(config: Config, model: EncoderDecoder) -> Guide | None:
    """What the configuration asks for; None where it names no links.

    UserError: attention that can't be guided, or many heads of which none is named.
    """
    train, alignment = config.train, config.alignment
    if train.guided_alignment is None:
        return None
    if isinstance(model.decoder, LatentDecoder):
        raise UserError("train.guided_alignment: this model sums over all alignments, and has no weights to be guided")
    layer, heads = alignment.layer % model.decoder.layers, model.decoder.heads
    for module in attention_over_source(model, layer).modules():
        if type(module) in UNGUIDED:
            name = type(module).__name__
            raise UserError(f"train.guided_alignment: attention by {name} can't be guided: {UNGUIDED[type(module)]}")
    if alignment.head is None and heads > 1:
        raise UserError(
            f"train.guided_alignment: the links train one head, and alignment.head is null, the mean of {heads}: "
            f"set alignment.head to one of 0 to {heads - 1}"
        )
    return Guide(layer, alignment.head or 0, alignment.shift, train.guided_weight)


def attention_over_source(model: EncoderDecoder, layer: int) -> nn.Module:
    """That of one of the decoder's layers."""
    decoder: object = model.decoder
    if isinstance(decoder, TransformerDecoder):
        return cast(nn.Module, decoder.stacked()[layer].cross_attention)
    assert isinstance(decoder, RecurrentDecoder)
    return cast(nn.Module, decoder.wiring.attention)


def link_cross_entropy(weights: Tensor, links: Tensor, shift: int) -> Tensor:
    """Weights [B, T, S] of one head, links [K, 3] (sentence, source position, target position) -> `guided`, summed.

    With `shift` the weights of target position t are those of row t + shift; the row of EOS follows every piece.
    """
    sentence, source, target = links.unbind(1)
    found = weights[sentence, target + shift, source]
    found = found.to(torch.promote_types(found.dtype, torch.float32))  # a CPU's autocast leaves a softmax in half
    reached = found > torch.finfo(found.dtype).tiny  # of less, the logarithm's gradient would be infinite
    token = sentence * weights.shape[1] + target
    counts = found.new_zeros(weights.shape[0] * weights.shape[1]).index_add(0, token, reached.to(found.dtype))
    return -(found.where(reached, 1.0).log() / counts[token].clamp(min=1.0)).sum()
