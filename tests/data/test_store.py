"""What is stored is what was given, row by row; a store is whole or none; nothing in memory grows with it."""

from __future__ import annotations

import json
import resource
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nmt.data import store
from nmt.data.batch import make_batch
from nmt.data.filters import Report
from nmt.data.pairs import IdPair, TextPair
from nmt.data.store import PairStore, Unwritable, write_store
from nmt.errors import UserError

TEXT = TextPair(4, "ka  lo\r", "K\u2028\U0001f600", corpus=1)


def some_pairs(count: int, links: bool = False) -> list[IdPair]:
    """Random ids and lengths; every third line of the corpus is missing."""
    random = np.random.default_rng(7)

    def ids(most: int) -> list[int]:
        return [int(id) for id in random.integers(4, 70_000, size=random.integers(1, most))]

    own = [(ids(9), ids(7), random.integers(0, 5, size=2 * random.integers(0, 4)).tolist()) for _ in range(count)]
    return [
        IdPair(row + row // 2, source, target, between if links else (), row % 2)
        for row, (source, target, between) in enumerate(own)
    ]


def write(pairs: Sequence[IdPair], directory: Path, **options: Any) -> PairStore:
    report = Report("corpus", ["one", "two"])

    def counted() -> Iterator[IdPair]:
        for pair in pairs:
            report.keep(pair.corpus)
            yield pair

    return write_store(counted(), directory, **{"report": report, "linked": False, **options})


@pytest.mark.parametrize("linked", [False, True])
def test_rows_hold_what_was_written(linked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over many blocks, the last one short: in any order, once more, and after they are opened anew."""
    monkeypatch.setattr(store, "ROWS", 7)
    pairs = some_pairs(53, linked)
    write(pairs, tmp_path / "ids", linked=linked)
    found = PairStore(tmp_path / "ids")
    rows = [52, 0, 6, 7, 13, 14, 0]
    assert found.pairs(rows) == [pairs[row] for row in rows]
    assert found.pairs(range(53)) == pairs
    assert len(found) == found.report.kept == 53
    assert found.report.names == ("one", "two")
    assert found.index.tolist() == [pair.index for pair in pairs]
    assert found.corpus.tolist() == [pair.corpus for pair in pairs]
    assert found.source_lengths.tolist() == [len(pair.source) + 1 for pair in pairs]
    assert found.target_lengths.tolist() == [len(pair.target) + 1 for pair in pairs]
    assert found.longest == (found.source_lengths.max(), found.target_lengths.max())
    assert found.linked is linked


@pytest.mark.parametrize("linked", [False, True])
def test_a_batch_is_made_of_its_rows(linked: bool, tmp_path: Path) -> None:
    pairs = some_pairs(20, linked)
    rows = [19, 3, 3, 8]
    own = [pairs[row] for row in rows]
    expected = make_batch(
        [pair.source for pair in own],
        [pair.target for pair in own],
        [pair.index for pair in own],
        [list(pair.links) for pair in own] if linked else None,
    )
    batch = write(pairs, tmp_path / "ids", linked=linked).batch(rows)
    for name in ("source", "source_lengths", "target_in", "target_out", "target_lengths", "index"):
        assert torch.equal(getattr(batch, name), getattr(expected, name)), name
    if expected.links is None:
        assert batch.links is None
    else:
        assert batch.links is not None
        assert torch.equal(batch.links, expected.links)


@pytest.mark.parametrize(("vocabulary", "bytes_each"), [(1 << 16, 2), ((1 << 16) + 1, 4), (None, 4)])
def test_ids_take_two_bytes_where_these_hold_them(vocabulary: int | None, bytes_each: int, tmp_path: Path) -> None:
    pair = IdPair(0, [65_535, 4, 5], [6])
    found = write([pair], tmp_path / "ids", vocabulary=vocabulary)
    assert found.pairs([0]) == [pair]
    assert (tmp_path / "ids" / "ids").stat().st_size == 4 * bytes_each


def test_an_id_beyond_the_vocabulary_is_no_other_id(tmp_path: Path) -> None:
    with pytest.raises(OverflowError):
        write([IdPair(0, [65_536], [5])], tmp_path / "ids", vocabulary=9)


def test_texts_come_back_as_they_were(tmp_path: Path) -> None:
    other = TextPair(9, "", "\n\x00")
    pairs = [IdPair(text.index, [5], [6, 7], [0, 1], text.corpus, text) for text in (TEXT, other)]
    found = write(pairs, tmp_path / "ids", linked=True, texts=True)
    first, second, again = found.texts([1, 0, 1])
    assert first == again == other
    assert second == TEXT
    assert found.pairs([1])[0].links == [0, 1]
    write(pairs, tmp_path / "plain")
    assert not (tmp_path / "plain" / "text").exists()


@pytest.mark.parametrize("linked", [False, True])
def test_the_fingerprint_tells_pairs_apart(linked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any id, any length, any link, and the order; not the place in the corpus, nor how it was written."""
    pairs = [IdPair(0, [5, 6], [7], [0, 0]), IdPair(1, [8], [9, 10], [0, 1])]
    others = [
        [IdPair(0, [5, 6], [7], [0, 0]), IdPair(1, [8], [9, 11], [0, 1])],
        [IdPair(0, [5], [6, 7], [0, 0]), IdPair(1, [8], [9, 10], [0, 1])],
        [IdPair(0, [5, 6], [7], [0, 0]), IdPair(1, [8], [9, 10], [0, 1], corpus=1)],
        pairs[::-1],
    ]
    if linked:
        others.append([pairs[0], IdPair(1, [8], [9, 10], [0, 0])])
    one = write(pairs, tmp_path / "one", linked=linked).fingerprint()
    monkeypatch.setattr(store, "ROWS", 1)
    shifted = [IdPair(7, [5, 6], [7], [0, 0]), IdPair(8, [8], [9, 10], [0, 1])]
    assert write(shifted, tmp_path / "again", linked=linked).fingerprint() == one
    prints = {write(own, tmp_path / str(place), linked=linked).fingerprint() for place, own in enumerate(others)}
    assert len(prints | {one}) == len(others) + 1


def test_with_links_it_is_known_by_another_fingerprint(tmp_path: Path) -> None:
    pairs = [IdPair(0, [5], [6])]
    assert write(pairs, tmp_path / "a").fingerprint() != write(pairs, tmp_path / "b", linked=True).fingerprint(), (
        "even where no pair has any"
    )


def test_nothing_left_names_the_corpus(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^no pairs to use in corpus \(one\).*; corpus \(two\)") as told:
        write([], tmp_path / "ids")
    assert "\n" not in str(told.value)
    assert not list(tmp_path.iterdir())


def test_names_are_those_of_today(tmp_path: Path) -> None:
    write(some_pairs(3), tmp_path / "ids")
    found = PairStore(tmp_path / "ids")
    found.rename("train", ["new", "newer"])
    assert [line.partition(":")[0] for line in found.report.describe().splitlines()] == ["train (new)", "train (newer)"]
    assert found.report.kept == 3


def test_a_fault_among_the_pairs_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROWS", 2)

    def failing() -> Iterator[IdPair]:
        yield from some_pairs(5)
        raise UserError("bad.src, line 6")

    with pytest.raises(UserError, match="line 6"):
        write_store(failing(), tmp_path / "ids", report=Report("corpus", ["one"]), linked=False)
    assert not list(tmp_path.iterdir())


def test_an_open_store_outlives_its_files(tmp_path: Path) -> None:
    pairs = some_pairs(9)
    found = write(pairs, tmp_path / "ids")
    (tmp_path / "ids").rename(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="no whole store"):
        PairStore(tmp_path / "ids")
    for file in (tmp_path / "elsewhere").iterdir():
        file.unlink()
    assert found.pairs(range(9)) == pairs


def test_a_store_is_never_written_over_another(tmp_path: Path) -> None:
    pairs = some_pairs(9)
    write(pairs, tmp_path / "ids")
    with pytest.raises(Unwritable, match="File exists"):
        write([IdPair(0, [5], [6])], tmp_path / "ids")
    assert PairStore(tmp_path / "ids").pairs(range(9)) == pairs


def test_what_is_not_whole_is_refused(tmp_path: Path) -> None:
    """Each file in turn missing, cut off or too long; and a header of another format."""
    write(some_pairs(9, links=True), tmp_path / "ids", linked=True)
    for path in sorted((tmp_path / "ids").iterdir()):
        content = path.read_bytes()
        for wrong in (None, content[:-1], content + b"x"):
            path.unlink()
            if wrong is not None:
                path.write_bytes(wrong)
            with pytest.raises(UserError):
                PairStore(tmp_path / "ids")
            path.write_bytes(content)
    PairStore(tmp_path / "ids").verify()
    header = tmp_path / "ids" / store.HEADER
    header.write_text(json.dumps({**json.loads(header.read_text()), "format": store.FORMAT + 1}))
    with pytest.raises(UserError, match="not of format"):
        PairStore(tmp_path / "ids")


def test_a_single_changed_byte_is_found(tmp_path: Path) -> None:
    write(some_pairs(9, links=True), tmp_path / "ids", linked=True)
    for path in sorted((tmp_path / "ids").iterdir()):
        if path.name != store.HEADER:
            content = bytearray(path.read_bytes())
            content[-1] ^= 1
            path.write_bytes(content)
            with pytest.raises(UserError, match=f"{path.name} of a store"):
                PairStore(tmp_path / "ids").verify()
            content[-1] ^= 1
            path.write_bytes(content)


def test_a_disk_that_takes_no_more_is_told(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(Unwritable, match="cannot be written: File too large"):
            write(some_pairs(3_000), tmp_path / "ids")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither while it is written, a block at a time, nor when it is opened, verified and fingerprinted."""
    monkeypatch.setattr(store, "ROWS", 100)
    ids = list(range(1000, 1050))
    alive = [0, 0]

    class Counted(list[int]):
        """Ids that say how many of their kind are alive."""

        def __init__(self) -> None:
            super().__init__(ids)
            alive[0] += 1
            alive[1] = max(alive)

        def __del__(self) -> None:
            alive[0] -= 1

    report = Report("corpus", ["one"])
    tracemalloc.start()
    try:
        pairs = (IdPair(row, Counted(), ids) for row in range(20_000))
        found = write_store(pairs, tmp_path / "ids", report=report, linked=False)
        assert alive[1] <= 2 * 100 + 1
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        again = PairStore(tmp_path / "ids")
        again.verify()
        assert again.fingerprint() == found.fingerprint()
        assert tracemalloc.get_traced_memory()[1] - before < 200_000, "of 8 million bytes of ids"
    finally:
        tracemalloc.stop()
