"""A training's portions from a corpus of any length, of which only a part is in memory at a time.

The stream's pairs are dealt out to *shards*, as many as an update has batches; each has a shuffle buffer of its own and
gives one batch to every update. What a shard gives is a function of the configuration, whichever process owns it. A
shard goes on in *chunks*: when its buffer has overflown by so many pairs, so many are drawn from it at random and cut
into batches; at the end of a pass through the corpus they are drawn until it is empty, so that every pair comes once a
pass. While a chunk is trained on, a thread reads the next one.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import dropwhile, pairwise, tee
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from nmt.data.feed import PIECES, FeedState, Portion, Sharing
from nmt.data.filters import Report
from nmt.data.pairs import IdPair, TextPair
from nmt.data.pool import Pool, Size, ahead, total, worker
from nmt.data.reading import Block, Position, Read, Stream
from nmt.data.sampling import Sampler
from nmt.errors import UserError

CHUNK = 6  # what random numbers are drawn for, besides those of nmt.data.feed and nmt.data.reading
WIDTH = 4  # bytes of an id


class Packed(NamedTuple):
    """A pair in a tenth of its memory: ids and links as int32."""

    line: int
    corpus: int
    source: bytes
    target: bytes
    links: bytes

    @classmethod
    def of(cls, pair: IdPair) -> Packed:
        """Without its text."""
        source, target, links = (array("i", ids).tobytes() for ids in (pair.source, pair.target, pair.links))
        return cls(pair.index, pair.corpus, source, target, links)

    def pair(self) -> IdPair:
        """What was packed."""
        source, target, links = (array("i", ids).tolist() for ids in self[2:])
        return IdPair(self.line, source, target, links, self.corpus)


class Shard(NamedTuple):
    """A shard before a chunk is drawn. position: of its next block; chunk: number of the next; given: pairs of the pass
    under way; expected: pairs of a whole pass, 0 if that is not known yet; drains: the pass has been read to its end.
    """

    position: Position
    buffer: list[Packed]
    chunk: int = 0
    given: int = 0
    expected: int = 0
    drains: bool = False

    def passes(self, used: int) -> float:
        """How often the corpus was read when so many pairs of the chunk are used."""
        share = min(1.0, (self.given + used) / self.expected) if self.expected else 0.0
        return self.position.passes - self.drains + share


class Stand(NamedTuple):
    """Where a shard is in training: before the chunk under way was drawn, and the number of its next batch."""

    shard: Shard
    batch: int


class Given(NamedTuple):
    """A batch, where its shard stands after it, and how often the corpus was read by then."""

    pairs: list[IdPair]
    size: Size
    stand: Stand
    passes: float


class Dealt(NamedTuple):
    """A block's pairs, by shard."""

    block: Block
    pairs: dict[int, list[Packed]]


class StreamFeed:
    """The pairs of corpora that are read again and again."""

    def __init__(
        self,
        members: Sequence[Read],
        encode: Callable[[Iterable[TextPair]], Iterator[IdPair]],
        *,
        name: str,
        batch_tokens: int,
        pool: int,
        accumulate: int,
        shuffle_buffer: int,
        seed: int,
        processes: Sharing,
        pad_to: int = 1,
        weights: Sequence[float] | None = None,
        sampler: Sampler | None = None,
        known_by: str = "",
        report: Report | None = None,
    ) -> None:
        """members: the corpora. encode: gives those pairs that are kept, in order, with their texts. name: of the
        corpora, for people; known_by: what else says which pairs `encode` gives. batch_tokens, pad_to: see
        `plan_pool`. pool, shuffle_buffer: pairs of all shards' chunks and buffers. accumulate: batches of an update.
        weights: how often a pair is of each corpus, in proportion; None: equally often. report: what `encode` counts
        into, for whoever asks."""
        self.stream = Stream(members, weights=weights, size=pool, seed=seed, name=name)
        self.encode = encode
        self.report = report or Report(name)
        self.batch_tokens = batch_tokens
        self.shards = accumulate
        self.size = max(1, pool // accumulate)
        self.kept = shuffle_buffer // accumulate
        self.seed = seed
        self.pad_to = pad_to
        self.processes = processes
        self.sampler = sampler
        settings = [name, known_by, None if weights is None else [float(one) for one in weights], shuffle_buffer]
        self.fingerprint = hashlib.sha256(json.dumps(settings).encode()).hexdigest()
        self.passes = 0.0
        fresh = Stand(Shard(self.stream.start, []), 0)
        self.stands = dict.fromkeys(self.processes.share(range(self.shards)), fresh)

    def updates(self) -> Generator[Portion, None, None]:
        """One portion an update, from where the feed stands: a batch of every shard."""
        with worker() as thread:
            coming = {
                number: batches(ahead(chunks, thread), self.stands[number].batch)
                for number, chunks in self.chunks_of_each().items()
            }
            while True:
                given = {number: next(one) for number, one in coming.items()}
                size = Size(*map(int, self.processes.total(total([one.size for one in given.values()]))))
                self.stands = {number: one.stand for number, one in given.items()}
                self.passes = next(iter(given.values())).passes
                own = [(number, one.pairs) for number, one in given.items()]
                yield Portion(own, size.tokens, size.positions, size.filled)

    def state(self) -> FeedState:
        """Of all shards: their buffers as tensors, the rest as plain values."""
        shards = self.processes.gather([packed_stand(stand) for stand in self.stands.values()])
        tensors = {f"{number}.{name}": own[name] for number, (_, own) in enumerate(shards) for name in own}
        return FeedState({"passes": self.passes, "shards": [values for values, _ in shards]}, tensors)

    def restore(self, state: FeedState) -> None:
        """Take up the own shards; their chunks under way are drawn again."""
        self.passes = state.values["passes"]
        for number in self.stands:
            own = {name: state.tensors[f"{number}.{name}"] for name in ("index", "corpus", "sizes", "ids")}
            self.stands[number] = unpacked_stand(state.values["shards"][number], own)

    def chunks_of_each(self) -> dict[int, Iterator[tuple[Shard, Pool]]]:
        """The own shards' chunks from where each stands; a block is read once for all of them."""
        starts = {number: stand.shard.position for number, stand in self.stands.items()}
        readers = tee(self.dealt(min(starts.values())), len(starts))
        return {
            number: self.chunks(number, self.stands[number].shard, dropwhile(partial(is_before, start), blocks))
            for (number, start), blocks in zip(starts.items(), readers, strict=True)
        }

    def dealt(self, position: Position) -> Iterator[Dealt]:
        """The blocks from there on, with the pairs that the own shards keep of them."""
        for block in self.stream.blocks(position):
            yield Dealt(block, {number: self.pairs_of(number, block) for number in self.stands})

    def pairs_of(self, number: int, block: Block) -> list[Packed]:
        """What a shard keeps of a block. Pair i of a pass is dealt to another shard in every pass."""
        first = (number - block.before.read - block.before.passes) % self.shards
        pairs = list(self.encode(block.pairs[first :: self.shards]))
        if self.sampler is not None:
            texts = [pair.text for pair in pairs if pair.text is not None]
            generator = np.random.default_rng([self.seed, PIECES, block.before.block, number])
            pairs = self.sampler.sample(texts, pairs, generator)
        return [Packed.of(pair) for pair in pairs]

    def chunks(self, number: int, shard: Shard, blocks: Iterator[Dealt]) -> Iterator[tuple[Shard, Pool]]:
        """A shard's chunks without end, each with the shard before it is drawn. UserError: nothing is ever kept."""
        while True:
            while not (shard.drains or len(shard.buffer) >= self.kept + self.size):
                dealt = next(blocks)
                shard = filled(shard, dealt.block, dealt.pairs[number])
                if shard.position.passes >= self.shards and not (shard.chunk or shard.buffer):
                    raise UserError(f"no pairs to use in {self.stream.name}")
            pool, after = self.drawn(number, shard)
            yield shard, pool
            shard = after

    def drawn(self, number: int, shard: Shard) -> tuple[Pool, Shard]:
        """The shard's next chunk, and the shard after it."""
        generator = np.random.default_rng([self.seed, CHUNK, number, shard.chunk])
        order = generator.permutation(len(shard.buffer))
        chunk = [shard.buffer[place] for place in order[: self.size]]
        left = [shard.buffer[place] for place in np.sort(order[self.size :])]
        pool = Pool.plan(
            np.array([len(pair.source) // WIDTH + 1 for pair in chunk], dtype=np.int64),
            np.array([len(pair.target) // WIDTH + 1 for pair in chunk], dtype=np.int64),
            lambda places: [chunk[place].pair() for place in places],
            batch_tokens=self.batch_tokens,
            pad_to=self.pad_to,
            generator=generator,
        )
        ends = shard.drains and not left
        given = 0 if ends else shard.given + len(chunk)
        return pool, shard._replace(buffer=left, chunk=shard.chunk + 1, given=given, drains=shard.drains and not ends)


def filled(shard: Shard, block: Block, pairs: list[Packed]) -> Shard:
    """The shard with what it keeps of its next block. Where a pass ends, it is known how many pairs that has."""
    shard = shard._replace(position=block.after, buffer=shard.buffer + pairs)
    if block.after.passes == block.before.passes:
        return shard
    expected, drains = shard.given + len(shard.buffer), bool(shard.buffer)
    return shard._replace(expected=expected, drains=drains, given=shard.given if drains else 0)


def batches(chunks: Iterator[tuple[Shard, Pool]], first: int) -> Iterator[Given]:
    """The batches of chunk after chunk; of the first chunk, those from number `first` on."""
    for shard, pool in chunks:
        used = sum(map(len, pool.batches[:first]))
        for number in range(first, len(pool.batches)):
            used += len(pool.batches[number])
            yield Given(pool.batch(number), pool.size(number), Stand(shard, number + 1), shard.passes(used))
        first = 0


def is_before(start: Position, dealt: Dealt) -> bool:
    """Whether a shard that stands there has had the block."""
    return dealt.block.before.block < start.block


def packed_stand(stand: Stand) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Plain values, and the buffer: index [N], corpus [N], sizes [N, 3] of source, target and links, and ids, all of
    these one after another."""
    values = {**stand.shard._asdict(), "batch": stand.batch}
    buffer: list[Packed] = values.pop("buffer")
    sizes = [[len(part) // WIDTH for part in pair[2:]] for pair in buffer]
    ids = bytearray().join(part for pair in buffer for part in pair[2:])
    return values, {
        "index": torch.tensor([pair.line for pair in buffer], dtype=torch.int64),
        "corpus": torch.tensor([pair.corpus for pair in buffer], dtype=torch.int32),
        "sizes": torch.tensor(sizes, dtype=torch.int32).reshape(-1, 3),
        "ids": torch.from_numpy(np.array(np.frombuffer(ids, dtype=np.int32))),
    }


def unpacked_stand(values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Stand:
    """What was packed."""
    ids = tensors["ids"].numpy().tobytes()
    ends = (tensors["sizes"].flatten().cumsum(0) * WIDTH).tolist()
    parts = iter([ids[begin:end] for begin, end in pairwise([0, *ends])])
    own = zip(tensors["index"].tolist(), tensors["corpus"].tolist(), parts, parts, parts, strict=True)
    shard = {name: value for name, value in values.items() if name not in ("batch", "position")}
    buffer = [Packed(*pair) for pair in own]
    return Stand(Shard(Position.of(values["position"]), buffer, **shard), values["batch"])
