"""ln p(y_t | x_s) of given target tokens for every source position, without ever holding all logits.

Shape letters: B sentences, S source positions, T target positions, R state size, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.model.interface import CHUNK
from nmt.model.precision import product_dtype


def emissions(states: Tensor, weight: Tensor, bias: Tensor, target: Tensor) -> Tensor:
    """States [B, S, R], projection [V, R] and [V], ids [B, T] -> ln p(y_t | x_s) [B, T, S].

    Logits of CHUNK source positions exist at a time; the gradient makes them once more.
    """
    found: Tensor = _Emissions.apply(states, weight, bias, target)  # type: ignore[no-untyped-call]
    return found


class _Emissions(torch.autograd.Function):
    """The gradient to the logits of x_s is sum_t g_ts (onehot(y_t) - p(. | x_s)): no logits need be kept for it."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, target: Tensor) -> Tensor:
        ctx.dtype = dtype = product_dtype(states)
        found = states.new_empty(*target.shape, states.shape[1])
        totals = states.new_empty(states.shape[:2])
        with torch.autocast(states.device.type, enabled=False):
            table, offset = weight.to(dtype), bias.to(dtype)
            for part in _chunks(states):
                logits = F.linear(states[part].to(dtype), table, offset).to(states.dtype)  # [b, S, V]
                totals[part] = logits.logsumexp(-1)
                chosen = logits.gather(2, _columns(target[part], states)) - totals[part].unsqueeze(-1)  # [b, S, T]
                found[part] = chosen.transpose(1, 2)
        ctx.save_for_backward(states, weight, bias, target, totals)
        return found

    @staticmethod
    def backward(ctx: Any, *output: Tensor) -> tuple[Tensor | None, ...]:
        states, weight, bias, target, totals = ctx.saved_tensors
        gradient = output[0].transpose(1, 2)  # [B, S, T]
        dtype = ctx.dtype
        by_states, by_weight, by_bias = (torch.zeros_like(x) for x in (states, weight, bias))
        with torch.autocast(states.device.type, enabled=False):
            table, offset = weight.to(dtype), bias.to(dtype)
            for part in _chunks(states):
                read = states[part].to(dtype)
                logits = F.linear(read, table, offset).to(states.dtype)
                by_logits = (logits - totals[part].unsqueeze(-1)).exp_() * -gradient[part].sum(-1, keepdim=True)
                by_logits.scatter_add_(2, _columns(target[part], states), gradient[part].contiguous())
                by_bias += by_logits.sum((0, 1))
                flat = by_logits.to(dtype).flatten(0, 1)
                by_states[part] = (flat @ table).view_as(read)
                by_weight += flat.t() @ read.flatten(0, 1)
        return by_states, by_weight, by_bias, None


def _chunks(states: Tensor) -> list[slice]:
    """Sentences whose source positions are CHUNK together, at least one."""
    size = max(1, CHUNK // states.shape[1])
    return [slice(first, first + size) for first in range(0, len(states), size)]


def _columns(target: Tensor, states: Tensor) -> Tensor:
    """Ids [b, T] for every source position: [b, S, T]."""
    return target.unsqueeze(1).expand(-1, states.shape[1], -1)
