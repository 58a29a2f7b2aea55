"""A folder holds one comparison: what does not belong is refused by name, before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.compare.cells import Cell
from nmt.compare.comparison import Comparison
from nmt.errors import UserError
from tests.compare.made import Finish, bahdanau, none


def other(comparison: Comparison, *more: str, experiment: str = "demo") -> Comparison:
    """The same folder in another call."""
    fixed = [*comparison.fixed, *more]
    return Comparison(folder=comparison.folder, experiment=experiment, fixed=fixed, config_dir=None)


def test_cells_are_remembered_in_the_order_of_the_calls(comparison: Comparison, finish: Finish) -> None:
    first = [none(1), bahdanau(1)]
    assert comparison.remember(first, "nmt compare 1") == first
    finish(bahdanau(1))
    again = other(comparison)
    assert again.remember([bahdanau(2), bahdanau(1)], "nmt compare 2") == [*first, bahdanau(2)]
    again.remember([none(1)], "nmt compare 1")
    assert again.commands() == ["nmt compare 1", "nmt compare 2"]


def test_a_call_that_came_to_nothing_is_forgotten(comparison: Comparison) -> None:
    comparison.remember([none(1), bahdanau(1)], "nmt compare train.updates=9")
    assert comparison.remember([bahdanau(1)], "nmt compare train.updates=5") == [bahdanau(1)]
    assert comparison.commands() == ["nmt compare train.updates=5"]


def test_another_experiment_is_another_comparison(comparison: Comparison) -> None:
    comparison.remember([none(1)], "")
    with pytest.raises(UserError, match=r"the cells here are of experiment=demo, not demo_recurrent"):
        other(comparison, experiment="demo_recurrent").earlier()


def test_finished_is_what_has_scores(comparison: Comparison, finish: Finish) -> None:
    assert not comparison.is_finished(none(1))
    path = finish(none(1))
    assert comparison.is_finished(none(1))
    (path / "evaluation.json").unlink()
    assert not comparison.is_finished(none(1))


def test_cells_trained_otherwise(comparison: Comparison, finish: Finish) -> None:
    """The number of threads, and the place, may change; nothing else may."""
    finish(bahdanau(1))
    comparison.check([bahdanau(1), none(1)])
    other(comparison, "threads=2").check([bahdanau(1)])
    with pytest.raises(UserError, match=r"bahdanau,seed=1: .* otherwise \(train.updates 1050 -> 5\); choose another"):
        other(comparison, "train.updates=5").check([none(1), bahdanau(1)])


def test_a_folder_may_be_moved(comparison: Comparison, finish: Finish, tmp_path: Path) -> None:
    finish(bahdanau(1))
    comparison.folder.rename(tmp_path / "moved")
    moved = Comparison(folder=tmp_path / "moved", experiment="demo", fixed=comparison.fixed, config_dir=None)
    moved.check([bahdanau(1)])
    assert moved.is_finished(bahdanau(1))


@pytest.mark.parametrize(
    ("kind", "more", "complaint"),
    [
        (("attention", "bahdanou"), (), r"attention=bahdanou,seed=1: .*no such option \(did you mean bahdanau\?\)"),
        (("attention", "luong_dot"), (), r"attention=luong_dot,seed=1: .*"),
        (("model.decoder.layer", "2"), (), r"model.decoder.layer=2,seed=1: .*did you mean model.decoder.layers\?"),
        (("attention", "none"), ("data.test=null",), r"data.test is not given: a comparison is made on the test set"),
        (("attention", "none"), ("data.valid.source=gone",), r"gone: No such file"),
        (("attention", "none"), ("seed=3",), r"seed=3: seed is set by --seeds"),
        (("attention", "none"), ("attention=none",), r"attention=none: attention is varied, and can't be fixed"),
    ],
)
def test_mistakes_are_told_at_once(
    comparison: Comparison, kind: tuple[str, str], more: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        other(comparison, *more).check([none(1) if kind[1] == "none" else bahdanau(1), Cell((kind,), 1)])
    assert not comparison.folder.exists()


def test_a_strangers_directory_is_left_alone(comparison: Comparison) -> None:
    place = comparison.run(none(1)).path
    place.mkdir(parents=True)
    (place / "thesis.txt").write_text("all of it", encoding="utf-8")
    with pytest.raises(UserError, match=r"a cell belongs here, and this is no run"):
        comparison.check([none(1)])


def test_two_calls_do_not_train_in_one_folder(comparison: Comparison) -> None:
    busy = pytest.raises(UserError, match="another nmt compare is training here")
    with comparison.locked(), busy, other(comparison).locked():
        pass
    with comparison.locked():
        pass


def test_a_record_that_is_none(comparison: Comparison) -> None:
    comparison.folder.mkdir()
    comparison.record.write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="no record of a comparison"):
        comparison.earlier()
