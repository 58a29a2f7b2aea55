"""A run: the directory that a training leaves, which can be moved, zipped and opened without the corpus.

    config.yaml               the whole configuration, references resolved
    tokenizer/                source.model and target.model of SentencePiece (the same model twice when joint)
    model.safetensors         the best weights, each tied table once, under the name of its first owner; its header says
                              the SHA-256 of the tokenizer files that they were trained with
    checkpoints/last.safetensors   what the training goes on from (see nmt.train.checkpoint)
    metrics.jsonl             one object an event (see nmt.train.metrics)
    guided.links              word links of the training pairs, where two runs made them to guide this one
    tensorboard/              the same for TensorBoard, on request
    evaluation.json           scores of the test set
    translations/, alignments/     what the best model made of the test set
    .lock                     while a training holds it

Nothing in it can run code. Every file is replaced as a whole, or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nmt.compose import read_values, write_config
from nmt.config import Config, read_config
from nmt.data.files import locked, open_whole, sweep, write_atomically
from nmt.data.tokenizer import Tokenizer
from nmt.errors import UserError

SIDES = ("source", "target")
VOCABULARIES = "vocabularies"  # one entry for both: safetensors writes several in a random order


class Run:
    """The paths of a run, and the reading and writing of its parts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.yaml"
        self.best = path / "model.safetensors"
        self.last = path / "checkpoints" / "last.safetensors"
        self.metrics = path / "metrics.jsonl"
        self.guided = path / "guided.links"
        self.board = path / "tensorboard"
        self.evaluation = path / "evaluation.json"
        self.alignment = path / "alignments" / "test.npz"
        self.translation = path / "translations" / "test.txt"

    @classmethod
    def open(cls, path: Path) -> Run:
        """A finished or interrupted run. UserError where there is none, or none with weights yet."""
        run = cls(path)
        if not run.config_file.is_file():
            raise UserError(f"{path}: this is no run, it has no config.yaml")
        if not run.best.is_file():
            raise UserError(f"{path}: this run has no model.safetensors: training stopped before the first validation")
        return run

    def locked(self) -> AbstractContextManager[int]:
        """Keep other trainings out."""
        return locked(self.path, "nmt train")

    def refuse_if_trained(self, values: Mapping[str, Any]) -> None:
        """UserError where a training has already left weights here, naming what would differ, and where files that are
        no run's would be written over."""
        if self.path.exists() and not self.path.is_dir():
            raise UserError(f"run={self.path}: this is a file, not a directory")
        if not (self.best.exists() or self.last.exists()):
            self.refuse_if_strange()
            return
        changes = differences(read_values(self.config_file) if self.config_file.is_file() else {}, values)
        differing = f"it differs from this one in {changes}" if changes else "with the same configuration"
        raise UserError(
            f"{self.path}: there is a trained run here ({differing}); go on with it by nmt train resume={self.path}, "
            "name another by run=PATH, or remove it"
        )

    def refuse_if_strange(self) -> None:
        """UserError where there is no configuration of ours beside what a run would write over."""
        written = (self.config_file, self.metrics, self.evaluation, self.translation, self.alignment, self.board)
        found = [path for path in (*written, *map(self.tokenizer_file, SIDES)) if path.exists()]
        if not found:
            return
        try:
            self.config()
        except UserError as error:
            name = found[0].relative_to(self.path)
            raise UserError(
                f"{self.path}: there is {name} here, and this is no run; name another by run=PATH"
            ) from error

    def sweep(self) -> None:
        """Remove what writes that a kill cut off have left; only for the training that holds the run."""
        files = (self.config_file, self.last, self.tokenizer_file("source"), self.alignment, self.translation)
        for file in files:
            sweep(file.parent)

    def write_config(self, values: dict[str, Any]) -> None:
        """Keep the configuration."""
        write_atomically(self.config_file, write_config(values).encode())

    def values(self) -> dict[str, Any]:
        """The configuration as plain values."""
        return read_values(self.config_file)

    def config(self) -> Config:
        """The configuration. UserError where the file has none, or one that is not whole."""
        values = self.values()
        try:
            return read_config(values)
        except UserError as error:
            raise UserError(f"{self.config_file}: {error}") from error

    def languages(self) -> tuple[str, str]:
        """Which it translates from, and to."""
        data = self.config().data
        return data.source_language, data.target_language

    def check_beside(self, languages: tuple[str, str]) -> None:
        """UserError where it does not translate between these."""
        own = self.languages()
        if own != languages:
            wanted = f"one from {languages[0]} to {languages[1]} is needed here"
            raise UserError(f"{self.path}: this run translates {own[0]} to {own[1]}, and {wanted}")

    def tokenizer_file(self, side: str) -> Path:
        """The SentencePiece model of `source` or `target`."""
        return self.path / "tokenizer" / f"{side}.model"

    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """Those of source and target."""
        return Tokenizer.load(self.tokenizer_file("source")), Tokenizer.load(self.tokenizer_file("target"))

    def save_best(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Keep these weights as the best, with what their tokenizers are known by."""
        write_tensors(self.best, tensors, {VOCABULARIES: " ".join(map(self.vocabulary, SIDES))})

    def load_best(self, model: nn.Module) -> None:
        """The best weights into a model of the same configuration. UserError as for `check_tokenizers` and
        `load_weights`."""
        self.check_tokenizers()
        load_weights(self.best, model)

    def check_tokenizers(self) -> None:
        """UserError for one that is not the one that the best weights were trained with. Older weights don't say."""
        trained = read_header(self.best).get(VOCABULARIES)
        for side in SIDES:
            if trained is not None and self.vocabulary(side) not in trained:
                raise UserError(
                    f"{self.tokenizer_file(side)}: this is not the {side} tokenizer that {self.best} was trained with"
                )

    def vocabulary(self, side: str) -> str:
        """What a tokenizer is known by: the side and its file's SHA-256 in hexadecimal, or `none` without a file."""
        file = self.tokenizer_file(side)
        return f"{side} {hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else 'none'}"


def save_weights(path: Path, model: nn.Module, header: dict[str, str] | None = None) -> None:
    """All parameters and buffers; a tied table once. header: what else the file says, as text."""
    write_tensors(path, dict(named_tensors(model)), header)


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], header: dict[str, str] | None = None) -> None:
    """A safetensors file, there whole or not at all; the numbers go to it from where they are."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with open_whole(path) as file:
        try:
            save_file(whole, file.name, metadata=header)
        except SafetensorError as error:
            raise UserError(f"{path}: cannot be written: {error}") from error


def load_weights(path: Path, model: nn.Module) -> None:
    """Into a model of the same configuration. UserError for a damaged file, or one of another model."""
    put_tensors(path, read_weights(path), model)


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """All tensors of a file, by name. UserError for one that is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path}: these are no weights: {error}") from error


def read_header(path: Path) -> dict[str, str]:
    """What a file of weights says besides its tensors, which are not read. UserError as for `read_weights`."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            return file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path}: these are no weights: {error}") from error


def put_tensors(path: Path, stored: Mapping[str, torch.Tensor], model: nn.Module) -> None:
    """Tensors of the file `path` into a model that has the same. UserError where it has others."""
    own = dict(named_tensors(model))
    if stored.keys() != own.keys():
        name = sorted(stored.keys() ^ own.keys())[0]
        raise UserError(f"{path}: these weights are of another model: {name} is on one side only")
    for name, tensor in own.items():
        if tensor.shape != stored[name].shape:
            shapes = f"{tuple(stored[name].shape)}, the configuration asks for {tuple(tensor.shape)}"
            raise UserError(f"{path}: {name} is {shapes}")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(stored[name])


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The keys whose values differ, with both: `seed 1 -> 2, ...`; empty where none does."""
    before, after = dict(_flat(old)), dict(_flat(new))
    return ", ".join(f"{key} {before.get(key)!r} -> {after.get(key)!r}" for key in changed_keys(old, new))


def changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The dotted keys whose values differ, in order."""
    before, after = dict(_flat(old)), dict(_flat(new))
    return sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def named_tensors(model: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """All parameters and buffers; a tied table once, under the name of its first owner."""
    return [*model.named_parameters(), *model.named_buffers()]


def _flat(values: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in values.items():
        full = f"{path}.{key}" if path else key
        flat.extend(_flat(value, full) if isinstance(value, Mapping) else [(full, value)])
    return flat
