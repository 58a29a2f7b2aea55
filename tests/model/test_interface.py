"""States are nests of tuples, and a mixture is mixed in probabilities."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from nmt.model.interface import Memory, map_tensors, mix, select


class Pair(NamedTuple):
    one: Tensor
    rest: tuple[Tensor, ...]


def test_select_keeps_structure_and_takes_rows() -> None:
    state = (Pair(torch.arange(3), (torch.arange(6).view(3, 2),)), ())
    picked = select(state, torch.tensor([2, 0, 0, 1]))
    assert isinstance(picked[0], Pair)
    assert picked[0].one.tolist() == [2, 0, 0, 1]
    assert picked[0].rest[0].tolist() == [[4, 5], [0, 1], [0, 1], [2, 3]]
    assert picked[1] == ()


def test_no_list_is_a_state() -> None:
    with pytest.raises(AssertionError, match="not list"):
        map_tensors([torch.zeros(1)], torch.clone)


def test_mix_of_two_by_hand() -> None:
    """1/4 of (1/2, 1/2) and 3/4 of (9/10, 1/10): 0.8 and 0.2."""
    logits = torch.tensor([[[1.0, 1.0], [0.9, 0.1]]])
    logits[0, 1] = logits[0, 1].log() + 5.0  # a softmax takes no notice of a constant
    mixed = mix(logits, torch.tensor([[0.25, 0.75]]).log())
    torch.testing.assert_close(mixed.exp(), torch.tensor([[0.8, 0.2]]))


def test_without_prior_logits_stay() -> None:
    logits = torch.randn(2, 3)
    assert mix(logits, None) is logits


def test_lengths_of_a_memory() -> None:
    valid = torch.tensor([[True, True, False], [True, False, False]])
    none = torch.zeros(2, 0)
    assert Memory(none, valid, none, none, none).lengths.tolist() == [2, 1]
