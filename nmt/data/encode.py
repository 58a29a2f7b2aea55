"""Text pairs -> piece ids, lazily and in order, block by block through SentencePiece's own threads."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain, islice, product, repeat

import sentencepiece

from nmt.data.corpora.corpus import Corpus, Pair
from nmt.data.filters import Dropped, Filters, Report
from nmt.data.pairs import IdPair, TextPair, WordLinks
from nmt.data.tokenizer import Tokenizer
from nmt.data.words import line_pieces

BLOCK = 4096  # pairs that are cut at a time
# How pairs are left out and cut, for the key under which the result is kept: raise the number when any of it changes.
RULES = f"1, sentencepiece {sentencepiece.__version__}, Unicode {unicodedata.unidata_version}"


def text_pairs(corpus: Corpus, links: Iterable[WordLinks] | None = None, start: int = 0) -> Iterator[TextPair]:
    """The corpus's pairs from number `start` on, each with its number, its links (one for every pair of the corpus,
    where there are any) and the member of the mixture that it is from."""
    owns = repeat(()) if links is None else islice(links, start, None)
    every = zip(_of_members(corpus, start), owns, strict=links is not None)
    for index, ((member, (source, target)), own) in enumerate(every, start):
        yield TextPair(index, source, target, own, member)


def encode_pairs(
    pairs: Iterable[TextPair],
    source: Tokenizer,
    target: Tokenizer,
    *,
    filters: Filters,
    report: Report,
    threads: int = 1,
    dropped: Dropped | None = None,
) -> Iterator[IdPair]:
    """The pairs that `filters` keep, with their texts; all are counted in `report`, and those left out are written to
    `dropped`.

    Links lie inside their pair; one of two words becomes one of every piece of the one with every piece of the other.
    """
    every = iter(pairs)
    while block := list(islice(every, BLOCK)):
        kept = []
        for pair in block:
            reason = filters.of_text(pair)
            if reason is None:
                kept.append(pair)
            else:
                _leave_out(pair, reason, report, dropped)
        sources = source.encode_many([pair.source for pair in kept], threads)
        targets = target.encode_many([pair.target for pair in kept], threads)
        for pair, source_ids, target_ids in zip(kept, sources, targets, strict=True):
            links = piece_links(pair, source, target) if pair.links else ()
            encoded = IdPair(pair.index, source_ids, target_ids, links, pair.corpus, pair)
            reason = filters.of_pieces(encoded)
            if reason is None:
                report.keep(pair.corpus)
                yield encoded
            else:
                _leave_out(pair, reason, report, dropped)


def piece_links(pair: TextPair, source: Tokenizer, target: Tokenizer) -> list[int]:
    """The pair's word links as links of pieces, s, t, s, t, ..., in order; those of a word without pieces are lost."""
    pieces = [pieces_of_words(tokenizer, line) for tokenizer, line in ((source, pair.source), (target, pair.target))]
    own = (product(pieces[0].get(s, ()), pieces[1].get(t, ())) for s, t in pair.links)
    return [place for link in sorted(chain.from_iterable(own)) for place in link]


def pieces_of_words(tokenizer: Tokenizer, line: str) -> dict[int, list[int]]:
    """The places of each word's pieces in `tokenizer.encode(line)`."""
    places: dict[int, list[int]] = {}
    for place, word in enumerate(line_pieces(tokenizer, line).word):
        places.setdefault(word, []).append(place)
    return places


def _of_members(corpus: Corpus, start: int) -> Iterator[tuple[int, Pair]]:
    """The pairs from number `start` on, each with its member's. What is passed over whole is only counted."""
    members = list(corpus.members().values())
    for number, member in enumerate(members):
        if start and number + 1 < len(members) and start >= (size := member.count()):
            start -= size
            continue
        for pair in member.pairs(start):
            yield number, pair
        start = 0


def _leave_out(pair: TextPair, reason: str, report: Report, dropped: Dropped | None) -> None:
    report.drop(pair.corpus, reason)
    if dropped is not None:
        dropped.write(pair, reason)
