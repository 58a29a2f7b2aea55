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
from nmt.run import named_tensors, read_weights


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of each tensor over all files, the newest of them last; one file is in memory at a time.

    Sums are in float64, each mean in the tensor's own dtype. Tensors of integers or booleans, which have no mean, are
    the last file's. UserError for no file, for one that is damaged, and for tensors that are not the first one's.
    """
    if not paths:
        raise UserError("there are no weights to average")
    sums: dict[str, Tensor] = {}
    for path in paths:
        newest = read_weights(path)
        if not sums:
            sums = {name: torch.zeros_like(tensor, dtype=torch.float64) for name, tensor in newest.items()}
        check_alike(path, newest, paths[0], sums)
        for name, tensor in newest.items():
            sums[name] += tensor
    return {
        name: (sums[name] / len(paths)).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in newest.items()
    }


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
    """While this is open, the model has these weights, of all it has or of some; then its own again, bit for bit.

    Values are copied, not tensors exchanged: what refers to the parameters (a fused LSTM, an optimizer) still does.
    """
    tensors = {name: tensor for name, tensor in named_tensors(model) if name in weights}
    own = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    try:
        copy_into(tensors, weights)
        yield
    finally:
        copy_into(tensors, own)


@torch.no_grad()
def copy_into(tensors: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    """The value of each into its tensor."""
    for name, tensor in tensors.items():
        tensor.copy_(values[name])
