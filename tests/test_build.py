"""The one door from a configuration to objects, and its fence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.build import build
from nmt.errors import UserError
from nmt.model.attention.attention import Attention
from nmt.model.attention.scores.additive import Additive

PARTS = "nmt.model.attention"
ATTENTION: dict[str, Any] = {
    "_target_": f"{PARTS}.attention.Attention",
    "score": {"_target_": f"{PARTS}.scores.additive.Additive", "size": 13},
    "window": {"_target_": f"{PARTS}.windows.global_.Global"},
    "normalizer": {"_target_": f"{PARTS}.normalizers.softmax.Softmax"},
    "dropout": 0,
}


def test_leaves_inside_arrive_as_factories() -> None:
    """The sizes come from the neighbour, the size of the layer from the leaf."""
    attention = build(ATTENTION, "attention", query_size=3, memory_size=5)
    assert isinstance(attention, Attention)
    assert isinstance(attention.score, Additive)
    assert attention.score.query.weight.shape == (13, 3)
    assert attention.score.memory.weight.shape == (13, 5)


FOREIGN = [
    "os.system",
    "subprocess.Popen",
    "builtins.eval",
    "torch.load",
    "torch.hub.load",
    "torch.utils.cpp_extension.load",
    "nmt.run.load_weights",
    "nmt.build.build",
    "nmt.modelling.Evil",
    "",
]


@pytest.mark.parametrize("target", FOREIGN)
def test_fence(target: str) -> None:
    below = r"nmt\.data\.corpora\., nmt\.model\., nmt\.train\."
    with pytest.raises(UserError, match=rf"part._target_ is .*: allowed are classes below {below}"):
        build({"_target_": target, "command": "true"}, "part")


REACHED = [
    "torch.nn.modules.module.torch.hub.load",
    "nmt.model.assemble.build",
    "torch.optim.os.system",
    "nmt.train.kept.save_weights",
]


@pytest.mark.parametrize("target", REACHED)
def test_fence_is_not_climbed_through_what_a_module_imports(target: str) -> None:
    """A name that stands below an allowed package but was only imported there."""
    with pytest.raises(UserError, match=r"part._target_ is .*: (this is no class of|there is no such class)"):
        build({"_target_": target}, "part")


def test_nothing_runs_behind_the_fence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="allowed are classes below"):
        build({"_target_": "pathlib.Path.touch", "self": str(tmp_path / "pwned")}, "part")
    assert not (tmp_path / "pwned").exists()


WRONG = [
    ({"_target_": f"{PARTS}.attention.Atention"}, "a._target_ is .*Atention.: there is no such class"),
    ({"_target_": "nmt.model.nowhere.Attention"}, "a._target_ is .*: there is no such class"),
    ({"score": ATTENTION["score"]}, "a._target_ is missing"),
    ({**ATTENTION, "scroe": 1}, r"a.scroe: there is no such key \(did you mean a.score\?\)"),
    ({key: value for key, value in ATTENTION.items() if key != "window"}, "a.window is missing: a._target_ needs it"),
    ({**ATTENTION, "score": "additive"}, "a.score is 'additive': a section that names a class"),
    ({**ATTENTION, "dropout": "no"}, "a.dropout is 'no': allowed is a number"),
    ({**ATTENTION, "dropout": 1.5}, "a: dropout is 1.5: allowed is 0 <= dropout < 1"),
    (
        {**ATTENTION, "score": {**ATTENTION["score"], "siez": 5}},
        r"a.score.siez: there is no such key \(did you mean a.score.size",
    ),
    ({**ATTENTION, "score": {**ATTENTION["score"], "size": "5"}}, "a.score.size is '5': allowed is a whole number"),
]


@pytest.mark.parametrize(("leaf", "message"), WRONG, ids=[message for _, message in WRONG])
def test_refused_by_its_key(leaf: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        build(leaf, "a", query_size=3, memory_size=5)


OPTIMIZERS = [
    ({"lr": 1}, None),
    ({"lr": "fast"}, "optimizer.lr is 'fast': allowed is a number"),
    ({"lr": -1.0}, "optimizer: Invalid learning rate: -1.0"),
    ({"lr": 0.1, "momentum": 0.9}, None),
    ({"lr": 0.1, "nesterov": "no"}, "optimizer.nesterov is 'no': allowed is true or false"),
    ({"lr": 0.1, "momentun": 0.9}, r"optimizer.momentun: there is no such key \(did you mean optimizer.momentum\?\)"),
    ({"lr": 0.1, "params": []}, "optimizer.params: there is no such key"),
]


@pytest.mark.parametrize(("given", "message"), OPTIMIZERS)
def test_torchs_optimizers(given: dict[str, Any], message: str | None) -> None:
    leaf, params = {"_target_": "torch.optim.SGD", **given}, [torch.nn.Parameter(torch.zeros(1))]
    if message is None:
        assert isinstance(build(leaf, "optimizer", params=params), torch.optim.SGD)
        return
    with pytest.raises(UserError, match=message):
        build(leaf, "optimizer", params=params)
