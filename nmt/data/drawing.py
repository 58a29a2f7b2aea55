"""Cutting a text into pieces at random: BPE-dropout (Provilkov et al. 2020) and unigram sampling (Kudo 2018).

SentencePiece has both, but no two of its processes draw alike. Here the pieces are a function of text, alpha and seed,
in any process; that of unigram, and only that, leans on the C library's exp and log, up to their last bit.

A stretch is a longest part of a text between two characters that no piece holds side by side: mostly a word, or a
punctuation mark. No piece leaves its stretch, so each is cut by itself, and what is known of short ones is kept.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from math import exp, log
from operator import add
from typing import NamedTuple

from nmt.data.special import UNK

SHORT = 32  # characters of a stretch that may come again
KEPT_STATES = 2**16  # about 30 MB
KEPT_LATTICES = 2**14  # about 40 MB
UNKNOWN_PENALTY = 10.0  # SentencePiece's: so far below the worst piece is an unknown character

Numbers = Callable[[], float]  # uniform in [0, 1)
Symbols = tuple[str, ...]
Candidate = tuple[float, int, int, int]  # -score, places of the left and the right symbol, characters of both
Way = tuple[Sequence[float], Sequence[tuple[Sequence[int], int]]]


class Pieces(NamedTuple):
    """What a model knows. Texts are as SentencePiece writes them, with U+2581 for a space."""

    ids: Mapping[str, int]  # of ordinary pieces
    scores: Mapping[str, float]  # of these and of unused ones, which bpe makes on its way and takes apart at the end
    symbols: Mapping[str, int]  # ids of user-defined symbols, which are never cut or joined
    bytes: Sequence[int]  # ids of 0x00 to 0xFF, or none without byte fallback


def longest_first(texts: Iterable[str]) -> re.Pattern[str]:
    """Finds any of the texts, of several at one place the longest; as its one group, so that `split` keeps them."""
    return re.compile("(" + "|".join(map(re.escape, sorted(texts, key=len, reverse=True))) + ")")


class Drawer(ABC):
    """Draws the pieces of a text."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._symbol = longest_first(pieces.symbols) if pieces.symbols else None
        self._joined = {text[place : place + 2] for text in pieces.scores for place in range(len(text) - 1)}

    def draw(self, text: str, alpha: float, seed: int) -> list[int]:
        """The ids of a normalised text. alpha: see the class. Neighbouring unknown characters are one UNK."""
        numbers = random.Random(seed).random
        symbols = self._pieces.symbols
        ids: list[int] = []
        for part in self._symbol.split(text) if self._symbol else [text]:
            if part in symbols:
                ids.append(symbols[part])
                continue
            for stretch in self._stretches(part):
                ids += self._cut(stretch, alpha, numbers)
        return _one_of_each_run(ids, UNK) if UNK in ids else ids

    def _stretches(self, text: str) -> Iterator[str]:
        joined = self._joined
        begin = 0
        for end, pair in enumerate(map(add, text, text[1:]), 1):
            if pair not in joined:
                yield text[begin:end]
                begin = end
        if text:
            yield text[begin:]

    @abstractmethod
    def _cut(self, stretch: str, alpha: float, numbers: Numbers) -> Sequence[int]:
        """The ids of a stretch."""

    def _unknown(self, text: str) -> tuple[int, ...]:
        return tuple(self._pieces.bytes[byte] for byte in text.encode()) if self._pieces.bytes else (UNK,)


@dataclass(slots=True)
class _State:
    """Of a stretch on its way. Ids, and what it becomes by each of its merges, are filled in when first needed."""

    symbols: Symbols
    merges: tuple[int, ...]  # places of the left symbols, best first
    following: list[_State | None]
    ids: tuple[int, ...] | None = None


class BpeDropout(Drawer):
    """Algorithm 1 of Provilkov et al. 2020 on each stretch: while neighbours can be merged, each merge that is possible
    is dropped with the probability alpha, and the best of the others is made; the cut is done once all are dropped.

    What is dropped in one step may be made in the next, as in the paper and in subword-nmt; SentencePiece drops it for
    good, which gives more and shorter pieces for the same alpha. The best merge is the one of the highest score, and
    of equals the leftmost; alpha=0 gives SentencePiece's own cut.
    """

    def __init__(self, pieces: Pieces) -> None:
        super().__init__(pieces)
        self._states: dict[str | Symbols, _State] = {}

    def _cut(self, stretch: str, alpha: float, numbers: Numbers) -> Sequence[int]:
        if len(stretch) > SHORT:
            return self._ids(self._merged(stretch, alpha, numbers))
        state = self._states.get(stretch) or self._state(tuple(stretch), stretch)
        while True:
            for place, following in enumerate(state.following):
                if numbers() >= alpha:
                    state = following or self._follow(state, place)
                    break
            else:
                if state.ids is None:
                    state.ids = self._ids(state.symbols)
                return state.ids

    def _state(self, symbols: Symbols, key: str | Symbols) -> _State:
        if len(self._states) >= KEPT_STATES:
            self._states = {}  # what is in use comes back; another thread may go on with the old ones
        merges = self._merges(symbols)
        state = self._states[key] = _State(symbols, merges, [None] * len(merges))
        return state

    def _follow(self, state: _State, place: int) -> _State:
        symbols = _merge(state.symbols, state.merges[place])
        following = state.following[place] = self._states.get(symbols) or self._state(symbols, symbols)
        return following

    def _merges(self, symbols: Symbols) -> tuple[int, ...]:
        """The left places of the merges that are possible, best first."""
        scores = self._pieces.scores
        both = enumerate(map(add, symbols, symbols[1:]))
        return tuple(place for _, place in sorted((-scores[text], place) for place, text in both if text in scores))

    def _merged(self, stretch: str, alpha: float, numbers: Numbers) -> list[str]:
        """The same, from the same numbers, in a time that a long stretch allows (n log n)."""
        symbols = list(stretch)  # a symbol stands where it begins, and "" in its other places
        before, behind = list(range(-1, len(symbols) - 1)), list(range(1, len(symbols) + 1))
        agenda = list(self._candidates(symbols, pairwise(range(len(symbols)))))
        heapify(agenda)
        dropped: list[Candidate] = []
        while agenda:
            candidate = heappop(agenda)
            _, left, right, size = candidate
            if not symbols[left] or not symbols[right] or len(symbols[left]) + len(symbols[right]) != size:
                continue  # one of the two has been merged with another
            if numbers() < alpha:
                dropped.append(candidate)
                continue
            symbols[left], symbols[right] = symbols[left] + symbols[right], ""
            after = behind[left] = behind[right]
            if after < len(symbols):
                before[after] = left
            dropped += self._candidates(symbols, [(before[left], left), (left, after)])
            while dropped:
                heappush(agenda, dropped.pop())
        return [symbol for symbol in symbols if symbol]

    def _candidates(self, symbols: Sequence[str], places: Iterable[tuple[int, int]]) -> Iterator[Candidate]:
        scores = self._pieces.scores
        for left, right in places:
            if left >= 0 and right < len(symbols):
                text = symbols[left] + symbols[right]
                if text in scores:
                    yield -scores[text], left, right, len(text)

    def _ids(self, symbols: Iterable[str]) -> tuple[int, ...]:
        return tuple(id for symbol in symbols for id in self._ids_of(symbol))

    def _ids_of(self, symbol: str) -> tuple[int, ...]:
        if symbol in self._pieces.ids:
            return (self._pieces.ids[symbol],)
        return self._ids(self._taken_apart(symbol)) if len(symbol) > 1 else self._unknown(symbol)

    def _taken_apart(self, unused: str) -> Symbols:
        """The symbols that an unused piece is merged from, in the last step."""
        symbols = tuple(unused)
        while len(symbols) > 2 and (merges := self._merges(symbols)):
            symbols = _merge(symbols, merges[0])
        return symbols


class UnigramSampling(Drawer):
    """Kudo 2018: a cut has the probability exp(alpha * score) over the sum of this of all cuts, where the score of a
    cut is the sum of its pieces' log-probabilities: the smaller alpha, the more random."""

    def __init__(self, pieces: Pieces) -> None:
        super().__init__(pieces)
        self._longest = max(map(len, pieces.ids), default=1)
        self._unknown_score = min((pieces.scores[text] for text in pieces.ids), default=0.0) - UNKNOWN_PENALTY
        self._kept = lru_cache(maxsize=KEPT_LATTICES)(self._lattice)

    def _cut(self, stretch: str, alpha: float, numbers: Numbers) -> Sequence[int]:
        lattice = self._kept(stretch, alpha) if len(stretch) <= SHORT else self._lattice(stretch, alpha)
        ids: list[int] = []
        place = 0
        while place < len(stretch):
            bounds, ways = lattice[place]
            own, place = ways[bisect(bounds, numbers())]
            ids += own
        return ids

    def _lattice(self, stretch: str, alpha: float) -> list[Way]:
        """For each place the pieces that can begin there, as ids and where the next one begins, and between each two
        of them the sum of the probabilities up to there: backward filtering, for sampling forward."""
        totals = [0.0] * (len(stretch) + 1)  # of each place: log of the sum of exp(alpha * score) of all cuts from it
        lattice: list[Way] = []
        for begin in reversed(range(len(stretch))):
            ways = self._ways(stretch, begin)
            exponents = [alpha * score + totals[end] for score, _, end in ways]
            largest = max(exponents)
            sums = list(accumulate(exp(exponent - largest) for exponent in exponents))
            totals[begin] = largest + log(sums[-1])
            lattice.append((tuple(part / sums[-1] for part in sums[:-1]), tuple((ids, end) for _, ids, end in ways)))
        return lattice[::-1]

    def _ways(self, stretch: str, begin: int) -> Sequence[tuple[float, Sequence[int], int]]:
        """Score, ids and end of each piece that begins there; an unknown character is a piece."""
        ids, scores = self._pieces.ids, self._pieces.scores
        ends = range(begin + 1, min(begin + self._longest, len(stretch)) + 1)
        ways: list[tuple[float, Sequence[int], int]]
        ways = [(scores[text], (ids[text],), end) for end in ends if (text := stretch[begin:end]) in ids]
        if stretch[begin] not in ids:
            ways.append((self._unknown_score, self._unknown(stretch[begin]), begin + 1))
        return ways


def _merge(symbols: Symbols, place: int) -> Symbols:
    return (*symbols[:place], symbols[place] + symbols[place + 1], *symbols[place + 2 :])


def _one_of_each_run(ids: Sequence[int], value: int) -> list[int]:
    """The ids, with one of each run of this value."""
    return [id for place, id in enumerate(ids) if id != value or place == 0 or ids[place - 1] != value]
