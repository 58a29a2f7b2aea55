"""From a checked configuration to what a training reads: tokenizers, encoded pairs, and the feed that deals them out.

The first process reads and makes; the others wait for it and find in the cache what it has made, or make it for
themselves where the cache is of another machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch

from nmt.config import Config
from nmt.data.batch import rounded_up
from nmt.data.cache import cached_store, unkept_store
from nmt.data.corpora.corpus import Corpus
from nmt.data.digest import content_key, file_digest
from nmt.data.encode import RULES, encode_pairs, text_pairs
from nmt.data.feed import Feed, StoreFeed
from nmt.data.files import check_not_read, check_writable, write_atomically
from nmt.data.filters import Dropped, Filters, Report
from nmt.data.parts import (
    PARTS,
    Part,
    check_part,
    has_part,
    links_of_part,
    part_corpus,
    part_pairs,
)
from nmt.data.sampling import Sampler
from nmt.data.store import PairStore, write_store
from nmt.data.stream import StreamFeed
from nmt.data.tokenizer import Tokenizer, check_sampling
from nmt.data.vocabulary import TrainingText, check_vocabulary
from nmt.errors import UserError
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.progress import progress, say
from nmt.run import SIDES, Run
from nmt.train.distributed import Processes

PartDigests = Mapping[Part, str]  # digests of what the parts say; a stream's is not known
Tokenizers = tuple[Tokenizer, Tokenizer]
BEGINNING = 100_000  # pairs of a stream that filters learn from


def check_data(config: Config) -> PartDigests:
    """Read every part of the corpus once, with its links; UserError for what is wrong with them. What they say."""
    check_dropped(config)
    digests: dict[Part, str] = {}
    for part in PARTS:
        if has_part(config.data, part):
            is_stream = part == "train" and config.data.streaming
            digests[part] = check_stream(config) if is_stream else check_part(config.data, part)
    guiding = config.train.guided_alignment
    if guiding is not None and Path(guiding).is_file():
        for _ in links_of_part(config.data, "train", Path(guiding)):
            pass
    return digests


def check_dropped(config: Config) -> None:
    """UserError where the file for the pairs left out can't be made, or is one that is read."""
    dropped, data, tokenizer = config.data.filters.dropped, config.data, config.tokenizer
    if dropped is None:
        return
    check_writable(Path(dropped))
    read = [data.train, data.valid, data.test, config.train.guided_alignment]
    named = texts([*read, tokenizer.source_model, tokenizer.target_model])
    check_not_read(Path(dropped), map(Path, named), "data.filters.dropped")


def texts(value: object) -> Iterator[str]:
    """Those inside a value of the configuration, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from texts(inner)


def check_stream(config: Config) -> str:
    """UserError where a corpus of a stream can't be read, or has no first pair."""
    for name, member in part_corpus(config.data, "train").members().items():
        if next(member.pairs(), None) is None:
            raise UserError(f"train ({name}): there are no pairs")
    return ""


def check_tokenizer(config: Config) -> None:
    """Refuse, before any text is read, a tokenizer that can't be trained. Finished ones say for themselves what they
    are."""
    settings = config.tokenizer
    if config.start is not None or settings.source_model is not None:
        return
    check_vocabulary(**vocabulary_settings(config))
    check_sampling(settings.sampling, settings.model_type)


def vocabulary_settings(config: Config) -> dict[str, Any]:
    """What a vocabulary is, wherever its text comes from."""
    names = "model_type vocabulary_size character_coverage byte_fallback normalization user_symbols split_digits"
    return {name: getattr(config.tokenizer, name) for name in names.split()}


def make_tokenizers(config: Config, start: Run | None, folder: Path, processes: Processes) -> Tokenizers:
    """source.model and target.model, left in `folder`: the first process takes those of `start`, or the files that the
    configuration names, or trains them; the others get the same."""
    paths = [folder / f"{side}.model" for side in SIDES]

    def make() -> list[bytes]:
        if start is not None:
            for side, path in zip(SIDES, paths, strict=True):
                keep_file(start.tokenizer_file(side), path)
        elif config.tokenizer.source_model is not None:
            adopt_tokenizers(config, paths)
        else:
            train_tokenizers(config, paths)
        return [path.read_bytes() for path in paths]

    for path, content in zip(paths, processes.from_first(make), strict=True):
        write_atomically(path, content)
    tokenizers = Tokenizer.load(paths[0]), Tokenizer.load(paths[1])
    for tokenizer in tokenizers:
        check_sampling(config.tokenizer.sampling, tokenizer.model_type)
    return tokenizers


def adopt_tokenizers(config: Config, paths: Sequence[Path]) -> None:
    """The user's own. UserError: no SentencePiece model, or two where one is to serve both sides."""
    settings = config.tokenizer
    for named, path in zip((settings.source_model, settings.target_model), paths, strict=True):
        assert named is not None, "the configuration has both or none"
        Tokenizer.adopt(Path(named)).save(path)
    if settings.joint and paths[0].read_bytes() != paths[1].read_bytes():
        raise UserError(
            f"tokenizer.joint: {settings.source_model} and {settings.target_model} are two tokenizers; set it to false"
        )


def train_tokenizers(config: Config, paths: Sequence[Path]) -> None:
    """On the training text alone, or on some lines of it."""
    settings = config.tokenizer
    for path, sides in zip(paths, ((0, 1),) if settings.joint else ((0,), (1,)), strict=False):
        with progress("reading for the tokenizer", unit="lines") as bar:
            Tokenizer.train(
                bar.over(training_lines(config, sides)),
                **vocabulary_settings(config),
                sentences=settings.sentences,
                seed=config.seed,
                learning=say_learning,
                path=path,
            )
    if settings.joint:
        keep_file(*paths)


def say_learning(text: TrainingText) -> None:
    """What a vocabulary is learnt from; it takes a while from here on."""
    too_long = f"; {text.too_long} lines of more than 1 GiB are left out" if text.too_long else ""
    say(f"learning a vocabulary from {text.learnt:,} of {text.lines:,} lines{too_long}")


def training_lines(config: Config, sides: Sequence[int]) -> Iterator[str]:
    """The text of these sides; of a stream only its beginning, which must do, since nobody sees its end."""
    most = config.tokenizer.sentences if config.data.streaming else None
    return (pair[side] for side in sides for pair in islice(part_pairs(config.data, "train"), most))


def keep_file(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    write_atomically(target, source.read_bytes())


def make_filters(config: Config) -> Filters:
    """Of the training pairs."""
    others = [part for part in PARTS if part != "train" and has_part(config.data, part)]
    held_out = chain.from_iterable(part_pairs(config.data, part) for part in others)
    sample = islice(part_pairs(config.data, "train"), BEGINNING if config.data.streaming else None)
    return Filters(config.data.filters, held_out=held_out, sample=sample)


def encode_part(
    config: Config,
    part: Part,
    *,
    tokenizers: Tokenizers,
    digests: PartDigests,
    processes: Processes,
    links: Path | None = None,
) -> PairStore:
    """A part of the corpus as ids on disk, with the links of this file if there is one; says what was left out. What
    was encoded before in the same way is not encoded again, but where the pairs left out are to go to a file."""
    names = list(part_corpus(config.data, part).members())
    dropped = config.data.filters.dropped if part == "train" else None
    make = partial(make_store, config, part, tokenizers, links, names, dropped if processes.is_first else None)
    key = store_key(config, part, tokenizers, digests, links)
    store = processes.after_first(partial(cached_store, key, make) if dropped is None else partial(unkept_store, make))
    store.rename(part, names)
    say(store.report.describe())
    return store


def store_key(config: Config, part: Part, tokenizers: Tokenizers, digests: PartDigests, links: Path | None) -> str:
    """What a store of encoded pairs is known by before it is made: all that its pairs depend on."""
    filters, sampling = config.data.filters, config.tokenizer.sampling
    is_training = part == "train"
    members = list(part_corpus(config.data, part).members().values())
    borders = [member.count() for member in members] if len(members) > 1 else []
    held_out = [digests[other] for other in digests if other != part] if is_training and filters.overlap else []
    return content_key(
        RULES,
        digests[part],
        json.dumps(borders),
        *(tokenizer.digest for tokenizer in tokenizers),
        "" if links is None else file_digest(links),
        json.dumps([asdict(replace(filters, dropped=None)), sampling > 0, held_out] if is_training else []),
    )


def make_store(
    config: Config,
    part: Part,
    tokenizers: Tokenizers,
    links: Path | None,
    names: Sequence[str],
    file: str | None,
    folder: Path,
) -> PairStore:
    """The part, encoded into `folder`; the pairs left out go to `file`. Links that are only possible count like sure
    ones."""
    is_training = part == "train"
    report = Report(part, names)
    filters = make_filters(config) if is_training else Filters()
    own = None if links is None else (line.possible for line in links_of_part(config.data, part, links))
    with (
        nullcontext() if file is None else Dropped(Path(file), names) as dropped,
        progress(f"encoding {part}", unit="pairs") as bar,
    ):
        pairs = bar.over(text_pairs(part_corpus(config.data, part), own))
        threads = torch.get_num_threads()
        return write_store(
            encode_pairs(pairs, *tokenizers, filters=filters, report=report, threads=threads, dropped=dropped),
            folder,
            report=report,
            linked=links is not None,
            texts=is_training and config.tokenizer.sampling > 0,
            vocabulary=max(map(len, tokenizers)),
        )


def make_feed(config: Config, tokenizers: Tokenizers, store: PairStore | None, processes: Processes) -> Feed:
    """What deals out the training pairs: those of the store, or those of a stream where there is none."""
    train, corpus = config.train, part_corpus(config.data, "train")
    sampling, most = config.tokenizer.sampling, config.data.filters.max_pieces
    alike: dict[str, Any] = {
        "batch_tokens": train.batch_tokens,
        "pool": train.pool,
        "accumulate": train.accumulate,
        "seed": config.seed,
        "pad_to": train.pad_to,
        "processes": processes,
        "sampler": Sampler(*tokenizers, alpha=sampling, max_pieces=most) if sampling > 0 else None,
    }
    if store is not None:
        return StoreFeed(store, **alike, factors=corpus.factors(store.report.kept_of_each))
    members = list(corpus.members().values())
    report = Report("train", list(corpus.members()))
    return StreamFeed(
        [partial(text_pairs, member, None) for member in members],
        partial(
            encode_pairs,
            source=tokenizers[0],
            target=tokenizers[1],
            filters=make_filters(config),
            report=report,
            threads=torch.get_num_threads(),
        ),
        name=corpus.name,
        known_by=stream_digest(config, tokenizers),
        shuffle_buffer=config.data.shuffle_buffer,
        weights=stream_weights(corpus),
        report=report,
        **alike,
    )


def stream_digest(config: Config, tokenizers: Tokenizers) -> str:
    """What a stream's pairs are known by besides its name, since nobody reads all of them: how they are cut."""
    filters = json.dumps(asdict(replace(config.data.filters, dropped=None)))
    return content_key(RULES, filters, *(tokenizer.digest for tokenizer in tokenizers))


def stream_weights(corpus: Corpus) -> list[float] | None:
    """How often a pair of each member is drawn: as in an epoch of all; None of a corpus that is no mixture."""
    members = corpus.members().values()
    if len(members) == 1:
        return None
    counts = [member.count() for member in members]
    return [count * factor for count, factor in zip(counts, corpus.factors(counts), strict=True)]


def check_lengths(config: Config, model: EncoderDecoder, *stores: PairStore) -> None:
    """Refuse pairs beyond the model's positions now and not in the update, or the validation, that meets them."""
    reach = (model.encoder.longest, model.decoder.longest)
    found: list[tuple[float, float]] = [store.longest for store in stores]
    if config.data.streaming or config.tokenizer.sampling > 0:  # pairs that nobody has seen yet
        most = config.data.filters.max_pieces
        found.append((math.inf, math.inf) if most is None else (most + 1, most + 1))
    for lengths in found:
        for length, longest in zip(lengths, reach, strict=True):
            length = length if math.isinf(length) else rounded_up(int(length), config.train.pad_to)
            if longest is not None and length > longest:
                told = "sentences of any length" if math.isinf(length) else f"a sentence of {length} tokens"
                raise UserError(
                    f"position.maximum is {longest} and the data have {told}: raise it or set data.filters.max_pieces "
                    "lower (which shortens the training data alone)"
                )
