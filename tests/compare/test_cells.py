"""Sweeps become cells: every combination, every seed, and names that are directories of their own."""

from __future__ import annotations

import pytest

from nmt.compare.cells import Cell, expand
from nmt.errors import UserError


def test_seed_by_seed_in_the_given_order() -> None:
    cells = expand(["attention=none,bahdanau"], 2)
    assert [str(cell) for cell in cells] == [
        "attention=none,seed=1",
        "attention=bahdanau,seed=1",
        "attention=none,seed=2",
        "attention=bahdanau,seed=2",
    ]
    assert cells[3].overrides == ["attention=bahdanau", "seed=2"]


def test_the_order_of_sweeps_makes_no_other_cell() -> None:
    one, other = ["attention=none", "train.updates=5"], ["train.updates=5", "attention=none"]
    assert expand(one, 1) == expand(other, 1)


def test_every_combination() -> None:
    cells = expand(["attention=choice(none,bahdanau)", "model.decoder.layers=range(1,4)"], 1)
    assert [dict(cell.kind) for cell in cells] == [
        {"attention": attention, "model.decoder.layers": layers}
        for attention in ("none", "bahdanau")
        for layers in ("1", "2", "3")
    ]


@pytest.mark.parametrize(
    ("sweep", "values"),
    [
        ("attention=none", ["none"]),
        ("attention=none,none", ["none"]),
        ("++train.updates=5,3", ["5", "3"]),
        ("optimizer.lr=1e-3,3e-3", ["0.001", "0.003"]),
        ("optimizer.betas=[0.9,0.98],[0.9,0.999]", ["[0.9,0.98]", "[0.9,0.999]"]),
        ("alignment.head=null,0", ["null", "0"]),
    ],
)
def test_values_of_a_sweep(sweep: str, values: list[str]) -> None:
    cells = expand([sweep], 1)
    assert [value for cell in cells for _, value in cell.kind] == values
    assert all(key == sweep.lstrip("+").partition("=")[0] for cell in cells for key, _ in cell.kind)


@pytest.mark.parametrize(
    ("vary", "seeds", "complaint"),
    [
        (["attention="], 1, r"--vary attention=: there are no values"),
        (["attention"], 1, r"--vary attention: a sweep is KEY=A,B,C"),
        (["attention=a,,b"], 1, r"a sweep is KEY=A,B,C"),
        (["attention=glob(*)"], 1, r"a sweep is KEY=A,B,C, KEY=choice\(A,B\)"),
        (["optimizer.lr=interval(0,1)"], 1, r"a sweep is KEY=A,B,C, KEY=choice\(A,B\)"),
        (["~attention=a"], 1, r"there are no values"),
        (["attention=a,b", "attention=c"], 1, r"attention is given twice; write all its values in one sweep"),
        (["seed=1,2"], 1, r"seed is set by --seeds"),
        (["run=a,b"], 1, r"run is set by --folder"),
        (["+experiment=a,b"], 1, r"experiment is set by --experiment"),
        (["attention=a,b"], 0, r"--seeds is 0: allowed is 1 or more"),
    ],
)
def test_what_is_no_sweep(vary: list[str], seeds: int, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        expand(vary, seeds)


def test_names_are_directories_of_their_own() -> None:
    assert Cell((("attention", "luong_dot"),), 3).name == "attention=luong_dot,seed=3"
    group, key = (Cell(((f"attention{sign}window", "local_p"),), 1).name for sign in "/.")
    assert group != key, "a group's option and the key itself are two settings"
    odd = [Cell((("data.root", value),), 1).name for value in ("a b", "a/b", "a:b", "x" * 300)]
    assert len({*odd}) == 4
    assert not any(set(name) & set("/ :") or len(name) > 200 for name in odd)
