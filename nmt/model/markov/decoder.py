"""The hidden Markov decoder: each target word is translated from one source position, reached by a jump from the last.

p(y, a) = prod_t p(a_t | a_{t-1}, x) p(y_t | x_{a_t}), summed over all alignments a exactly (Vogel 1996; with networks
for both factors Wang 2018, "Neural hidden Markov model"). It reads no target history, so it translates badly, and it
can't explain a word but by a source word: what it is for is its alignment, p(a_t | x, y), which has seen both sentences
whole. A target word may come from no source word, with p_0: from the source's EOS; the next jump then starts where the
last one ended (Och & Ney 2003).

To search it is a mixture like any other (`DecoderOutput.log_prior`), whose prior is what the tokens so far leave open:
p(a_t | y_<t), the forward filter.

Shape letters: B sentences, N rows (B, or B x beam in search), S source positions, T target positions, D memory size,
R state size, J farthest jump told apart, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nmt.model import masks
from nmt.model.dropout import Dropout
from nmt.model.embedding import Embedding, Projection
from nmt.model.interface import DecoderOutput, EncoderSizes, Memory, Step, map_tensors, mix, select
from nmt.model.markov.emission import emissions
from nmt.model.precision import full_precision

_LEAST = 1e-30  # a probability that the logarithm survives


class MarkovPrepared(NamedTuple):
    """Once a sentence: states [B, S, R] that words are translated from; jumps [B, S, S], p(to | from) over words;
    first [B, S], p(a_1) over words; words [B, S], True on what is neither EOS nor padding; ends [B, S], True on EOS."""

    states: Tensor
    jumps: Tensor
    first: Tensor
    words: Tensor
    ends: Tensor


class MarkovState(NamedTuple):
    """ahead [N, S]: which word is read next, if one is, given the tokens so far; total [N, S]: ln of what each
    position's exponentials add up to over V; position [N], of the next token."""

    ahead: Tensor
    total: Tensor
    position: Tensor


class HiddenMarkovDecoder(nn.Module):
    """jumps: distances beyond it count as it. unaligned: p_0 before training, which learns it.

    A jump's distance has a bias of its own and a term of the source word that it leaves (Och & Ney 2003 condition on
    its class). `likelihood` gives ln p of a whole target, `posterior` the alignment given it. tied as in every decoder.
    """

    layers = 1
    heads = 1
    samples = False
    carries = True
    looks_ahead = False
    longest: int | None = None

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: EncoderSizes,
        jumps: int = 50,
        unaligned: float = 0.2,
        dropout: float = 0.0,
        tied: bool = False,
    ) -> None:
        super().__init__()
        if jumps < 1:
            raise ValueError(f"jumps is {jumps}: allowed is a positive number of positions")
        if not 0 < unaligned < 1:
            raise ValueError(f"unaligned is {unaligned}: allowed is 0 < unaligned < 1")
        size = embedding.size
        self.farthest = jumps
        self.enter = nn.Linear(encoder.output_size, size)
        self.inner = nn.Linear(size, size)
        self.dropout = Dropout(dropout)
        self.distance = nn.Linear(size, 2 * jumps + 1)
        self.beginning = nn.Parameter(torch.zeros(jumps))
        self.unaligned = nn.Parameter(torch.tensor(unaligned).logit())
        self.projection = Projection(
            input_size=size, vocabulary_size=embedding.vocabulary_size, tied=embedding if tied else None
        )
        nn.init.zeros_(self.distance.weight)
        nn.init.zeros_(self.distance.bias)

    def prepare(self, memory: Memory) -> MarkovPrepared:
        """What each source position translates to, and where it leads."""
        hidden = self.dropout(torch.tanh(self.enter(memory.states)))
        states = full_precision(hidden + torch.tanh(self.inner(hidden)))
        width = states.shape[1]
        words = masks.valid_mask(memory.lengths - 1, width)
        place = torch.arange(width, device=states.device)
        distance = (place - place.unsqueeze(1)).clamp(-self.farthest, self.farthest) + self.farthest  # [from, to]
        energies = full_precision(self.distance(states)).gather(2, distance.expand(len(states), -1, -1))
        beginning = self.beginning[place.clamp(max=self.farthest - 1)].to(states.dtype)
        return MarkovPrepared(
            states,
            _softmax(energies, words.unsqueeze(1)),
            _softmax(beginning.expand(len(states), -1), words),
            words,
            memory.valid & ~words,
        )

    def start(self, prepared: MarkovPrepared) -> MarkovState:
        """Nothing translated yet."""
        total = torch.stack([self.projection(states).logsumexp(-1) for states in prepared.states])
        position = torch.zeros(len(total), dtype=torch.long, device=total.device)
        return MarkovState(prepared.first, total, position)

    def step(self, token: Tensor, state: MarkovState, prepared: MarkovPrepared) -> Step:
        """Tokens [N] -> output for the position after them (T = 1) and the next state; the first token is BOS."""
        sentence = torch.arange(len(prepared.states), device=token.device)
        beam = len(token) // len(sentence)
        own = select(prepared, sentence.repeat_interleave(beam)) if beam > 1 else prepared
        logits = (own.states @ self.projection.weight[token].unsqueeze(-1)).squeeze(-1)  # [N, S]
        emission = logits + self.projection.bias[token].unsqueeze(1) - state.total
        seen, _ = self.observe(emission.exp(), self.prior(state.ahead, own), state.ahead, own)
        ahead = torch.where((state.position > 0).unsqueeze(1), seen, state.ahead)
        output = self.output(self.prior(ahead, own).unsqueeze(1), own)
        return Step(output, MarkovState(ahead, state.total, state.position + 1))

    def forward(
        self,
        target_in: Tensor,
        prepared: MarkovPrepared,
        weights_of: Sequence[int] = (),
        full_context: Tensor | None = None,
    ) -> DecoderOutput:
        """Ids [B, T] -> output for every position."""
        assert full_context is None, "only a decoder that looks ahead is given what lies ahead"
        priors, _ = self.filter(self.emitted(target_in[:, 1:], prepared), prepared)
        return self.output(priors, prepared)

    def readout(self, states: Tensor, log_prior: Tensor | None) -> Tensor:
        """States [..., S, R] with log_prior [..., S] -> log-probabilities [..., V]."""
        return mix(self.projection(states), log_prior)

    def likelihood(self, target_out: Tensor, prepared: MarkovPrepared) -> Tensor:
        """ln p(y_t | y_<t, x) of the target ids [B, T] at every position -> [B, T]."""
        return self.filter(self.emitted(target_out, prepared), prepared)[1]

    def posterior(self, target_out: Tensor, valid: Tensor, prepared: MarkovPrepared) -> Tensor:
        """p(a_t = s | x, y) [B, T, S] of ids [B, T], valid [B, T]; the last column of a sentence is "no source word".

        It is the gradient of ln p(y) by ln p(y_t | x_s): what the forward-backward algorithm computes.
        """
        with torch.inference_mode(False), torch.enable_grad():
            fixed = map_tensors(prepared, lambda x: x.detach().clone())
            emission = self.emitted(target_out.clone(), fixed).detach().requires_grad_()
            log_probs = self.filter(emission, fixed)[1].masked_fill(~valid, 0.0)
            (shares,) = torch.autograd.grad(log_probs.sum(), emission)
        return shares

    def emitted(self, target: Tensor, prepared: MarkovPrepared) -> Tensor:
        """ln p(y_t | x_s) of ids [B, T] -> [B, T, S]."""
        return emissions(prepared.states, self.projection.weight, self.projection.bias, target)

    def filter(self, emission: Tensor, prepared: MarkovPrepared) -> tuple[Tensor, Tensor]:
        """Emissions [B, T, S] -> p(a_t | y_<t) for T + 1 positions [B, T + 1, S], and ln p(y_t | y_<t) [B, T]."""
        peak = emission.detach().amax(-1, keepdim=True)
        likely = (emission - peak).exp()
        ahead = prepared.first
        priors, seen = [self.prior(ahead, prepared)], []
        for emitted in likely.unbind(1):
            ahead, prob = self.observe(emitted, priors[-1], ahead, prepared)
            priors.append(self.prior(ahead, prepared))
            seen.append(prob)
        log_probs = torch.stack(seen, 1).log() + peak.squeeze(-1) if seen else peak.squeeze(-1)
        return torch.stack(priors, 1), log_probs

    def observe(self, likely: Tensor, prior: Tensor, ahead: Tensor, prepared: MarkovPrepared) -> tuple[Tensor, Tensor]:
        """A token is seen that position s emits with `likely` [N, S] -> `ahead` after it, and its probability [N].

        Either a word was read, and the next jump leaves it; or EOS was, and the jump that was due stays due.
        """
        joint = prior * likely
        prob = joint.sum(-1, keepdim=True).clamp_min(_LEAST)
        jumped = torch.bmm((joint * prepared.words).unsqueeze(1), prepared.jumps).squeeze(1)
        unread = (joint * prepared.ends).sum(-1, keepdim=True)
        return (jumped + unread * ahead) / prob, prob.squeeze(-1)

    def prior(self, ahead: Tensor, prepared: MarkovPrepared) -> Tensor:
        """p(a_t | y_<t) [N, S]: the words' share 1 - p_0 as `ahead` has it, the rest EOS's."""
        words = ahead * torch.sigmoid(-self.unaligned)
        return words + prepared.ends * (1 - words.sum(-1, keepdim=True))

    def output(self, priors: Tensor, prepared: MarkovPrepared) -> DecoderOutput:
        """Priors [N, T, S] -> a mixture over all source positions."""
        rows, steps, _ = priors.shape
        return DecoderOutput(
            states=prepared.states.unsqueeze(1).expand(-1, steps, -1, -1),
            log_prior=priors.clamp_min(_LEAST).log(),
            log_choice=None,
            weights=priors[:, None, None],
            self_weights=priors.new_zeros(rows, 0, 0, steps, steps),
            losses={},
        )


def _softmax(energies: Tensor, allowed: Tensor) -> Tensor:
    """Over the allowed positions; zeros where there is none."""
    return masks.clear(masks.hide(energies, allowed).softmax(-1), allowed)
