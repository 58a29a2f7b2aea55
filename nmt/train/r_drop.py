"""R-Drop: every pair is run twice, under two draws of dropout, and the two predictions are pulled together.

Of a target token y with the passes' distributions p_1 and p_2, and CE the label-smoothed cross-entropy:

    loss = (CE(p_1, y) + CE(p_2, y)) / 2 + r_drop * (KL(p_1 || p_2) + KL(p_2 || p_1)) / 2

Liang et al. 2021, section 2.1, have the sum of both cross-entropies and the weight alpha before the same half sum of
divergences: theirs is twice ours with alpha = 2 r_drop. Their alpha of 5 in translation is our 2.5. With the mean the
loss of two equal passes is that of one, and learning rates and clipping keep their meaning.

Shape letters: B sentences, n target tokens, c of them in a chunk, V vocabulary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from nmt.data.batch import Batch


def twice(batch: Batch) -> Batch:
    """A batch of B sentences -> of 2 B: all of them, and all of them again."""
    tensors = ("source", "source_lengths", "target_in", "target_out", "target_lengths", "index")
    links = batch.links
    if links is not None:
        links = torch.cat([links, links + links.new_tensor([len(batch), 0, 0])])
    return replace(batch, **{name: torch.cat([getattr(batch, name)] * 2) for name in tensors}, links=links)


def paired(x: Tensor) -> Tensor:
    """What `twice` gave, [2 n, ...], one pass after the other -> [n, 2, ...], both passes of a token together."""
    return torch.stack(x.chunk(2), dim=1)


class PairLoss(torch.autograd.Function):
    """Logits [c, 2, V], ids [c] -> losses [c], the passes' mean -ln p(ids) [c], and cross-entropies [c, 2].

    Only the losses have a gradient; in closed form it is, to the logits of pass k with the other pass j and
    d = ln p_k - ln p_j, half of

        p_k - (1 - e) onehot(y) - e / V + r_drop * (p_k * (d - KL(p_k || p_j)) + p_k - p_j).
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, ids: Tensor, smoothing: float, r_drop: float) -> tuple[Tensor, ...]:
        log_probs = logits.log_softmax(-1)
        divergence = (log_probs.exp() * (log_probs - log_probs.flip(1))).sum(-1)  # [c, 2]
        nlls = -log_probs.gather(2, ids.view(-1, 1, 1).expand(-1, 2, 1)).squeeze(2)
        costs = (1 - smoothing) * nlls - smoothing * log_probs.mean(-1)
        ctx.save_for_backward(log_probs, divergence, ids)
        ctx.smoothing, ctx.r_drop = smoothing, r_drop
        nll = nlls.mean(1)
        ctx.mark_non_differentiable(nll, costs)
        return (costs + r_drop * divergence).mean(1), nll, costs

    @staticmethod
    def backward(ctx: Any, *output: Tensor) -> tuple[Tensor | None, ...]:
        log_probs, divergence, ids = ctx.saved_tensors
        probs = log_probs.exp()
        pull = log_probs.sub_(log_probs.flip(1)).sub_(divergence.unsqueeze(-1)).mul_(probs)
        pull.add_(probs).sub_(probs.flip(1))
        gradient = pull.mul_(ctx.r_drop).add_(probs).sub_(ctx.smoothing / probs.shape[-1])
        on_target = gradient.new_full((len(ids), 2, 1), ctx.smoothing - 1)
        gradient.scatter_add_(2, ids.view(-1, 1, 1).expand(-1, 2, 1), on_target)
        return gradient.mul_(output[0].view(-1, 1, 1) / 2), None, None, None
