"""The mean of the weights of several updates of one training, which often translates better than any one of them.

Vaswani et al. 2017, section 6.1, make their final models of the last 5 or 20 checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.run import named_tensors


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of each tensor over all files, the newest of them last; one file is in memory at a time.

    Sums are in float64, each mean in the tensor's own dtype. Tensors of integers or booleans, which have no mean, are
    the last file's. UserError for no file, for one that is damaged, and for tensors that are not the first one's.
    """
    if not paths:
        raise UserError("there are no weights to average")
    sums: dict[str, Tensor] = {}
    for path in paths:
        newest = read_tensors(path)
        if not sums:
            sums = {name: torch.zeros_like(tensor, dtype=torch.float64) for name, tensor in newest.items()}
        check_alike(path, newest, paths[0], sums)
        for name, tensor in newest.items():
            sums[name] += tensor
    return {
        name: (sums[name] / len(paths)).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in newest.items()
    }


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a file, by name. UserError for one that is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path}: these are no weights: {error}") from error


def check_alike(path: Path, own: Mapping[str, Tensor], first: Path, others: Mapping[str, Tensor]) -> None:
    """UserError naming file and tensor where names or shapes are not those of the first file."""
    if own.keys() != others.keys():
        name = sorted(own.keys() ^ others.keys())[0]
        holder, other = (path, first) if name in own else (first, path)
        raise UserError(f"these weights are of different models: {name} is in {holder} and not in {other}")
    for name, tensor in own.items():
        if tensor.shape != others[name].shape:
            raise UserError(f"{path}: {name} is {tuple(tensor.shape)}, in {first} it is {tuple(others[name].shape)}")


@contextmanager
def weights_in_place(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """While this is open, the model has these weights; then its own again, bit for bit."""
    own = {name: tensor.clone() for name, tensor in named_tensors(model)}
    try:
        copy_weights(model, weights)
        yield
    finally:
        copy_weights(model, own)


@torch.no_grad()
def copy_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """The values into the model's own tensors."""
    for name, tensor in named_tensors(model):
        tensor.copy_(weights[name])
