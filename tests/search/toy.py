"""A small random decoder with a genuine state, in double precision: what search must serve, at the size of a test.

Shape letters: B sentences, N = B x beam rows, T target positions, D state size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.data.special import BOS, EOS, PAD, UNK
from nmt.model.interface import DecoderOutput, Memory, Step, select

BANNED = (UNK, BOS, PAD)
SIZE = 7


class ToyState(NamedTuple):
    """hidden [N, D] and, as a decoder with a history has it, the position [N]."""

    hidden: Tensor
    position: Tensor


class ToyDecoder:
    """A recurrent step over random tables. The source, D numbers a sentence, enters every step (prepared, B rows).

    Greater `eos_gain` makes EOS more probable the longer the hypothesis is, `sharpness` makes choices clearer.
    """

    layers = 1

    def __init__(self, *, vocabulary: int, seed: int = 3, sharpness: float = 1.5, eos_gain: float = 0.2) -> None:
        random = torch.Generator().manual_seed(seed)
        self.embedding = torch.randn(vocabulary, SIZE, generator=random, dtype=torch.double)
        self.recurrent = torch.randn(SIZE, SIZE, generator=random, dtype=torch.double)
        self.output = sharpness * torch.randn(SIZE, vocabulary, generator=random, dtype=torch.double)
        self.eos_gain = eos_gain

    def prepare(self, memory: Memory) -> Tensor:
        return memory.states[:, 0]

    def start(self, prepared: Tensor) -> ToyState:
        return ToyState(torch.zeros_like(prepared), torch.zeros(len(prepared), dtype=torch.long))

    def step(self, token: Tensor, state: ToyState, prepared: Tensor) -> Step:
        beam, rest = divmod(len(token), len(prepared)) if len(prepared) else (1, 0)
        assert rest == 0, "N must be B x beam"
        source = prepared.repeat_interleave(beam, 0)
        # Sums instead of matrix products: the same to the last bit, however many rows there are.
        mixed = (state.hidden[:, :, None] * self.recurrent).sum(1)
        hidden = torch.tanh(mixed + self.embedding[token] + source)
        position = state.position + 1
        states = torch.cat([hidden, position[:, None].double()], 1)[:, None]
        return Step(_output(states), ToyState(hidden, position))

    def forward(self, target_in: Tensor, prepared: Tensor, weights_of: Sequence[int] = ()) -> DecoderOutput:
        state, states = self.start(prepared), []
        for token in target_in.unbind(1):
            output, state = self.step(token, state, prepared)
            states.append(output.states)
        return _output(torch.cat(states, 1))

    def readout(self, states: Tensor, log_prior: Tensor | None) -> Tensor:
        logits = (states[..., :SIZE, None] * self.output).sum(2)
        logits[..., EOS] += self.eos_gain * states[..., SIZE]
        return logits


class TableDecoder:
    """Next-token probabilities looked up by the last token alone: a bigram table that a test can write down."""

    layers = 1

    def __init__(self, probabilities: Tensor) -> None:
        self.table = probabilities.double().log()

    def prepare(self, memory: Memory) -> Tensor:
        return memory.states[:, 0]

    def start(self, prepared: Tensor) -> tuple[Tensor]:
        return (prepared,)

    def step(self, token: Tensor, state: tuple[Tensor], prepared: Tensor) -> Step:
        return Step(_output(token[:, None, None]), select(state, torch.arange(len(token))))

    def forward(self, target_in: Tensor, prepared: Tensor, weights_of: Sequence[int] = ()) -> DecoderOutput:
        return _output(target_in[:, :, None])

    def readout(self, states: Tensor, log_prior: Tensor | None) -> Tensor:
        return self.table[states[..., 0]]


def toy_memory(sentences: int, seed: int = 5) -> Memory:
    """Random sources, one position each."""
    random = torch.Generator().manual_seed(seed)
    states = torch.randn(sentences, 1, SIZE, generator=random, dtype=torch.double)
    valid = torch.ones(sentences, 1, dtype=torch.bool)
    none = torch.zeros(sentences, 0, 0, 0, 0)
    return Memory(states, valid, states[:, 0], none, none)


def one(memory: Memory, row: int) -> Memory:
    """The memory of a single sentence."""
    return select(memory, torch.tensor([row]))


def forced_log_probs(
    decoder: ToyDecoder | TableDecoder, memory: Memory, tokens: Sequence[int], eos: bool
) -> list[float]:
    """ln p of each of the tokens (and of EOS after them) for a single source: teacher forcing, no search involved."""
    out = [*tokens, EOS] if eos else list(tokens)
    target_in = torch.tensor([[BOS, *out[:-1]]])
    output = decoder.forward(target_in, decoder.prepare(memory))
    log_probs = decoder.readout(output.states, output.log_prior).log_softmax(-1)[0]
    return log_probs[torch.arange(len(out)), torch.tensor(out)].tolist()


def _output(states: Tensor) -> DecoderOutput:
    none = torch.zeros(len(states), 0, 0, 0, 0)
    return DecoderOutput(states, None, None, none, none, {})
