"""Pairs of lines in, records with values and links out, as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, tee
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt.align.extract import Aligner, read_views
from nmt.align.links import Linker, Rule, argmax_links, symmetrize
from nmt.align.record import Header, Record, View, make_header
from nmt.data.words import Pieces, word_pieces
from nmt.translator import Reading, Translation, Translator

PAIRS_AT_ONCE = 256  # that are read between two looks at the progress
SLOW_AT_ONCE = 16  # the same where each takes seconds
SLOW = "integrated_gradients"


def align_records(
    aligner: Aligner, pairs: Iterable[tuple[str, str]], views: Sequence[View], linker: Linker = argmax_links
) -> Iterator[Record]:
    """A record for each pair, blank ones included, numbered from 0; `pairs_at_once` are read at a time."""
    stream, first = iter(pairs), 0
    while chunk := list(islice(stream, pairs_at_once(views))):
        readings = read_views(partial(aligner.read_pairs, chunk, first + 1), views)
        for index, ((source, target), reading) in enumerate(zip(chunk, readings, strict=True), start=first):
            yield _record(index, source, target, reading, linker)
        first += len(chunk)


def translation_records(
    translator: Translator,
    lines: Iterable[str],
    found: Iterable[Translation],
    views: Sequence[View],
    linker: Linker = argmax_links,
    first: int = 0,
) -> Iterator[Record]:
    """A record for each hypothesis of each line, read by a forced pass over its pieces; a blank line has an empty one.

    `first` is the first line's index. All hypotheses of a line have its index.
    """
    stream = zip(lines, found, strict=True)
    while chunk := list(islice(stream, pairs_at_once(views))):
        readings = iter(read_views(partial(translator.read_translations, chunk), views))
        for index, (line, one) in enumerate(chunk, start=first):
            if not one.hypotheses:
                empty, nothing = Pieces((), (), ()), np.zeros((len(views), 1, 1), dtype=np.float32)
                yield Record(index, line, "", empty, empty, nothing, frozenset())
            for hypothesis in one.hypotheses:
                text = translator.target_tokenizer.decode(hypothesis.tokens)
                yield _record(index, line, text, next(readings), linker)
        first += len(chunk)


def pairs_at_once(views: Sequence[View]) -> int:
    """How many pairs are read together: enough to sort them into good batches, few enough for a progress to move."""
    return SLOW_AT_ONCE if any(view.method == SLOW for view in views) else PAIRS_AT_ONCE


def symmetrize_records(
    records: Iterable[Record], reverse: Aligner, view: View, rule: Rule, linker: Linker = argmax_links
) -> Iterator[Record]:
    """The same records, their links combined with those of a model that translates the other way.

    `view` is the reverse model's. The values stay those of the forward model.
    """
    forward, ahead = tee(records)  # the copy runs ahead by what the reverse model reads at once
    swapped = ((record.target, record.source) for record in ahead)
    for record, backward in zip(forward, align_records(reverse, swapped, [view], linker), strict=True):
        turned = {(source, target) for target, source in backward.links}
        sizes = len(record.source_words), len(record.target_words)
        yield replace(record, links=frozenset(symmetrize(set(record.links), turned, rule, *sizes)))


class Reader(NamedTuple):
    """A model and which view of it is meant; `reverse`: it translates the other way."""

    aligner: Aligner
    view: View
    reverse: bool


def mean_records(records: Iterable[Record], readers: Sequence[Reader], linker: Linker) -> Iterator[Record]:
    """The same pairs with one view, over words: the mean of view 0 and of what all other readers read of them.

    What a reverse model reads is turned over. Models may cut words into other pieces, so that words is what they
    share; the more ways a word was cut, the less its alignment depends on one.
    """
    first, *copies = tee(records, len(readers) + 1)
    others = [_read_again(copy, reader) for copy, reader in zip(copies, readers, strict=True)]
    for record, *found in zip(first, *others, strict=True):
        mean = np.stack([record.matrix.weights, *found]).mean(axis=0, keepdims=True, dtype=np.float32)
        source, target = word_pieces(record.source), word_pieces(record.target)
        whole = replace(record, source_pieces=source, target_pieces=target, values=mean, links=frozenset())
        yield replace(whole, links=frozenset(linker(whole.matrix)))


def _read_again(records: Iterable[Record], reader: Reader) -> Iterator[NDArray[np.float32]]:
    """Each pair's weights over words [T + 1, S + 1]."""
    sides = ((record.target, record.source) if reader.reverse else (record.source, record.target) for record in records)
    for record in align_records(reader.aligner, sides, [reader.view]):
        yield record.matrix.weights.T if reader.reverse else record.matrix.weights


def describe(translator: Translator, views: Sequence[View], *, links: str) -> Header:
    """The header of an export that this run makes; `links` is the rule."""
    return make_header(
        run=translator.run.resolve().name,
        views=views,
        links=links,
        source_tokenizer=translator.source_tokenizer.digest,
        target_tokenizer=translator.target_tokenizer.digest,
    )


def _record(index: int, source: str, target: str, reading: Reading, linker: Linker) -> Record:
    unlinked = Record(index, source, target, reading.source_pieces, reading.target_pieces, reading.values, frozenset())
    return replace(unlinked, links=frozenset(linker(unlinked.matrix)))
