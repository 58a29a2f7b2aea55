"""The mean of weights: exact, in each tensor's own kind, and only of weights of one model."""

from __future__ import annotations

import os
import pickle
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from nmt.errors import UserError
from nmt.run import named_tensors, read_weights
from nmt.train import average
from nmt.train.average import average_weights, weights_in_place
from tests.laws.models import build_model


def write(path: Path, **tensors: Tensor) -> Path:
    save_file(tensors, path)
    return path


def several(folder: Path, *values: Tensor) -> list[Path]:
    """A file of each, in this order."""
    return [write(folder / f"update-{number}.safetensors", w=value) for number, value in enumerate(values)]


def test_by_hand(tmp_path: Path) -> None:
    """(1 + 2 + 6) / 3 = 3."""
    mean = average_weights(several(tmp_path, *(torch.tensor([value, -value]) for value in (1.0, 2.0, 6.0))))
    assert mean.keys() == {"w"}
    assert mean["w"].tolist() == [3.0, -3.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_equal_weights_are_their_own_mean(tmp_path: Path, dtype: torch.dtype) -> None:
    """Bit for bit, of as many as there may be: sums in their own precision would miss it."""
    weights = torch.randn(5, 7).to(dtype)
    mean = average_weights(several(tmp_path, *[weights] * 11))["w"]
    assert mean.dtype == dtype
    assert torch.equal(mean, weights)


def test_sums_are_in_double_precision(tmp_path: Path) -> None:
    """In float32, 2^25 + 1 is 2^25, and the ones would be lost."""
    mean = average_weights(several(tmp_path, *(torch.tensor([value]) for value in (2.0**25, 1.0, 1.0, -(2.0**25)))))
    assert mean["w"].item() == 0.5


def test_the_order_does_not_matter_for_the_mean(tmp_path: Path) -> None:
    paths = several(tmp_path, *torch.randn(5, 3, 7))
    torch.testing.assert_close(average_weights(paths)["w"], average_weights(paths[::-1])["w"], rtol=1e-7, atol=0)


def test_what_has_no_mean_is_the_newests(tmp_path: Path) -> None:
    first = write(tmp_path / "a", count=torch.tensor(3), seen=torch.tensor([True, False]), w=torch.tensor(1.0))
    last = write(tmp_path / "b", count=torch.tensor(8), seen=torch.tensor([False, False]), w=torch.tensor(2.0))
    mean = average_weights([first, last])
    assert mean["count"].item() == 8
    assert mean["count"].dtype == torch.int64
    assert mean["seen"].tolist() == [False, False]
    assert mean["w"].item() == 1.5


def test_one_file_is_in_memory_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is read once, when its turn comes: one that is missing stops the reading there."""
    read: list[str] = []
    monkeypatch.setattr(average, "read_weights", lambda path: read.append(path.name) or read_weights(path))
    paths = several(tmp_path, *torch.randn(3, 2))
    paths[1].unlink()
    with pytest.raises(UserError, match=r"update-1.safetensors: these are no weights"):
        average_weights(paths)
    assert read == ["update-0.safetensors", "update-1.safetensors"]


def test_weights_of_different_models(tmp_path: Path) -> None:
    """The file and the tensor are named, on whichever side the tensor is."""
    one = write(tmp_path / "one", w=torch.zeros(2, 3))
    more = write(tmp_path / "more", w=torch.zeros(2, 3), extra=torch.zeros(1))
    with pytest.raises(UserError, match=r"extra is in \S+/more and not in \S+/one"):
        average_weights([one, more])
    with pytest.raises(UserError, match=r"extra is in \S+/more and not in \S+/one"):
        average_weights([more, one])
    wide = write(tmp_path / "wide", w=torch.zeros(2, 5))
    with pytest.raises(UserError, match=r"wide: w is \(2, 5\), in \S+/one it is \(2, 3\)"):
        average_weights([one, wide])


def test_no_file() -> None:
    with pytest.raises(UserError, match="there are no weights to average"):
        average_weights([])


class Payload:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


def test_a_strangers_file_runs_no_code(tmp_path: Path) -> None:
    """E08."""
    path = tmp_path / "update-1.safetensors"
    path.write_bytes(pickle.dumps(Payload(tmp_path / "pwned")))
    with pytest.raises(UserError, match=r"update-1.safetensors: these are no weights"):
        average_weights([path])
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_in_place_and_back(error: type[BaseException] | None) -> None:
    """Buffers too; what the model had is back bit for bit, whatever ended it."""
    model = build_model("recurrent-hard_reinforce-gru")
    before = {name: tensor.clone() for name, tensor in named_tensors(model)}
    others = {name: tensor + 1 for name, tensor in before.items()}
    with pytest.raises(error) if error else nullcontext(), weights_in_place(model, others):
        assert "baseline" in others
        assert all(torch.equal(tensor, others[name]) for name, tensor in named_tensors(model))
        if error:
            raise error
    assert all(torch.equal(tensor, before[name]) for name, tensor in named_tensors(model))
