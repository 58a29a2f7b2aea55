"""A trained run ready for use: lines -> translations, pairs -> log-probabilities and what was read of the source.

Shape letters: L layers, H heads, S source pieces with EOS, T target pieces with EOS.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.compose import override_values
from nmt.config import AlignmentConfig, Config, SearchConfig, read_config
from nmt.data.batch import Batch, make_batch, plan_in_order
from nmt.data.special import BOS, PAD, UNK
from nmt.data.tokenizer import Tokenizer
from nmt.data.words import Pieces, line_pieces, token_pieces
from nmt.errors import UserError
from nmt.model.assemble import assemble
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.run import Run
from nmt.search.beam import beam_search
from nmt.search.distribution import forced_log_probs
from nmt.search.greedy import greedy_search
from nmt.search.hypothesis import Hypothesis
from nmt.search.penalty import LengthPenalty, MeanPenalty, NoPenalty, WuPenalty

CHANGEABLE = ("search", "alignment", "device", "threads")  # sections of a run's configuration that may be overridden
AT_INFERENCE = "at_inference"
FORCED_BATCH_TOKENS = 4096  # max(S, T) x pairs when given targets are scored or aligned


@dataclass(frozen=True)
class Translation:
    """A line's translation: its best hypothesis as text, and all that were asked for; a blank line has none.

    notes: what a person should know of it ("cut at the maximum length", "source cut to N tokens").
    """

    text: str
    hypotheses: tuple[Hypothesis, ...]
    notes: tuple[str, ...] = ()


class Score(NamedTuple):
    """ln p of a given target, EOS included: its sum, and a value a piece (and EOS) beside the pieces' names."""

    log_prob: float
    tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]


# How to find what a model reads: (model, batch, each sentence's source pieces' words, EOS excluded) -> [B, L, H, T, S]
Method = Callable[[EncoderDecoder, Batch, Sequence[Sequence[int]]], Tensor]


class Reading(NamedTuple):
    """What a method finds of a pair: values [L, H, T, S], the last row and column EOS's, and the pieces beside EOS."""

    values: NDArray[np.float32]
    source_pieces: Pieces
    target_pieces: Pieces


class Translator:
    """A network with its tokenizers and settings. Results do not depend on what else is in a call."""

    def __init__(
        self,
        *,
        model: EncoderDecoder,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        config: Config,
        run: Path,
    ) -> None:
        self.model = model
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.config = config
        self.search: SearchConfig = config.search
        self.alignment: AlignmentConfig = config.alignment
        self.run = run
        self.penalty = make_penalty(config.search)
        self.banned = (UNK, BOS, PAD, *target_tokenizer.banned_ids)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.model.parameters()).device

    @property
    def layers(self) -> int:
        """How many layers of the decoder attend over the source."""
        return self.model.decoder.layers

    @property
    def heads(self) -> int:
        """How many heads each of them has."""
        return self.model.decoder.heads

    @torch.inference_mode()
    def translate(
        self, lines: Sequence[str], nbest: int = 1, advance: Callable[[int], None] | None = None
    ) -> list[Translation]:
        """Each line's translation, in order. `advance` is told of every batch how many lines it had."""
        if not 1 <= nbest <= self.search.beam_size:
            raise UserError(f"nbest is {nbest}: allowed is 1 to search.beam_size, {self.search.beam_size}")
        encoded = [self._fit(self.source_tokenizer.encode(line)) for line in lines]
        sources = [ids for ids, _ in encoded]
        found: list[Translation] = [Translation("", ()) for _ in lines]
        lengths = np.array([len(ids) + 1 for ids in sources], dtype=np.int64)
        for rows in plan_in_order(lengths, max(1, self.search.batch_tokens // self.search.beam_size)):
            filled = [row for row in rows if sources[row]]
            if filled:
                hypotheses = self._search([sources[row] for row in filled], nbest)
                for row, best in zip(filled, hypotheses, strict=True):
                    found[row] = self._translation(best, encoded[row][1])
            if advance is not None:
                advance(len(rows))
        return found

    @torch.inference_mode()
    def score(self, pairs: Sequence[tuple[str, str]], first: int = 1) -> list[Score]:
        """ln p of each given target; a pair with a blank side has no tokens and 0.0. `first`: the first pair's line."""
        scores = [Score(0.0, (), ()) for _ in pairs]
        for rows, batch in self._batches(self._encoded(pairs, first)):
            output = self.model(batch)
            chosen = forced_log_probs(self.model.decoder, output, batch.target_out).double().cpu()
            for row, ids, values, length in zip(
                rows, batch.target_out.tolist(), chosen.tolist(), batch.target_lengths.tolist(), strict=True
            ):
                names = tuple(self.target_tokenizer.pieces(ids[:length]))
                scores[row] = Score(sum(values[:length]), names, tuple(values[:length]))
        return scores

    def read_pairs(self, pairs: Sequence[tuple[str, str]], first: int, method: Method) -> list[Reading]:
        """What the method finds of each given pair; zeros [1, 1, T, S] for one with a blank side. `first`: the first
        pair's line."""
        pieces = [
            (line_pieces(self.source_tokenizer, source), line_pieces(self.target_tokenizer, target))
            for source, target in pairs
        ]
        return self._read(self._encoded(pairs, first), pieces, method)

    def read_translations(self, found: Sequence[tuple[str, Translation]], method: Method) -> list[Reading]:
        """What the method finds of each hypothesis of each line, in order: a forced pass over its pieces.

        A hypothesis that was cut has no EOS: its last row is zeros. A source that was cut has fewer pieces.
        """
        flat = [(line, hypothesis) for line, one in found for hypothesis in one.hypotheses]
        ids = [(self._fit(self.source_tokenizer.encode(line))[0], list(one.tokens)) for line, one in flat]
        pieces = [
            (line_pieces(self.source_tokenizer, line).first(len(source)), token_pieces(self.target_tokenizer, target))
            for (line, _), (source, target) in zip(flat, ids, strict=True)
        ]
        readings = self._read(ids, pieces, method)
        for (_, hypothesis), reading in zip(flat, readings, strict=True):
            if not hypothesis.finished:
                reading.values[:, :, -1] = 0.0
        return readings

    def _read(
        self, ids: Sequence[tuple[list[int], list[int]]], pieces: Sequence[tuple[Pieces, Pieces]], method: Method
    ) -> list[Reading]:
        """A reading for each pair of ids, whose words and spans `pieces` are."""
        values = [np.zeros((1, 1, len(target) + 1, len(source) + 1), dtype=np.float32) for source, target in ids]
        for rows, batch in self._batches(ids):
            found = method(self.model, batch, [pieces[row][0].word for row in rows]).detach().float().cpu().numpy()
            sizes = zip(batch.target_lengths.tolist(), batch.source_lengths.tolist(), strict=True)
            for row, one, (steps, size) in zip(rows, found, sizes, strict=True):
                values[row] = one[:, :, :steps, :size].copy()
        return [Reading(one, *own) for one, own in zip(values, pieces, strict=True)]

    def _search(self, sources: list[list[int]], nbest: int) -> list[list[Hypothesis]]:
        batch = make_batch(sources, [[] for _ in sources]).to(self.device)
        limits = (batch.source_lengths * self.search.max_ratio).long() + self.search.max_offset
        longest = self.model.decoder.longest
        if longest is not None:  # a forced pass over a translation that was cut there has BOS before all its tokens
            limits = limits.clamp(max=max(1, longest - 1))
        memory, decoder = self.model.encode(batch), self.model.decoder
        if self.search.beam_size == 1:
            return greedy_search(decoder, memory, max_lengths=limits, banned=self.banned, penalty=self.penalty)
        return beam_search(
            decoder,
            memory,
            beam_size=self.search.beam_size,
            max_lengths=limits,
            banned=self.banned,
            penalty=self.penalty,
            nbest=nbest,
        )

    def _fit(self, ids: list[int]) -> tuple[list[int], tuple[str, ...]]:
        """Ids that the encoder's positions reach, and a note where they had to be cut."""
        longest = self.model.encoder.longest
        if longest is None or len(ids) < longest:
            return ids, ()
        return ids[: longest - 1], (f"source cut to {longest - 1} of {len(ids)} pieces",)

    def _translation(self, hypotheses: list[Hypothesis], notes: tuple[str, ...]) -> Translation:
        if not hypotheses[0].finished:
            notes = (*notes, "cut at the maximum length")
        return Translation(self.target_tokenizer.decode(hypotheses[0].tokens), tuple(hypotheses), notes)

    def _encoded(self, pairs: Sequence[tuple[str, str]], first: int) -> list[tuple[list[int], list[int]]]:
        """Ids of given pairs. UserError for one beyond the model's positions, naming its line."""
        ids = [(self.source_tokenizer.encode(source), self.target_tokenizer.encode(target)) for source, target in pairs]
        for number, (source, target) in enumerate(ids, start=first):
            self._check_length(len(source), self.model.encoder.longest, f"line {number}: the source")
            self._check_length(len(target), self.model.decoder.longest, f"line {number}: the target")
        return ids

    def _batches(self, pairs: Sequence[tuple[list[int], list[int]]]) -> Iterator[tuple[list[int], Batch]]:
        """Batches of the pairs with ids on both sides, and their places in `pairs`."""
        places = [place for place, (source, target) in enumerate(pairs) if source and target]
        lengths = np.array([max(map(len, pairs[place])) + 1 for place in places], dtype=np.int64)
        for rows in plan_in_order(lengths, FORCED_BATCH_TOKENS):
            chosen = [places[row] for row in rows]
            batch = make_batch([pairs[place][0] for place in chosen], [pairs[place][1] for place in chosen])
            yield chosen, batch.to(self.device)

    @staticmethod
    def _check_length(pieces: int, longest: int | None, what: str) -> None:
        if longest is not None and pieces >= longest:
            raise UserError(f"{what} has {pieces} pieces: this model's positions reach to {longest - 1}")


def make_penalty(search: SearchConfig) -> LengthPenalty:
    """The length penalty that `search` names."""
    if search.length_penalty == "wu":
        return WuPenalty(alpha=search.alpha)
    return MeanPenalty() if search.length_penalty == "mean" else NoPenalty()


def choose_device(name: str) -> torch.device:
    """`auto` takes a GPU where there is one. UserError for one that is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"device is {name!r}: it can't be used here ({reason})") from error
    return device


def load(run: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Translator:
    """A run directory -> Translator, in evaluation mode. Overrides change how it searches, never what was trained."""
    opened = Run.open(Path(run))
    values: dict[str, Any] = override_values(opened.values(), overrides)
    config = read_config(values)
    _check_overrides(opened.config(), config)
    source, target = opened.tokenizers()
    model = assemble(config, source_vocabulary=len(source), target_vocabulary=len(target))
    opened.load_best(model)
    if config.threads:
        torch.set_num_threads(config.threads)
    return Translator(
        model=model.to(choose_device(config.device)).eval(),
        source_tokenizer=source,
        target_tokenizer=target,
        config=config,
        run=opened.path,
    )


def _check_overrides(trained: Config, asked: Config) -> None:
    """Refuse what training decided. How a hard attention chooses in use, `at_inference`, is a switch of the model's."""
    before, after = asdict(trained), asdict(asked)
    before["model"], after["model"] = (_without(values["model"], AT_INFERENCE) for values in (before, after))
    for name in before:
        if name not in CHANGEABLE and before[name] != after[name]:
            switches = f"{', '.join(CHANGEABLE)} and a hard attention's model.decoder...{AT_INFERENCE}"
            raise UserError(f"{name}: a trained run's can't be changed; {switches} can")


def _without(values: Any, key: str) -> Any:
    """A nest of dictionaries without this key, wherever it stands."""
    if not isinstance(values, dict):
        return values
    return {name: _without(value, key) for name, value in values.items() if name != key}
