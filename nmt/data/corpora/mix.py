"""Several corpora as one, and how often each comes in training."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from nmt.config import nearest
from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.corpora.values import require


@dataclass(frozen=True, kw_only=True)
class Mix(Corpus):
    """All pairs of one corpus after all of another.

    In training pairs of corpus i are drawn with probability p_i. weights: p_i is as its weight. temperature T: p_i is
    as n_i^(1/T), n_i being the pairs of it that are kept (Arivazhagan et al. 2019, section 4): at 1 each pair
    comes once an epoch, and the larger T is, the more alike the corpora's shares are. An epoch has as many pairs as
    there are in all.
    """

    corpora: Mapping[str, Callable[..., Corpus]]
    weights: Mapping[str, float] | None = None
    temperature: float = 1.0
    _members: dict[str, Corpus] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.corpora, Mapping) and len(self.corpora) > 0, "corpora", self.corpora, "{name: corpus}")
        members = {name: self._member(name, make) for name, make in self.corpora.items()}
        object.__setattr__(self, "_members", members)
        require(_is_positive(self.temperature), "temperature", self.temperature, "a positive number")
        if self.weights is not None:
            self._check_weights(self.weights)

    def _member(self, name: Any, make: Any) -> Corpus:
        require(isinstance(name, str) and name != "", "a name in corpora", name, "a text")
        require(callable(make), f"corpora.{name}", make, "a section that names a class (_target_)")
        member = make(source_language=self.source_language, target_language=self.target_language)
        if not isinstance(member, Corpus):
            raise ValueError(f"corpora.{name} is a {type(member).__name__}: this is no class of nmt.data.corpora")
        if isinstance(member, Mix):
            raise ValueError(f"corpora.{name} is a mixture itself: name its corpora here instead")
        if member.links is not None:
            raise ValueError(f"corpora.{name}.links: gold links are the whole mixture's; give `links` beside `corpora`")
        return member

    def _check_weights(self, weights: Mapping[str, float]) -> None:
        require(isinstance(weights, Mapping), "weights", weights, "null or {name: number}")
        if self.temperature != 1:
            raise ValueError("weights and temperature are both given, and each says how often a corpus comes")
        for name, weight in weights.items():
            if name not in self.corpora:
                raise ValueError(f"weights.{name}: there is no such corpus{nearest(str(name), self.corpora)}")
            require(_is_positive(weight), f"weights.{name}", weight, "a positive number")
        for name in self.corpora:
            if name not in weights:
                raise ValueError(f"weights.{name} is missing: each corpus has a weight, or none has")

    @property
    def name(self) -> str:
        return ", ".join(self.corpora)

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        each = []
        for member in self._members.values():
            size = member.count() if start else 0
            if not start or start < size:
                each.append(member.pairs(start))
            start = max(0, start - size)
        return chain.from_iterable(each)

    def count(self) -> int:
        return sum(member.count() for member in self._members.values())

    def members(self) -> Mapping[str, Corpus]:
        return self._members

    def factors(self, counts: Sequence[int]) -> list[float]:
        if self.weights is None and self.temperature == 1:
            return super().factors(counts)
        filled = [(place, count) for place, count in enumerate(counts) if count]
        shares = self._shares(filled)
        factors = [0.0] * len(counts)
        for (place, count), share in zip(filled, shares, strict=True):
            factors[place] = share / sum(shares) * sum(counts) / count
        return factors

    def _shares(self, filled: list[tuple[int, int]]) -> list[float]:
        """What the probabilities of corpora with pairs are as, from (place, pairs) of each."""
        if self.weights is not None:
            weights = [self.weights[name] for name in self.corpora]
            return [weights[place] for place, _ in filled]
        most = max((count for _, count in filled), default=1)
        return [math.exp(math.log(count / most) / self.temperature) for _, count in filled]


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
