"""Label-smoothed cross-entropy over decoder states, in chunks, so that all logits never exist at once.

loss = (1 - e) * -ln p(y) + e * mean_v(-ln p(v)) for each target token (Szegedy 2016, section 7), summed; padding counts
nowhere. The gradient is made in the same pass as the loss: a chunk's logits are used up before the next ones are made.
What an attention sampled is judged by the loss of what was predicted from it (`reinforce`). `r_drop` says what becomes
of the loss where every pair is run twice, `guided` what word links add to it.

Shape letters: B sentences, T target positions, n valid target tokens, c of them in a chunk, R readout size, M mixture
components, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nmt.data.batch import Batch
from nmt.model import masks
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import CHUNK, LatentDecoder, mix
from nmt.model.precision import full_precision, product_dtype
from nmt.train.guided import Guide, link_cross_entropy
from nmt.train.r_drop import PairLoss, paired, twice

MAX_LOSS = 700.0  # a token: e to this power is about the largest float, and no training comes back from there


class LossSum(NamedTuple):
    """Sums over target tokens (EOS counted): `loss` is what training minimises, with a gradient; nll is -ln p(y);
    guided the cross-entropy of the links, not weighted, where there is a guide."""

    loss: Tensor
    nll: Tensor
    tokens: int
    guided: Tensor | None = None

    @property
    def is_trainable(self) -> bool:
        """Whether the loss is finite, and the perplexity too: saturated gates stay finite for ever, and a perplexity
        beyond all floats is no better than nan."""
        return math.isfinite(self.loss) and float(self.nll) < MAX_LOSS * self.tokens


class Judged(NamedTuple):
    """Of each token of a chunk: loss [c], with a gradient; -ln p(y) [c]; cross-entropy [c], or each pass's [c, 2]."""

    loss: Tensor
    nll: Tensor
    cost: Tensor


class Differentiated(NamedTuple):
    """A chunk judged, and the gradients of its summed loss: to the logits, as they came, and to log_prior."""

    judged: Judged
    logits: Tensor
    prior: Tensor


Criterion = Callable[[Tensor, Tensor, Tensor, bool], Differentiated]  # logits, log_prior, ids, gradients wanted?


def batch_loss(
    model: EncoderDecoder,
    batch: Batch,
    *,
    smoothing: float = 0.0,
    r_drop: float = 0.0,
    guide: Guide | None = None,
    chunk: int = CHUNK,
) -> LossSum:
    """The batch's summed loss, the attention's own named terms included, and that of the batch's links by `guide`.

    With r_drop > 0 every pair is run twice in one batch of 2 B rows, and a token's loss is the mean of both passes'
    smoothed cross-entropies plus r_drop * (KL(p_1 || p_2) + KL(p_2 || p_1)) / 2: half of the paper's sum, with its
    alpha = 2 r_drop (`nmt.train.r_drop`). `tokens` counts each once; nll and the named terms are means of both passes,
    and a sampled choice is judged by its own pass's cross-entropy, not by the divergence.
    """
    if isinstance(model.decoder, LatentDecoder):
        return likelihood_loss(model, model.decoder, batch)
    passes = 2 if r_drop > 0 else 1
    if passes == 2:
        batch = twice(batch)
    output = model(batch) if guide is None else model(batch, (guide.layer,))
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
    if guide is None:
        return LossSum(loss, nll, len(target))
    assert batch.links is not None, "a corpus that guides has links"
    guided = link_cross_entropy(output.weights[:, 0, guide.head], batch.links, guide.shift) / passes
    return LossSum(loss + guide.weight * guided, nll, len(target), guided.detach())


def likelihood_loss(model: EncoderDecoder, decoder: LatentDecoder, batch: Batch) -> LossSum:
    """-ln p of whole targets, which such a decoder sums over alignments itself; there is no smoothing of it."""
    log_probs = decoder.likelihood(batch.target_out, decoder.prepare(model.encode(batch)))
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    loss = -log_probs[valid].sum()
    return LossSum(loss, loss.detach(), int(valid.sum()))


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
    if r_drop > 0:
        criterion: Criterion = partial(_differentiated, judge=partial(_pair, smoothing=smoothing, r_drop=r_drop))
    elif log_prior is not None:
        criterion = partial(_differentiated, judge=partial(_single, smoothing=smoothing))
    else:
        criterion = partial(smoothed, smoothing=smoothing)
    loss, nll, costs = _ChunkedCrossEntropy.apply(
        states, prior, weight, bias, target, criterion, tokens, torch.is_grad_enabled()
    )  # type: ignore[no-untyped-call]
    return loss, nll, costs


def smoothed(logits: Tensor, log_prior: Tensor, ids: Tensor, wanted: bool, *, smoothing: float) -> Differentiated:
    """The criterion of logits [c, V] alone, in closed form: the gradient to them is p - (1 - e) onehot(y) - e / V.

    The logarithm of the sum is had from the highest probability, 1 / sum(exp(x - max)): of what torch has, its softmax
    is the fastest way on a CPU to a sum of exponentials.
    """
    on_target = logits.gather(1, ids.unsqueeze(1))
    probs = logits.softmax(-1)
    log_total = logits.amax(-1, keepdim=True) - probs.amax(-1, keepdim=True).log()
    nll = loss = (log_total - on_target).squeeze(1)
    if smoothing:
        uniform = (log_total - logits.mean(-1, keepdim=True)).squeeze(1)
        loss = (1 - smoothing) * nll + smoothing * uniform
    if wanted:
        if smoothing:
            probs.sub_(smoothing / logits.shape[1])
        probs.scatter_add_(1, ids.unsqueeze(1), probs.new_full((len(ids), 1), smoothing - 1))
    return Differentiated(Judged(loss, nll, loss), probs, log_prior)


def _differentiated(
    logits: Tensor, log_prior: Tensor, ids: Tensor, wanted: bool, *, judge: Callable[[Tensor, Tensor], Judged]
) -> Differentiated:
    """The criterion of mixed or paired logits, by automatic differentiation of `judge`."""
    leaves = [logits.detach().requires_grad_(wanted), log_prior.detach().requires_grad_(wanted)]
    with torch.set_grad_enabled(wanted):
        judged = judge(mix(leaves[0], leaves[1] if log_prior.shape[-1] else None), ids)
        total = judged.loss.sum()
    gradients = leaves
    if wanted:
        gradients = list(torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True))
    return Differentiated(judged._replace(loss=judged.loss.detach()), *gradients)


def _single(logits: Tensor, ids: Tensor, *, smoothing: float) -> Judged:
    log_probs = logits.log_softmax(-1)
    nll = -log_probs.gather(1, ids.unsqueeze(1)).squeeze(1)
    loss = nll if smoothing == 0 else (1 - smoothing) * nll - smoothing * log_probs.mean(-1)
    return Judged(loss, nll.detach(), loss.detach())


def _pair(logits: Tensor, ids: Tensor, *, smoothing: float, r_drop: float) -> Judged:
    return Judged(*PairLoss.apply(logits, ids, smoothing, r_drop))  # type: ignore[no-untyped-call]


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Keeps, instead of logits, the gradients of what the readout read and of the projection.

    All chunks' logits are written into one buffer. In half precision they are of the products' precision, and judged in
    float32: to keep their sums and logarithms in eight bits would lose the loss.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        prior: Tensor,
        weight: Tensor,
        bias: Tensor,
        target: Tensor,
        criterion: Criterion,
        chunk: int,
        wanted: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        dtype = product_dtype(states)
        read, table, offset = (x.to(dtype) for x in (states.flatten(0, -2), weight, bias))
        each = states.shape[1:-1]  # rows of logits of one token
        judged, gradients = [], []
        with torch.autocast(states.device.type, enabled=False):
            buffer = read.new_empty(min(chunk, len(states)) * each.numel(), len(table))
            total = [torch.zeros_like(weight), torch.zeros_like(bias)] if wanted else []
            for log_prior, ids, rows in zip(
                torch.split(prior, chunk),
                torch.split(target, chunk),
                torch.split(read, chunk * each.numel()),
                strict=True,
            ):
                logits = torch.addmm(offset, rows, table.t(), out=buffer[: len(rows)])
                found = criterion(full_precision(logits).view(len(ids), *each, -1), log_prior, ids, wanted)
                judged.append(found.judged)
                if wanted:
                    by_logits = found.logits.flatten(0, -2)
                    gradient = by_logits.to(dtype)
                    gradients.append((gradient @ table, found.prior))
                    add_product(total[0], gradient.t(), rows)
                    total[1] += by_logits.sum(0)
        if wanted:
            own, priors = (torch.cat(parts) for parts in zip(*gradients, strict=True))
            ctx.gradients = [own.view(states.shape), priors, *total]
        losses, nlls, costs = (torch.cat(parts) for parts in zip(*judged, strict=True))
        nll = nlls.sum()
        ctx.mark_non_differentiable(nll, costs)
        return losses.sum(), nll, costs

    @staticmethod
    def backward(ctx: Any, *output: Tensor) -> tuple[Tensor | None, ...]:
        gradients = [gradient * output[0] for gradient in ctx.gradients]
        return (*gradients, None, None, None, None)


def add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """total += left @ right, where the dtypes are the same in the product itself."""
    if total.dtype == left.dtype:
        total.addmm_(left, right)
    else:
        total += left @ right
