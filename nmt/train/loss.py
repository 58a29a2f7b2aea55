"""Label-smoothed cross-entropy over decoder states, in chunks, so that all logits never exist at once.

loss = (1 - e) * -ln p(y) + e * mean_v(-ln p(v)) for each target token (Szegedy 2016, section 7), summed; padding counts
nowhere. The gradient is made in the same pass as the loss: a chunk's logits are used up before the next ones are made.
What an attention sampled is judged by the loss of what was predicted from it (`reinforce`). `r_drop` says what becomes
of the loss where every pair is run twice.

Shape letters: B sentences, T target positions, n valid target tokens, c of them in a chunk, R readout size, M mixture
components, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.data.batch import Batch
from nmt.model import masks
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import CHUNK, mix
from nmt.train.r_drop import PairLoss, paired, twice


class LossSum(NamedTuple):
    """Sums over target tokens (EOS counted): `loss` is what training minimises, with a gradient; nll is -ln p(y)."""

    loss: Tensor
    nll: Tensor
    tokens: int


class Judged(NamedTuple):
    """Of each token of a chunk: loss [c], with a gradient; -ln p(y) [c]; cross-entropy [c], or each pass's [c, 2]."""

    loss: Tensor
    nll: Tensor
    cost: Tensor


def batch_loss(
    model: EncoderDecoder, batch: Batch, *, smoothing: float = 0.0, r_drop: float = 0.0, chunk: int = CHUNK
) -> LossSum:
    """The batch's summed loss, the attention's own named terms included.

    With r_drop > 0 every pair is run twice in one batch of 2 B rows, and a token's loss is the mean of both passes'
    smoothed cross-entropies plus r_drop * (KL(p_1 || p_2) + KL(p_2 || p_1)) / 2: half of the paper's sum, with its
    alpha = 2 r_drop (`nmt.train.r_drop`). `tokens` counts each once; nll and the named terms are means of both passes,
    and a sampled choice is judged by its own pass's cross-entropy, not by the divergence.
    """
    passes = 2 if r_drop > 0 else 1
    if passes == 2:
        batch = twice(batch)
    output = model(batch)
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    states, target = output.states[valid], batch.target_out[valid]
    prior = None if output.log_prior is None else output.log_prior[valid]
    if passes == 2:
        states, target = paired(states), target[: len(target) // 2]
        prior = None if prior is None else paired(prior)
    projection = model.decoder.projection
    loss, nll, costs = chunked_cross_entropy(
        states, prior, target, projection.weight, projection.bias, smoothing=smoothing, r_drop=r_drop, chunk=chunk
    )
    if output.log_choice is not None:
        cost = costs.new_zeros(valid.shape).masked_scatter(valid, costs.t())
        loss = loss + reinforce(model, output.log_choice, cost, valid) / passes
    for extra in output.losses.values():
        loss = loss + extra[valid].sum() / passes
    return LossSum(loss, nll, len(target))


def reinforce(model: EncoderDecoder, log_choice: Tensor, cost: Tensor, valid: Tensor) -> Tensor:
    """Zero, with the gradient of ln p(choice) times what the choice cost, beyond the baseline (Williams 1992; Xu 2015,
    section 4.1): together with the cross-entropy's own gradient, an unbiased estimate of that of its expectation.

    log_choice, cost, valid [B, T]. A choice answers for its own position's cross-entropy, and where what is read is
    carried on also for those after it (the reward to go; Xu takes the whole sentence's); not for the attention's named
    terms. The baseline, the mean cost a token of earlier batches, is moved afterwards.
    """
    excess = (cost - model.baseline).masked_fill(~valid, 0.0)
    if model.decoder.carries:
        excess = excess.flip(1).cumsum(1).flip(1)
    if model.training:
        model.move_baseline(cost[valid].mean())
    surrogate = (excess * log_choice)[valid].sum()
    return surrogate - surrogate.detach()


def chunked_cross_entropy(
    states: Tensor,
    log_prior: Tensor | None,
    target: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    smoothing: float,
    r_drop: float = 0.0,
    chunk: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """States [n, R] (or [n, M, R] with log_prior [n, M]), target ids [n], projection [V, R] and [V] -> summed loss,
    summed -ln p(target), and each token's cross-entropy [n]. Only the first has a gradient.

    With r_drop > 0 states and log_prior are both passes' ([n, 2, ...]), and so are the cross-entropies [n, 2]; the
    second sum is then the passes' mean.
    """
    prior = states.new_zeros(len(states), 0) if log_prior is None else log_prior
    tokens = max(1, chunk // states.shape[1:-1].numel())
    criterion = partial(_single, smoothing=smoothing)
    if r_drop > 0:
        criterion = partial(_pair, smoothing=smoothing, r_drop=r_drop)
    loss, nll, costs = _ChunkedCrossEntropy.apply(
        states, prior, weight, bias, target, criterion, tokens, torch.is_grad_enabled()
    )  # type: ignore[no-untyped-call]
    return loss, nll, costs


def _single(logits: Tensor, ids: Tensor, *, smoothing: float) -> Judged:
    loss, nll = _SmoothedNLL.apply(logits, ids, smoothing)  # type: ignore[no-untyped-call]
    return Judged(loss, nll, loss.detach())


def _pair(logits: Tensor, ids: Tensor, *, smoothing: float, r_drop: float) -> Judged:
    return Judged(*PairLoss.apply(logits, ids, smoothing, r_drop))  # type: ignore[no-untyped-call]


def full_precision(logits: Tensor) -> Tensor:
    """Half-precision logits in float32: to keep their sums and logarithms in eight bits would lose the loss."""
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Keeps, instead of logits, the gradients of what the readout read and of the projection."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        prior: Tensor,
        weight: Tensor,
        bias: Tensor,
        target: Tensor,
        criterion: Callable[[Tensor, Tensor], Judged],
        chunk: int,
        wanted: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        losses: list[Tensor] = []
        nlls: list[Tensor] = []
        costs: list[Tensor] = []
        shared = [torch.zeros_like(weight), torch.zeros_like(bias)] if wanted else []
        own: list[tuple[Tensor, ...]] = []
        table, offset = (part.detach().requires_grad_(wanted) for part in (weight, bias))
        for part, log_prior, ids in zip(
            torch.split(states, chunk), torch.split(prior, chunk), torch.split(target, chunk), strict=True
        ):
            leaves = [x.detach().requires_grad_(wanted) for x in (part, log_prior)]
            with torch.set_grad_enabled(wanted):
                logits = full_precision(F.linear(leaves[0], table, offset))
                logits = mix(logits, leaves[1] if log_prior.shape[-1] else None)
                judged = criterion(logits, ids)
                total = judged.loss.sum()
            losses.append(judged.loss.detach())
            nlls.append(judged.nll)
            costs.append(judged.cost)
            if wanted:
                *mine, table_gradient, offset_gradient = torch.autograd.grad(
                    total, [*leaves, table, offset], allow_unused=True, materialize_grads=True
                )
                own.append(tuple(mine))
                shared = [shared[0].add_(table_gradient), shared[1].add_(offset_gradient)]
        ctx.gradients = [*(torch.cat(parts) for parts in zip(*own, strict=True)), *shared]
        loss, nll, cost = torch.cat(losses).sum(), torch.cat(nlls).sum(), torch.cat(costs)
        ctx.mark_non_differentiable(nll, cost)
        return loss, nll, cost

    @staticmethod
    def backward(ctx: Any, *output: Tensor) -> tuple[Tensor | None, ...]:
        gradients = [gradient * output[0] for gradient in ctx.gradients]
        return (*gradients, None, None, None, None)


class _SmoothedNLL(torch.autograd.Function):
    """Logits [c, V], ids [c] -> smoothed losses [c] and -ln p(ids) [c]; the gradient in closed form,
    p - (1 - e) onehot(y) - e / V, written over the probabilities."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, ids: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
        log_probs = logits.log_softmax(-1)
        ctx.save_for_backward(log_probs, ids)
        ctx.smoothing = smoothing
        nll = -log_probs.gather(1, ids.unsqueeze(1)).squeeze(1)
        loss = nll if smoothing == 0 else (1 - smoothing) * nll - smoothing * log_probs.mean(-1)
        ctx.mark_non_differentiable(nll)
        return loss.clone(), nll

    @staticmethod
    def backward(ctx: Any, *output: Tensor) -> tuple[Tensor | None, ...]:
        log_probs, ids = ctx.saved_tensors
        gradient = log_probs.exp_().sub_(ctx.smoothing / log_probs.shape[1])
        on_target = gradient.new_full((len(ids), 1), ctx.smoothing - 1)
        gradient.scatter_add_(1, ids.unsqueeze(1), on_target)
        return gradient.mul_(output[0].unsqueeze(1)), None, None
