"""Attention as score + window + normalizer: what every decoder (and a Transformer's encoder) reads its memory with.

Shape letters: B sentences, N query rows (B, or B x beam: the rows of one sentence follow one another), T query
positions, S source positions, Q query size, K key size, D memory size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from nmt.model import masks
from nmt.model.attention import kernel
from nmt.model.attention.coverage import Coverage
from nmt.model.attention.normalizers.normalized import Normalized
from nmt.model.attention.normalizers.softmax import Softmax
from nmt.model.attention.scores.scaled_dot import ScaledDot
from nmt.model.attention.windows.window import Windowed
from nmt.model.dropout import Dropout
from nmt.model.interface import Attended, select
from nmt.model.positions.position import Position


class Prepared(NamedTuple):
    """What is computed once a sentence: keys [B, S, K], values [B, S, D], valid [B, S] bool, summary [B, D]."""

    keys: Tensor
    values: Tensor
    valid: Tensor
    summary: Tensor


class Score(Protocol):
    """score(query [B, T, Q], keys [B, S, K]) -> energies [B, T, S]; `project(states)`: the keys, once a sentence,
    of `key_size` numbers."""

    key_size: int

    def project(self, states: Tensor) -> Tensor: ...

    def __call__(self, query: Tensor, keys: Tensor) -> Tensor: ...


class Window(Protocol):
    """window(query [B, T, Q], valid [B, S], position [B or 1, T]) -> which positions may be read, and their gain.

    needs_length: what it shows depends on the sentence's length, which a decoder does not know of its own sentence.
    """

    needs_length: bool

    def __call__(self, query: Tensor, valid: Tensor, position: Tensor) -> Windowed: ...


class Normalizer(Protocol):
    """normalizer(energies [B, T, S], allowed, log_gain) -> weights; allowed and log_gain broadcast to the energies.

    mixes: it returns a mixture. samples: in training it draws positions, whose log_choice the loss needs.
    """

    mixes: bool
    samples: bool

    def __call__(self, energies: Tensor, allowed: Tensor, log_gain: Tensor | None) -> Normalized: ...


class AttentionLike(Protocol):
    """What decoders ask of any attention.

    `prepare` once a sentence; `start` gives the state before the first position, whose rows are sentences; calling it
    reads the memory. `feeds_back` says whether a position depends on the weights of the one before: where it does not,
    all positions may be given at once. context_size is the size of what is read; mixes and samples are its
    normalizer's. `causal` False lifts, for one call, the mask that a decoder's self-attention was built with.
    """

    context_size: int
    feeds_back: bool
    mixes: bool
    samples: bool
    heads: int

    def prepare(self, states: Tensor, valid: Tensor, summary: Tensor, first: int = 0) -> Any: ...

    def start(self, prepared: Any) -> tuple[Any, ...]: ...

    def __call__(
        self,
        query: Tensor,
        prepared: Any,
        state: tuple[Any, ...],
        position: Tensor,
        need_weights: bool = True,
        causal: bool = True,
    ) -> tuple[Attended, tuple[Any, ...]]: ...


class Attention(nn.Module):
    """One head: energies by `score`, restricted by `window`, made weights by `normalizer`, which average the values.

    The three are given as classes (or any callable) and built here, where their sizes are known; so are `coverage`, if
    there is any, and `position`, for the hooks of relative positions. `causal` forbids keys after the query's own
    position (self-attention of a decoder). `dropout` acts on the weights that read, never on those returned.
    """

    heads = 1

    def __init__(
        self,
        *,
        query_size: int,
        memory_size: int,
        score: Callable[..., Score],
        window: Callable[..., Window],
        normalizer: Callable[..., Normalizer],
        coverage: Callable[..., Coverage] | None = None,
        position: Callable[..., Position] = Position,
        causal: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.score = score(query_size=query_size, memory_size=memory_size)
        self.window = window(query_size=query_size)
        if causal and self.window.needs_length:
            raise ValueError("a decoder does not know the length of what it writes: take local-m with eos=true")
        self.normalizer = normalizer()
        self.mixes, self.samples = self.normalizer.mixes, self.normalizer.samples
        if self.mixes and dropout > 0:
            raise ValueError(f"dropout is {dropout}: a mixture keeps every position apart, and has no weights to drop")
        self.coverage = coverage and coverage(memory_size=memory_size, key_size=self.score.key_size)
        self.feeds_back = self.coverage is not None
        self.position = position(size=query_size, head_size=query_size)
        self.context_size = memory_size
        self.causal = causal
        self.dropout = Dropout(dropout)
        self.may_fuse = (
            type(self.score) is ScaledDot and type(self.normalizer) is Softmax and not self.position.explicit
        )

    def prepare(self, states: Tensor, valid: Tensor, summary: Tensor, first: int = 0) -> Prepared:
        """States [B, S, D], whose first column stands at position `first`, are both keys and values."""
        return Prepared(self.keys(states, first), states, valid, summary)

    def keys(self, states: Tensor, first: int) -> Tensor:
        """States [B, S, D] -> keys [B, S, K], turned by their positions `first`, `first` + 1, ..."""
        position = torch.arange(first, first + states.shape[1], device=states.device).unsqueeze(0)
        return self.position.turn(self.score.project(states), position)

    def start(self, prepared: Prepared) -> tuple[Any, ...]:
        """What coverage keeps; without it nothing is carried from position to position."""
        return () if self.coverage is None else (self.coverage.start(prepared.valid, prepared.values),)

    def forward(
        self,
        query: Tensor,
        prepared: Prepared,
        state: tuple[Any, ...],
        position: Tensor,
        need_weights: bool = True,
        causal: bool = True,
    ) -> tuple[Attended, tuple[Any, ...]]:
        """Query [N, T, Q] at positions [N or 1, T] -> Attended, and the state to go on from.

        In search N = B x beam: the rows of a sentence are folded into T, so that keys and values are never copied.
        """
        if self.coverage is not None:
            return self.read_covered(self.coverage, query, prepared, state, position)
        rows, steps = query.shape[:2]
        sentences = prepared.valid.shape[0]
        if rows != sentences:
            query = query.reshape(sentences, -1, query.shape[-1])
            position = position.expand(rows, steps).reshape(sentences, -1)
        attended = self.read(query, prepared, position, need_weights, causal)
        return (attended if rows == sentences else unfold(attended, rows, steps)), state

    def read_covered(
        self, coverage: Coverage, query: Tensor, prepared: Prepared, state: tuple[Any, ...], position: Tensor
    ) -> tuple[Attended, tuple[Any, ...]]:
        """One position: query [N, 1, Q]. Each row has read something else, so that keys become rows' own."""
        assert query.shape[1] == 1, "what feeds back runs one position at a time"
        (before,) = state
        own = prepared
        if len(query) != len(prepared.valid):
            sentence = torch.arange(len(prepared.valid), device=query.device)
            own = select(prepared, sentence.repeat_interleave(len(query) // len(sentence)))
        keys = coverage.keys(own.keys, own.values, before)
        attended = self.read(query, own._replace(keys=keys), position, need_weights=True)
        weights = attended.weights[:, 0, 0]  # [N, S]
        losses = attended.losses | coverage.losses(weights, before)
        return attended._replace(losses=losses), (before + weights,)

    def read(
        self, query: Tensor, prepared: Prepared, position: Tensor, need_weights: bool, causal: bool = True
    ) -> Attended:
        """One row of queries a sentence: query [B, T, Q], position [B or 1, T]."""
        query = self.position.turn(query, position)
        allowed, log_gain, renormalise = self.window(query, prepared.valid, position)
        if self.causal and causal:
            allowed = masks.both(allowed, masks.causal_mask(position, prepared.valid.shape[1]))
        if self.may_fuse and log_gain is None and not need_weights and kernel.prefers_fused(prepared.keys):
            rate = self.dropout.rate if self.training else 0.0
            context = kernel.fused(query, prepared.keys, prepared.values, allowed, rate)
            none = context.new_zeros(query.shape[0], 0, query.shape[1], prepared.valid.shape[1])
            return Attended(context, none, none, None, None, {})
        energies = self.position.bias(self.score(query, prepared.keys), query, position)  # [B, T, S]
        if renormalise and log_gain is not None:
            energies, log_gain = energies + log_gain, None
        weights, mixture, log_choice, losses = self.normalizer(energies, allowed, log_gain)
        if mixture is None:
            reading = self.dropout(weights)
            context = self.position.read(reading @ prepared.values, reading, position)  # [B, T, D]
            log_prior = positions = None
        else:
            log_prior, positions = mixture
            context = choices(prepared.values, positions, query.shape[1])
        return Attended(context, weights.unsqueeze(1), energies.unsqueeze(1), log_prior, log_choice, losses, positions)


def choices(values: Tensor, positions: Tensor | None, steps: int) -> Tensor:
    """Values [B, S, D] -> what each of a mixture's choices reads: [B, T, M, D], by positions [B, T, M] or in order."""
    if positions is None:
        return values.unsqueeze(1).expand(-1, steps, -1, -1)
    flat = positions.flatten(1).unsqueeze(-1).expand(-1, -1, values.shape[-1])
    return values.gather(1, flat).unflatten(1, positions.shape[1:])  # type: ignore[no-untyped-call, no-any-return]


def unfold(attended: Attended, rows: int, steps: int) -> Attended:
    """Queries folded as [B, beam x T] back to [N, T], in everything returned."""

    def back(x: Tensor) -> Tensor:
        return x.reshape(rows, steps, *x.shape[2:])

    def back_heads(x: Tensor) -> Tensor:  # one head, or none where a kernel was fused: [B, H, beam x T, S]
        return x.reshape(rows, x.shape[1], steps, x.shape[3])

    return Attended(
        context=back(attended.context),
        weights=back_heads(attended.weights),
        energies=back_heads(attended.energies),
        log_prior=None if attended.log_prior is None else back(attended.log_prior),
        log_choice=None if attended.log_choice is None else back(attended.log_choice),
        losses={name: back(x) for name, x in attended.losses.items()},
        positions=None if attended.positions is None else back(attended.positions),
    )
