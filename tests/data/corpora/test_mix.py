"""A mixture: its members' pairs one after the other, and how often each comes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.corpora.files import Files
from nmt.data.corpora.jsonl import Jsonl
from nmt.data.corpora.mix import Mix
from nmt.errors import UserError


def mix(folder: Path, sizes: dict[str, int], **settings: Any) -> Mix:
    """Corpora `a`, `b`, ... of so many pairs: (a1, A), (a2, A), ..."""
    corpora = {}
    for name, size in sizes.items():
        (folder / f"{name}.src").write_text("".join(f"{name}{n}\n" for n in range(1, size + 1)))
        (folder / f"{name}.trg").write_text(f"{name.upper()}\n" * size)
        corpora[name] = partial(Files, source=f"{folder}/{name}.src", target=f"{folder}/{name}.trg")
    return Mix(source_language="en", target_language="de", corpora=corpora, **settings)


@pytest.mark.parametrize("start", range(8))
def test_pairs_of_all_members_in_order(tmp_path: Path, start: int) -> None:
    corpus = mix(tmp_path, {"a": 2, "empty": 0, "b": 3})
    everything = [("a1", "A"), ("a2", "A"), ("b1", "B"), ("b2", "B"), ("b3", "B")]
    assert list(corpus.pairs(start)) == everything[start:]
    assert corpus.count() == 5
    assert [(name, member.count()) for name, member in corpus.members().items()] == [("a", 2), ("empty", 0), ("b", 3)]


def test_each_pair_comes_once_unless_something_else_is_said(tmp_path: Path) -> None:
    assert mix(tmp_path, {"a": 1, "b": 1}).factors([700, 0]) == [1.0, 1.0]


def test_temperature_by_hand(tmp_path: Path) -> None:
    """100 and 900 pairs at T=2: shares as 10 to 30, which of 1000 pairs are 250 and 750."""
    assert mix(tmp_path, {"a": 1, "b": 1}, temperature=2).factors([100, 900]) == pytest.approx([2.5, 750 / 900])


def test_weights_by_hand(tmp_path: Path) -> None:
    """Of 100 + 300 pairs, 3 to 1: 300 and 100."""
    assert mix(tmp_path, {"a": 1, "b": 1}, weights={"b": 1, "a": 3}).factors([100, 300]) == pytest.approx([3, 1 / 3])


COUNTS = st.lists(st.integers(0, 10**9), min_size=3, max_size=3)


@given(COUNTS, st.floats(0.01, 1e6), st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3))
def test_an_epoch_has_as_many_pairs_as_there_are(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], temperature: float, weights: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("mix")
    sizes = {"a": 0, "b": 0, "c": 0}
    for settings in ({"temperature": temperature}, {"weights": dict(zip(sizes, weights, strict=True))}):
        factors = mix(folder, sizes, **settings).factors(counts)
        assert sum(f * n for f, n in zip(factors, counts, strict=True)) == pytest.approx(sum(counts))
    assert all(
        factor * count / (weight * sum(counts)) == pytest.approx(factors[0] * counts[0] / (weights[0] * sum(counts)))
        for factor, count, weight in zip(factors, counts, weights, strict=True)
        if count and counts[0]
    )


def test_a_high_temperature_makes_shares_equal(tmp_path: Path) -> None:
    factors = mix(tmp_path, {"a": 1, "b": 1}, temperature=1e9).factors([10, 990])
    assert factors == pytest.approx([50, 500 / 990])


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"weights": {"a": 1, "bb": 2}}, r"weights\.bb: there is no such corpus \(did you mean b\?\)"),
        ({"weights": {"a": 1}}, r"weights\.b is missing"),
        ({"weights": {"a": 1, "b": 0}}, r"weights\.b is 0: allowed is a positive number"),
        ({"weights": {"a": 1, "b": True}}, r"weights\.b is True"),
        ({"weights": [1, 2]}, r"weights is \[1, 2\]: allowed is null or"),
        ({"weights": {"a": 1, "b": 2}, "temperature": 5}, r"weights and temperature are both given"),
        ({"temperature": 0}, r"temperature is 0: allowed is a positive number"),
        ({"temperature": float("inf")}, r"temperature is inf"),
    ],
)
def test_shares_that_cannot_be(tmp_path: Path, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        mix(tmp_path, {"a": 1, "b": 1}, **settings)


def test_members_that_cannot_be(tmp_path: Path) -> None:
    inner = partial(mix, tmp_path, {"a": 1})
    linked = partial(Files, source="a", target="b", links="gold")
    wrong = [
        ({}, r"corpora is \{\}"),
        ({"a": {"path": "x"}}, r"corpora\.a is .*_target_"),
        ({False: linked}, r"a name in corpora is False \(YAML reads no"),
        ({"a": lambda **_: 7}, r"corpora\.a is a int: this is no class of nmt\.data\.corpora"),
        ({"a": lambda **_: inner()}, r"corpora\.a is a mixture itself"),
        ({"a": linked}, r"corpora\.a\.links: gold links are the whole mixture's"),
    ]
    for corpora, complaint in wrong:
        with pytest.raises(ValueError, match=complaint):
            Mix(source_language="en", target_language="de", corpora=corpora)  # type: ignore[arg-type]


def test_a_member_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    corpus = Mix(
        source_language="en",
        target_language="de",
        corpora={
            "a": partial(Files, source=f"{tmp_path}/a", target=f"{tmp_path}/a"),
            "gone": partial(Jsonl, path=f"{tmp_path}/gone.jsonl"),
        },
    )
    (tmp_path / "a").write_text("ka\n")
    with pytest.raises(UserError, match=r"gone\.jsonl: No such file"):
        corpus.pairs()
