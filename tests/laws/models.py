"""Small real models of every kind that configs/ names, found by listing it, and sentences for them.

Sizes are distinct primes where nothing forces them to be equal (Luong's dot wants query and memory of one size, heads
must divide), so that a swapped axis cannot pass. Dropout is off but where a test asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch

from nmt.compose import compose, config_folder
from nmt.config import Config
from nmt.data.batch import Batch, batch_pairs, make_batch
from nmt.data.feed import Portion
from nmt.data.pairs import IdPair
from nmt.data.special import PAD
from nmt.model.assemble import assemble
from nmt.model.encoder_decoder import EncoderDecoder

SOURCE_VOCABULARY, TARGET_VOCABULARY = 23, 29
CORPUS = ("data.root=corpus", "data.source_language=xx", "data.target_language=yy")
DRY = ("model.encoder.dropout=0", "model.decoder.dropout=0")
RECURRENT = (
    *DRY,
    "model=recurrent",
    "model.embedding_size=7",
    "model.encoder.hidden_size=5",
    "model.decoder.hidden_size=10",
)
TRANSFORMER = (
    *DRY,
    "model=transformer",
    "model.embedding_size=6",
    "model.encoder.self_attention.heads=2",
    "model.tied=none",
    *(f"model.{side}.{setting}" for side in ("encoder", "decoder") for setting in ("layers=2", "feedforward_size=11")),
)
AFTER_STEP = "wiring={_target_: nmt.model.recurrent.wiring.AfterStep}"
# What each kind of model attends with where no preset is named: a file that only refers to a preset.
ALIASES = {
    "recurrent": "luong_general",
    "transformer_recurrent": "luong_general",
    "recurrent_transformer": "transformer",
}
NO_CHOICE = "hidden_markov"  # a model that jumps from position to position, and has no attention to choose
PRESETS = sorted({file.stem for file in (config_folder() / "attention").glob("*.yaml")} - {*ALIASES, NO_CHOICE})
# What a preset needs in models as small as these.
SMALL = {
    "multihead": ("attention.heads=2",),
    "luong_local_m": ("attention.window.reach=2",),
    "luong_local_p": ("attention.window.reach=2",),
}
# The Transformer's preset names no wiring, and takes its heads from the decoder's self-attention.
OWN = {"transformer": ("attention.heads=2", AFTER_STEP)}
SAMPLED = ("hard_reinforce", "hard_gumbel")  # in training, positions are drawn
UNWEIGHTED = ("none",)
NOT_IN_TRANSFORMERS = ("hard_marginal",)  # a mixture of contexts can't enter the residual sum (tests/test_configs.py)


def _recurrent() -> dict[str, tuple[str, ...]]:
    """Every attention preset, with input feeding turned round where its wiring knows it; some with other cells."""
    cases: dict[str, tuple[str, ...]] = {}
    two = tuple(f"model.{side}.{setting}" for side in ("encoder", "decoder") for setting in ("layers=2", "cell=lstm"))
    for preset in PRESETS:
        chosen = (*RECURRENT, f"attention={preset}", *SMALL.get(preset, ()), *OWN.get(preset, ()))
        cases[f"recurrent-{preset}-gru"] = chosen
        if preset in ("none", "bahdanau", "luong_general", "hard_marginal", "coverage"):
            cases[f"recurrent-{preset}-lstm2"] = (*chosen, *two)
        feeding = (compose((*CORPUS, *chosen)).wiring or {}).get("input_feeding")
        if feeding is not None:
            cases[f"recurrent-{preset}-{'unfed' if feeding else 'fed'}"] = (
                *chosen,
                f"wiring.input_feeding={str(not feeding).lower()}",
                "model.decoder.layers=2",
            )
    cases["recurrent-none-unseen"] = (*RECURRENT, "attention=none", "attention.feed_summary=false", AFTER_STEP)
    cases["recurrent-bahdanau-one-way"] = (
        *RECURRENT,
        "attention=bahdanau",
        "model.encoder.bidirectional=false",
        "model.decoder.layers=3",
    )
    return cases


def _transformer() -> dict[str, tuple[str, ...]]:
    """Each norm with each kind of position, and every preset that can stand without a wiring."""
    cases = {
        f"transformer-{name}-{position}": (
            *TRANSFORMER,
            f"position={position}",
            f"model.encoder.pre_norm={pre}",
            f"model.decoder.pre_norm={pre}",
        )
        for name, pre in (("pre", "true"), ("post", "false"))
        for position in sorted(file.stem for file in (config_folder() / "position").glob("*.yaml"))
    }
    for preset in sorted({*PRESETS} - {*NOT_IN_TRANSFORMERS, "transformer"}):
        cases[f"transformer-{preset}"] = (
            *TRANSFORMER,
            f"attention={preset}",
            *SMALL.get(preset, ()),
            "wiring=null",
        )
    return cases


MARKOV = {
    "hidden_markov": (*DRY, "model=hidden_markov", "model.embedding_size=7", "model.decoder.jumps=2"),
}
CASES = {**_recurrent(), **_transformer(), **MARKOV}
FEW = (
    "recurrent-bahdanau-lstm2",
    "recurrent-luong_general-gru",
    "recurrent-luong_concat-unfed",
    "recurrent-transformer-gru",
    "recurrent-none-gru",
    "recurrent-hard_marginal-gru",
    "recurrent-coverage-gru",
    "transformer-pre-sinusoidal",
    "transformer-post-learned",
    "hidden_markov",
)


def preset_of(case: str) -> str:
    """The attention preset that a case names; its model's own where it names none."""
    if case in MARKOV:
        return case
    chosen = next((given for given in CASES[case] if given.startswith("attention=")), "attention=transformer")
    return chosen.partition("=")[2]


@cache
def config_of(case: str, *overrides: str) -> Config:
    """The configuration of one case, composed as `nmt train` composes it."""
    return compose([*CORPUS, *CASES[case], *overrides])


def build_model(
    case: str, *overrides: str, seed: int = 3, source: int = SOURCE_VOCABULARY, target: int = TARGET_VOCABULARY
) -> EncoderDecoder:
    """A random model of this case in double precision, in evaluation mode. Its biases are random as well."""
    torch.manual_seed(seed)
    model = assemble(config_of(case, *overrides), source_vocabulary=source, target_vocabulary=target).double().eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def sentences(count: int = 4, vocabulary: int = SOURCE_VOCABULARY, longest: int = 6, seed: int = 11) -> list[list[int]]:
    """Random piece ids; the lengths differ, the first sentence is the longest and the second has one piece."""
    random = np.random.default_rng(seed)
    lengths = [longest, 1, *random.integers(1, longest, size=max(0, count - 2))][:count]
    return [random.integers(PAD + 1, vocabulary, size=length).tolist() for length in lengths]


def toy_batch(count: int = 4, seed: int = 11) -> Batch:
    """Pairs whose longest source is not the one with the longest target."""
    targets = sentences(count, TARGET_VOCABULARY, longest=5, seed=seed + 1)
    return make_batch(sentences(count, seed=seed), targets[::-1])


def alone(batch: Batch, row: int) -> Batch:
    """One pair of a batch, cut to its own lengths."""
    size, steps = int(batch.source_lengths[row]), int(batch.target_lengths[row])
    return Batch(
        batch.source[row : row + 1, :size],
        batch.source_lengths[row : row + 1],
        batch.target_in[row : row + 1, :steps],
        batch.target_out[row : row + 1, :steps],
        batch.target_lengths[row : row + 1],
        batch.index[row : row + 1],
    )


def overwrite_padding(batch: Batch, source: int, target: int) -> Batch:
    """The same pairs, with these ids where padding was."""

    def filled(ids: torch.Tensor, lengths: torch.Tensor, token: int) -> torch.Tensor:
        return ids.masked_fill(torch.arange(ids.shape[1]) >= lengths.unsqueeze(1), token)

    return replace(
        batch,
        source=filled(batch.source, batch.source_lengths, source),
        target_in=filled(batch.target_in, batch.target_lengths, target),
        target_out=filled(batch.target_out, batch.target_lengths, target),
    )


@dataclass
class ToyStore:
    """Pairs in memory, with what a feed and a validation ask of a PairStore."""

    sources: list[list[int]]
    targets: list[list[int]]

    def __post_init__(self) -> None:
        self.corpus = np.zeros(len(self.sources), dtype=np.uint8)
        self.source_lengths = np.array([len(ids) + 1 for ids in self.sources], dtype=np.int32)
        self.target_lengths = np.array([len(ids) + 1 for ids in self.targets], dtype=np.int32)

    def __len__(self) -> int:
        return len(self.sources)

    def fingerprint(self) -> str:
        return str(hash((str(self.sources), str(self.targets))))

    def pairs(self, rows: Sequence[int]) -> list[IdPair]:
        return [IdPair(row, self.sources[row], self.targets[row]) for row in rows]

    def batch(self, rows: Sequence[int]) -> Batch:
        return batch_pairs(self.pairs(rows))

    def portion(self, *batches: Sequence[int]) -> Portion:
        """An update of these rows, of one process."""
        tokens = sum(int(self.target_lengths[list(rows)].sum()) for rows in batches)
        return Portion([(number, self.pairs(rows)) for number, rows in enumerate(batches)], tokens, 1, 1)


def toy_store(count: int) -> ToyStore:
    """`count` random pairs."""
    return ToyStore(sentences(count, seed=21), sentences(count, TARGET_VOCABULARY, longest=9, seed=22))
