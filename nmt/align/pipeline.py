"""Pairs of lines in, records with matrices and links out, as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import tee

import numpy as np

from nmt.align.extract import Aligner, align_pairs, read_matrix
from nmt.align.links import Link, Rule, argmax_links, symmetrize
from nmt.align.matrix import AlignmentMatrix
from nmt.align.record import Header, Record, make_header
from nmt.config import AlignmentConfig
from nmt.data.words import split_words
from nmt.translator import Translation, Translator

Linker = Callable[[AlignmentMatrix], set[Link]]


def align_records(
    aligner: Aligner,
    pairs: Iterable[tuple[str, str]],
    *,
    layer: int,
    head: int | None,
    shift: int,
    linker: Linker = argmax_links,
) -> Iterator[Record]:
    """A record for each pair, blank ones included, numbered from 0."""
    lines, ahead = tee(pairs)  # the copy runs ahead by what the model reads at once
    matrices = align_pairs(aligner, ahead, layer=layer, head=head, shift=shift)
    for index, ((source, target), matrix) in enumerate(zip(lines, matrices, strict=True)):
        yield Record(index, source, target, matrix, frozenset(linker(matrix)))


def translation_records(
    translator: Translator,
    lines: Iterable[str],
    found: Iterable[Translation],
    alignment: AlignmentConfig,
    *,
    linker: Linker = argmax_links,
    first: int = 0,
) -> Iterator[Record]:
    """A record for each hypothesis of each line, of the weights that it carries; a blank line has an empty one.

    `first` is the first line's index. All hypotheses of a line have its index.
    """
    layer, head, shift = alignment.layer, alignment.head, alignment.shift
    for index, (line, one) in enumerate(zip(lines, found, strict=True), start=first):
        words = split_words(line)
        if not one.hypotheses:
            empty = AlignmentMatrix(tuple(words), (), np.zeros((1, len(words) + 1), dtype=np.float32))
            yield Record(index, line, "", empty, frozenset())
        for hypothesis in one.hypotheses:
            text = translator.target_tokenizer.decode(hypothesis.tokens)
            read = translator.read(line, hypothesis)
            matrix = read_matrix(words, split_words(text), read, layer=layer, head=head, shift=shift)
            yield Record(index, line, text, matrix, frozenset(linker(matrix)))


def symmetrize_records(
    records: Iterable[Record],
    reverse: Aligner,
    rule: Rule,
    *,
    layer: int,
    head: int | None,
    shift: int,
    linker: Linker = argmax_links,
) -> Iterator[Record]:
    """The same records, their links combined with those of a model that translates the other way.

    `layer`, `head` and `shift` are the reverse model's. The matrices stay those of the forward model.
    """
    forward, ahead = tee(records)
    swapped = ((record.target, record.source) for record in ahead)
    backward = align_pairs(reverse, swapped, layer=layer, head=head, shift=shift)
    for record, matrix in zip(forward, backward, strict=True):
        turned = {(source, target) for target, source in linker(matrix)}
        sizes = len(record.matrix.source_words), len(record.matrix.target_words)
        yield replace(record, links=frozenset(symmetrize(set(record.links), turned, rule, *sizes)))


def describe(translator: Translator, alignment: AlignmentConfig, *, links: str) -> Header:
    """The header of an export that this run's weights make; `links` is the rule."""
    return make_header(
        run=translator.run.resolve().name,
        layer=alignment.layer,
        head=alignment.head,
        shift=alignment.shift,
        links=links,
        source_tokenizer=translator.source_tokenizer.digest,
        target_tokenizer=translator.target_tokenizer.digest,
    )
