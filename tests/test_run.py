"""A run's directory: written whole or not at all, nothing in it runs code, and what does not fit is refused by name."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.compose import compose_values
from nmt.data.files import write_atomically
from nmt.errors import UserError
from nmt.run import SIDES, Run, load_weights, named_tensors, read_header, save_weights
from tests.laws.models import CORPUS, build_model

CASE = "recurrent-bahdanau-gru"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """E01: the disk is full while weights are saved."""
    path = tmp_path / "model.safetensors"
    save_weights(path, build_model(CASE))
    before = path.read_bytes()

    def broken(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, broken)
    with pytest.raises((OSError, UserError), match="No space left"):
        save_weights(path, build_model(CASE, seed=4))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name], "nothing is left over"


def test_weights_are_as_readable_as_other_files(tmp_path: Path) -> None:
    """Whatever mode a library gives the file that it writes."""
    save_weights(tmp_path / "model.safetensors", build_model(CASE))
    (tmp_path / "other").touch()
    assert (tmp_path / "model.safetensors").stat().st_mode == (tmp_path / "other").stat().st_mode


class _Payload:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_strangers_file_runs_no_code(tmp_path: Path) -> None:
    """E08: a pickle in the place of weights."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(pickle.dumps(_Payload(tmp_path / "pwned")))
    with pytest.raises(UserError, match=f"{path}: these are no weights"):
        load_weights(path, build_model(CASE))
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"\x08\0\0\0\0\0\0\0{}      "])
def test_damaged_weights(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"these (are no weights|weights are of another model)"):
        load_weights(path, build_model(CASE))


def test_truncated_and_missing_weights(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(UserError, match="these are no weights"):
        load_weights(path, build_model(CASE))
    save_weights(path, build_model(CASE))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UserError, match="these are no weights"):
        load_weights(path, build_model(CASE))


def test_weights_of_another_model(tmp_path: Path) -> None:
    """Another kind names a parameter; another size names both shapes. The model stays as it was."""
    path = tmp_path / "model.safetensors"
    save_weights(path, build_model(CASE))
    with pytest.raises(UserError, match=r"another model: \S+ is on one side only"):
        load_weights(path, build_model("recurrent-luong_general-gru"))
    other = build_model(CASE, "model.embedding_size=13")
    before = [part.clone() for part in other.parameters()]
    with pytest.raises(UserError, match=r"embedding.table.weight is \(23, 7\), the configuration asks for \(23, 13\)"):
        load_weights(path, other)
    assert all(torch.equal(one, part) for one, part in zip(before, other.parameters(), strict=True))


def test_opening(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"this is no run, it has no config.yaml"):
        Run.open(tmp_path)
    run = Run(tmp_path)
    run.write_config(compose_values(list(CORPUS)))
    with pytest.raises(UserError, match=r"has no model.safetensors: training stopped before"):
        Run.open(tmp_path)
    save_weights(run.best, build_model(CASE))
    assert Run.open(tmp_path).config().data.source_language == "xx"


def test_a_trained_run_is_not_trained_over(tmp_path: Path) -> None:
    """C09: what differs is named with both values; a directory without weights may be used again."""
    run, values = Run(tmp_path), compose_values(list(CORPUS))
    run.refuse_if_trained(values)
    run.write_config(values)
    run.refuse_if_trained(values)
    save_weights(run.last, build_model(CASE))
    with pytest.raises(UserError, match="with the same configuration"):
        run.refuse_if_trained(values)
    changed = compose_values([*CORPUS, "model.decoder.hidden_size=7", "seed=2"])
    with pytest.raises(UserError, match=r"model.decoder.hidden_size 512 -> 7, seed 1 -> 2"):
        run.refuse_if_trained(changed)


def test_a_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("text", encoding="utf-8")
    with pytest.raises(UserError, match="this is a file, not a directory"):
        Run(tmp_path / "run").refuse_if_trained({})


def test_the_best_weights_know_their_tokenizers(tmp_path: Path) -> None:
    """The file says both hashes, and the same weights are the same bytes; another tokenizer is refused by its side."""
    run, model = Run(tmp_path), build_model(CASE)
    for side in SIDES:
        write_atomically(run.tokenizer_file(side), f"any {side}".encode())
    written = set()
    for _ in range(8):
        run.save_best(dict(named_tensors(model)))
        written.add(run.best.read_bytes())
    assert len(written) == 1
    hashes = [hashlib.sha256(f"any {side}".encode()).hexdigest() for side in SIDES]
    assert read_header(run.best) == {"vocabularies": f"source {hashes[0]} target {hashes[1]}"}
    other = build_model(CASE, seed=4)
    run.load_best(other)
    assert all(torch.equal(one, part) for one, part in zip(model.parameters(), other.parameters(), strict=True))
    write_atomically(run.tokenizer_file("target"), b"another")
    with pytest.raises(UserError, match=r"target.model: this is not the target tokenizer that \S+ was trained with"):
        run.load_best(other)
    run.tokenizer_file("target").unlink()
    with pytest.raises(UserError, match="this is not the target tokenizer"):
        run.load_best(other)


def test_weights_that_do_not_say_their_tokenizers(tmp_path: Path) -> None:
    """Those of older runs load as ever."""
    run, model, other = Run(tmp_path), build_model(CASE), build_model(CASE, seed=4)
    save_weights(run.best, model)
    write_atomically(run.tokenizer_file("source"), b"any")
    run.load_best(other)
    assert all(torch.equal(one, part) for one, part in zip(model.parameters(), other.parameters(), strict=True))
