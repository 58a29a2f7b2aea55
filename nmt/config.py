"""The typed schema of every section of a configuration, and the strict reading of plain dictionaries into it.

Nothing is converted: a text where a number belongs, or a boolean that YAML made of `no`, is refused by its key, and a
key that nobody reads is refused with the nearest that exists. Sections that name a class (`_target_`) stay
dictionaries, which `nmt.build` checks against the class's own signature.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nmt.errors import UserError

Leaf = dict[str, Any]
AlignmentMethod = Literal["attention", "posterior", "gradient", "input_x_gradient", "integrated_gradients", "erasure"]


def require(holds: bool, key: str, value: object, allowed: str) -> None:
    """Raise a UserError that names key, value and what is allowed, unless it holds."""
    if not holds:
        raise UserError(f"{key} is {value!r}: allowed is {allowed}")


@dataclass(frozen=True)
class AboutConfig:
    """What people should know of a corpus before they use it: its licence, where it comes from, how large it is."""

    licence: str
    source: str
    size: str


@dataclass(frozen=True)
class FiltersConfig:
    """Which training pairs are left out, besides those with a blank side; development and test data stay whole.

    max_pieces, max_words: of either side. max_ratio: of the pieces of the longer side to those of the shorter.
    identical: both sides are the same text. duplicates: the pair has come before. overlap: a development or test pair
    has the same source or the same target. script: a side whose letters are mostly of another script than that side of
    the corpus. language: a side that the other side's language explains better. characters: control characters, U+FFFD,
    private and unassigned ones. dropped: a file for the pairs left out, with the reasons. None and false: off.
    """

    max_pieces: int | None = 100
    max_words: int | None = None
    max_ratio: float | None = None
    identical: bool = False
    duplicates: bool = False
    overlap: bool = False
    script: bool = False
    language: bool = False
    characters: bool = False
    dropped: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_pieces", "max_words"):
            value = getattr(self, name)
            require(value is None or value > 0, f"data.filters.{name}", value, "null (off) or a positive number")
        ratio = self.max_ratio
        require(ratio is None or ratio >= 1, "data.filters.max_ratio", ratio, "null (off) or a number from 1 on")


@dataclass(frozen=True)
class DataConfig:
    """The corpus. train, valid and test (None: there is none) name classes of nmt.data.corpora; root is for them to
    refer to. streaming: training pairs are read and encoded as they are needed, and never all of them kept; they are
    drawn at random from the next shuffle_buffer of them."""

    source_language: str
    target_language: str
    train: Leaf
    valid: Leaf
    test: Leaf | None
    filters: FiltersConfig
    root: str | None = None
    about: AboutConfig | None = None
    streaming: bool = False
    shuffle_buffer: int = 100_000

    def __post_init__(self) -> None:
        require(self.shuffle_buffer > 0, "data.shuffle_buffer", self.shuffle_buffer, "a positive number of pairs")


@dataclass(frozen=True)
class TokenizerConfig:
    """SentencePiece, trained on the training text alone: one model of both sides (`joint`) or one a side.

    user_symbols: texts that are always one piece. split_digits: every digit is a piece. sampling: training pairs are
    cut in random ways (BPE-dropout's probability, or the smoothing of unigram's sampling; 0: off). sentences: how many
    lines, drawn at random, a vocabulary is learnt from (0: all). source_model, target_model: files of finished
    SentencePiece models, which are used as they are.
    """

    model_type: Literal["unigram", "bpe", "word", "char"]
    joint: bool
    vocabulary_size: int
    character_coverage: float
    byte_fallback: bool
    normalization: Literal["nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf", "identity"] = "nmt_nfkc"
    user_symbols: list[str] = dataclasses.field(default_factory=list)
    split_digits: bool = False
    sampling: float = 0.0
    sentences: int = 0
    source_model: str | None = None
    target_model: str | None = None

    def __post_init__(self) -> None:
        require(0 <= self.sampling < 1, "tokenizer.sampling", self.sampling, "0 (off) to 1")
        require(self.sentences >= 0, "tokenizer.sentences", self.sentences, "0 (all) or a positive number")
        both = (self.source_model is None) == (self.target_model is None)
        require(both, "tokenizer.target_model", self.target_model, "a file if there is a tokenizer.source_model")


@dataclass(frozen=True)
class ModelConfig:
    """encoder and decoder name classes. tied: tables that are one: `output` the target embedding and the output
    projection, `all` the source embedding as well (needs tokenizer.joint). word_dropout: the share of input tokens,
    source and target, whose embeddings are zeroed in training."""

    embedding_size: int
    tied: Literal["none", "output", "all"]
    encoder: Leaf
    decoder: Leaf
    word_dropout: float = 0.0

    def __post_init__(self) -> None:
        require(self.embedding_size > 0, "model.embedding_size", self.embedding_size, "a positive number")
        require(0 <= self.word_dropout < 1, "model.word_dropout", self.word_dropout, "0 <= x < 1")


@dataclass(frozen=True)
class TrainConfig:
    """The training loop. batch_tokens: max(source, target) x sentences, padding counted; pool: sentences;
    accumulate: batches an update, of all processes together; valid_every, log_every, save_every (besides when
    validating; 0: not): updates. min_delta: by how much a validation must be better for patience to count anew;
    max_minutes: of training, over all its stops (0: no limit); tensorboard: events for it as well, in the run's
    directory. r_drop: weight of R-Drop's divergence (0: no R-Drop). precision: of products in the network; weights,
    sums and the loss stay in float32. keep_last, keep_best: of so many validations, the newest and the best, the
    weights are kept; average: how many of the newest are averaged at the end; ema: decay of a moving average of the
    weights (0: each of these is off). compile: the network's forward and backward passes by torch.compile.
    guided_alignment: word links of the training pairs that the weights which `alignment` names are trained to, a file
    in Pharaoh format or a run of the opposite direction, which makes them together with `start`; guided_weight: of
    their cross-entropy in the loss."""

    updates: int
    batch_tokens: int
    pool: int
    accumulate: int
    label_smoothing: float
    clip_norm: float
    valid_every: int
    log_every: int
    metric: Literal["loss", "perplexity", "bleu", "chrf"]
    patience: int
    bad_steps: int
    save_every: int = 0
    min_delta: float = 0.0
    max_minutes: float = 0.0
    tensorboard: bool = False
    r_drop: float = 0.0
    keep_last: int = 0
    keep_best: int = 0
    average: int = 0
    ema: float = 0.0
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    compile: bool = False
    guided_alignment: str | None = None
    guided_weight: float = 0.05
    pad_to: int = 1

    def __post_init__(self) -> None:
        counts = (
            "updates",
            "batch_tokens",
            "pool",
            "accumulate",
            "valid_every",
            "log_every",
            "patience",
            "bad_steps",
            "pad_to",
        )
        for name in counts:
            require(getattr(self, name) > 0, f"train.{name}", getattr(self, name), "a positive number")
        require(self.save_every >= 0, "train.save_every", self.save_every, "0 (when validating) or a positive number")
        for name in ("min_delta", "max_minutes", "r_drop"):
            require(getattr(self, name) >= 0, f"train.{name}", getattr(self, name), "0 or a positive number")
        for name in ("keep_last", "keep_best"):
            require(getattr(self, name) >= 0, f"train.{name}", getattr(self, name), "0 (off) or a positive number")
        most = f"0 (off) to train.keep_last, which is {self.keep_last}"
        require(0 <= self.average <= self.keep_last, "train.average", self.average, most)
        require(0 <= self.ema < 1, "train.ema", self.ema, "0 (off) or 0 < x < 1")
        require(0 <= self.label_smoothing < 1, "train.label_smoothing", self.label_smoothing, "0 <= x < 1")
        require(self.clip_norm >= 0, "train.clip_norm", self.clip_norm, "0 (off) or a positive norm")
        require(self.guided_weight > 0, "train.guided_weight", self.guided_weight, "a positive number")


@dataclass(frozen=True)
class SearchConfig:
    """Decoding. A translation has at most max_ratio x source tokens + max_offset tokens, EOS counted in both;
    batch_tokens counts source tokens x beam_size."""

    beam_size: int
    length_penalty: Literal["wu", "mean", "none"]
    alpha: float
    max_ratio: float
    max_offset: int
    batch_tokens: int

    def __post_init__(self) -> None:
        for name in ("beam_size", "max_offset", "batch_tokens"):
            require(getattr(self, name) > 0, f"search.{name}", getattr(self, name), "a positive number")
        require(0 <= self.alpha <= 10, "search.alpha", self.alpha, "0 to 10")
        require(0 <= self.max_ratio <= 1000, "search.max_ratio", self.max_ratio, "0 to 1000")


@dataclass(frozen=True)
class AlignmentConfig:
    """What of a run is its alignment. method: how it is found what a target word reads. layer (negative from the
    last), head (None: the mean of all) and shift are attention's; shift is the row that stands for target word t: 0 the
    step that predicts it, 1 the step that reads it (Chen 2020). full_context: the weights are read, and guided, where
    the decoder sees the whole target (Garg 2019)."""

    layer: int
    head: int | None
    shift: int
    method: AlignmentMethod = "attention"
    full_context: bool = False

    def __post_init__(self) -> None:
        require(self.shift in (0, 1), "alignment.shift", self.shift, "0 or 1")


@dataclass(frozen=True)
class Config:
    """A whole configuration. attention, wiring, position, relative: what the model's leaves refer to. position
    acts on a Transformer's input, relative in its self-attention. start: a run whose tokenizers and best weights
    training starts from."""

    run: str
    seed: int
    device: str
    threads: int
    data: DataConfig
    tokenizer: TokenizerConfig
    model: ModelConfig
    attention: Leaf
    wiring: Leaf | None
    optimizer: Leaf
    schedule: Leaf
    train: TrainConfig
    search: SearchConfig
    alignment: AlignmentConfig
    position: Leaf | None = None
    relative: Leaf | None = None
    start: str | None = None

    def __post_init__(self) -> None:
        require(self.threads >= 0, "threads", self.threads, "0 (torch's own choice) or a positive number")
        require(0 <= self.seed < 2**63, "seed", self.seed, "0 or more, below 2^63")
        if self.wiring is not None and "wiring" not in self.model.decoder:
            raise UserError(
                "wiring: this decoder has none, and the attention preset names one; "
                "choose attention=transformer, or set wiring=null to use the preset's score alone"
            )
        if self.attention and "attention" not in self.model.decoder:
            raise UserError("attention: this decoder has none to choose; leave it out, or choose another model")
        for name in ("position", "relative"):
            if getattr(self, name) is not None and name not in {*self.model.encoder, *self.model.decoder}:
                raise UserError(
                    f"{name}: this model reads in order and has none; leave it out, or set model=transformer"
                )
        if self.data.streaming:
            self._check_stream()
        if self.train.guided_alignment is not None and self.tokenizer.sampling > 0:
            raise UserError("tokenizer.sampling: train.guided_alignment has links for one way of cutting; set it to 0")
        if self.model.tied == "all" and not self.tokenizer.joint:
            raise UserError("model.tied is 'all': source and target share a table only with tokenizer.joint=true")

    def _check_stream(self) -> None:
        """Refuse what would have to read an endless corpus to its end."""
        if self.data.filters.duplicates:
            raise UserError(
                "data.filters.duplicates: data.streaming keeps nothing of what has come before; leave it out"
            )
        if self.data.filters.dropped is not None:
            raise UserError("data.filters.dropped: data.streaming leaves pairs out in every pass; leave it out")
        if self.train.guided_alignment is not None:
            raise UserError("train.guided_alignment: data.streaming has no links for its pairs; leave one of them out")
        if self.tokenizer.source_model is None and self.start is None and not self.tokenizer.sentences:
            raise UserError(
                "tokenizer.sentences is 0, all of them: of a stream (data.streaming) say how many of the first are for "
                "the tokenizer to learn from, or bring one (tokenizer.source_model, tokenizer.target_model)"
            )


def read_config(values: Mapping[str, Any]) -> Config:
    """Plain values -> Config. Raises UserError naming the key, with the nearest one for a key that does not exist."""
    config = _read(Config, values, "")
    assert isinstance(config, Config)
    return config


def nearest(word: str, known: Iterable[str], prefix: str = "") -> str:
    """' (did you mean PREFIX+X?)' for the known X nearest to the word, or '' where nothing is near."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {prefix}{close[0]}?)" if close else ""


def check_keys(values: Mapping[Any, Any], known: Iterable[str], path: str) -> None:
    """Raise a UserError for a key that is not known."""
    known = list(known)
    for key in values:
        if not isinstance(key, str):
            raise UserError(
                f"{path or 'configuration'}: the key {key!r} is no text: YAML reads no, on, yes, off so; quote it"
            )
        if key not in known:
            full = f"{path}.{key}" if path else key
            near = nearest(key, known, f"{path}." if path else "") or f"; there are {', '.join(known)}"
            raise UserError(f"{full}: there is no such key{near}")


def _read(kind: Any, value: Any, path: str) -> Any:
    """A value strictly of this kind: dataclass, union, literal, dict or plain type."""
    check_given(value, path)
    if dataclasses.is_dataclass(kind):
        return _read_section(kind, value, path)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return _read(inner, value, path)
    if origin is Literal:
        require(value in arguments, path, value, ", ".join(map(str, arguments)))
        return value
    if origin is dict:
        require(isinstance(value, Mapping), path, value, "a section that names a class")
        return value
    if origin is list:
        require(isinstance(value, list), path, value, "a list: [a,b]")
        return [_read(arguments[0], item, f"{path}[{place}]") for place, item in enumerate(value)]
    return read_plain(kind, value, path)


def _read_section(kind: Any, values: Any, path: str) -> Any:
    if not isinstance(values, Mapping):
        raise UserError(f"{path} is {values!r}: a section with keys of its own belongs there")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    check_keys(values, fields, path)
    hints = typing.get_type_hints(kind)
    for name, field in fields.items():
        if name not in values and field.default is field.default_factory is dataclasses.MISSING:
            raise UserError(f"{path + '.' if path else ''}{name} is missing")
    return kind(
        **{name: _read(hints[name], value, f"{path}.{name}" if path else name) for name, value in values.items()}
    )


def check_given(value: Any, path: str) -> None:
    """Raise a UserError for what a configuration leaves to its user."""
    if value == "???":
        raise UserError(f"{path} must be given")


def read_plain(kind: Any, value: Any, path: str) -> Any:
    """A value that is an int, float, str or bool already, as `kind` says; a whole number serves as a float."""
    check_given(value, path)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    hint = " (YAML reads no, on, yes, off so: quote it)" if isinstance(value, bool) and kind is str else ""
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    raise UserError(f"{path} is {value!r}{hint}: allowed is {names[kind]}")
