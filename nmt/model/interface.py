"""What passes between encoder, attention, decoder and search: values, and the protocols that make and take them.

Shape letters: B sentences, N decoder rows (N = B in training, B x beam in search: the rows of one sentence follow one
another), S source positions, T target positions, D memory size, Q query size, K key size, H heads, L layers, V
vocabulary, M mixture components.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from torch import Tensor, nn

from nmt.model.embedding import Embedding

State = TypeVar("State")
CHUNK = 512  # rows of logits that exist at a time: target tokens, times the choices of a mixture


class Memory(NamedTuple):
    """An encoded batch of sources. What stands where `valid` is False never matters.

    states [B, S, D]; valid [B, S] bool; summary [B, D], one vector for the whole sentence;
    final [B, L, directions, components, size]: each recurrent layer's last state, for the decoder's bridge, where
    direction 0 read forward and 1 backward, component 0 is the hidden state and 1 an LSTM's cell (L = 0 where the
    encoder is not recurrent); weights [B, layers asked for, H, S, S]: self-attention, on request.
    """

    states: Tensor
    valid: Tensor
    summary: Tensor
    final: Tensor
    weights: Tensor

    @property
    def lengths(self) -> Tensor:
        """True source lengths [B], EOS counted."""
        return self.valid.sum(1)


class Attended(NamedTuple):
    """What one attention call returns.

    context [N, T, D], or [N, T, M, D] when the attention is a mixture of M choices, whose log-probabilities are then
    log_prior [N, T, M] and which read the source `positions` [N, T, M] (None: choice m reads position m); weights
    [N, H, T, S] after normaliser, window gain and nothing else (no dropout); energies [N, H, T, S] before the
    normaliser; log_choice [N, T]: ln of the probability of the positions that were sampled (of all heads together),
    None where nothing was; losses: named extra terms for the training loss, each [N, T]. weights and energies have
    H = 0 where a fused kernel never formed them.
    """

    context: Tensor
    weights: Tensor
    energies: Tensor
    log_prior: Tensor | None
    log_choice: Tensor | None
    losses: dict[str, Tensor]
    positions: Tensor | None = None


class DecoderOutput(NamedTuple):
    """Decoder states ready for `readout`.

    states [N, T, R], or [N, T, M, R] with log_prior and positions [N, T, M] for a mixture, as in Attended; weights
    [N, layers asked for, H, T, S]: attention over the source (a recurrent decoder has one layer); self_weights [N,
    layers asked for, H, T, T] where there is self-attention; log_choice [N, T]: ln of the probability of everything
    that was sampled at a position, None where nothing was; losses: named extra terms, each [N, T], that the training
    loss adds by name.
    """

    states: Tensor
    log_prior: Tensor | None
    log_choice: Tensor | None
    weights: Tensor
    self_weights: Tensor
    losses: dict[str, Tensor]
    positions: Tensor | None = None


class Step(NamedTuple):
    """One position of the decoder: its output (T = 1) and the state to go on from."""

    output: DecoderOutput
    state: Any


class EncoderSizes(NamedTuple):
    """What a decoder has to know of its encoder: the memory's size D, and the shape of `Memory.final` without B."""

    output_size: int
    final_shape: tuple[int, int, int, int]


class Encoder(Protocol):
    """ids [B, S], lengths [B] -> Memory. `weights_of` names the layers whose self-attention weights are returned.

    `read` goes on from the ids' embeddings: encoder(ids, lengths) is encoder.read(encoder.embedding(ids), lengths).

    layers: how many of them attend. longest: the most tokens a sentence may have, None where any length works. So too
    in a decoder, whose layers attend over the source with `heads` heads each.
    """

    embedding: Embedding
    layers: int
    output_size: int
    final_shape: tuple[int, int, int, int]
    longest: int | None

    def __call__(self, source: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory: ...

    def read(self, embedded: Tensor, lengths: Tensor, weights_of: Sequence[int] = ()) -> Memory: ...


class Decoder(Protocol):
    """Memory + target -> states -> logits, all positions at once or one at a time; the two agree in evaluation mode.

    `prepare` does once a sentence what every position needs (projected keys and values, B rows). A state holds only
    what differs between hypotheses: nested tuples of tensors with the row on axis 0, so that `select` serves all. The
    readout of states is `mix(projection(states), log_prior)`, with `projection` the last linear layer [V, R], which a
    loss may apply in chunks. `start` gives B rows; search widens them by `select`. In `step` the state may have N = B x
    beam rows.

    samples: in training, what is read is drawn, and its log_choice returned; carries: what is read at a position
    reaches the positions after it; looks_ahead: `forward` can be given `full_context` [N, T], the target positions that
    each position then reads, later ones too: a pass that explains a target, and predicts nothing.
    """

    layers: int
    heads: int
    samples: bool
    carries: bool
    looks_ahead: bool
    longest: int | None
    projection: nn.Linear

    def prepare(self, memory: Memory) -> Any: ...

    def start(self, prepared: Any) -> Any: ...

    def step(self, token: Tensor, state: Any, prepared: Any) -> Step: ...

    def forward(
        self, target_in: Tensor, prepared: Any, weights_of: Sequence[int] = (), full_context: Tensor | None = None
    ) -> DecoderOutput: ...

    def readout(self, states: Tensor, log_prior: Tensor | None) -> Tensor: ...


@runtime_checkable
class LatentDecoder(Decoder, Protocol):
    """A decoder that sums over alignments of whole sentences: it knows ln p of a given target without a readout, and
    where each target token came from once all are known.

    target_out, valid [B, T]; likelihood [B, T], which training maximises as it is; posterior [B, T, S].
    """

    def likelihood(self, target_out: Tensor, prepared: Any) -> Tensor: ...

    def posterior(self, target_out: Tensor, valid: Tensor, prepared: Any) -> Tensor: ...


def map_tensors(state: State, change: Callable[[Tensor], Tensor]) -> State:
    """A nest of tuples of tensors with every tensor changed."""
    if isinstance(state, Tensor):
        return change(state)  # type: ignore[return-value]
    assert isinstance(state, tuple), f"a state is a nest of tuples of tensors, not {type(state).__name__}"
    parts = [map_tensors(part, change) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)


def select(state: State, rows: Tensor) -> State:
    """The given rows (in the given order, repeats allowed) of every tensor in a nest of tuples.

    Serves decoder states and everything `prepare` returns, whatever the model.
    """
    return map_tensors(state, lambda tensor: tensor.index_select(0, rows))


def mix(logits: Tensor, log_prior: Tensor | None) -> Tensor:
    """Logits [..., V] as they are; a mixture's [..., M, V] with log_prior [..., M] -> log-probabilities [..., V]."""
    if log_prior is None:
        return logits
    return (logits.log_softmax(-1) + log_prior.unsqueeze(-1)).logsumexp(-2)
