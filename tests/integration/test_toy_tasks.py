"""Every attention preset learns to copy and to reverse, and attends to what it translates.

Presets are found by listing configs/attention. The weights are those of the run's own alignment settings; of a
Transformer, one layer and head chosen on other sentences than are checked.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nmt
from nmt.align.extract import chosen_view
from nmt.align.pipeline import align_records
from nmt.align.record import View
from nmt.align.select import rank_by_gold
from nmt.compose import compose
from nmt.data.pharaoh import Links
from nmt.model.attention.none import NoAttention
from nmt.translator import Translator
from tests.integration.conftest import Trained
from tests.integration.toy import TASKS, read
from tests.laws.models import ALIASES, PRESETS

UNALIGNED = {"none": "a fixed vector has no weights to align by"}
CORPUS = ["data.root=x", "data.source_language=src", "data.target_language=trg", "model=recurrent"]
# Every preset has a task it can solve; these are shown on both. A window at the step's own place can't reverse, and an
# energy that sees no words has only the length to tell by.
BOTH = ("bahdanau", "luong_dot", "luong_general", "luong_concat", "transformer")
TASK = {"luong_local_m": "mono", "luong_location": "mono"}
# A bidirectional encoder's state holds its neighbours as well, and nothing keeps a model from reading a word there.
# These do so here (exact hits .42 to .93, by the seed), and are held to the word or the one beside it.
BESIDE = (("rev", "bahdanau_normed"), ("rev", "coverage"), ("rev", "scaled_dot"), ("mono", "bahdanau"))
CASES = [
    (task, preset)
    for preset in PRESETS
    if preset not in UNALIGNED
    for task in (TASKS if preset in BOTH else (TASK.get(preset, "rev"),))
]


def gold(source: str, task: str) -> set[tuple[int, int]]:
    words = len(source.split())
    return {(words - 1 - j if task == "rev" else j, j) for j in range(words)}


def pairs(folder: Path, task: str, part: str) -> list[tuple[str, str]]:
    return list(zip(read(folder / f"{task}.{part}.src"), read(folder / f"{task}.{part}.trg"), strict=True))


def view_of(translator: Translator, chosen_on: list[tuple[str, str]], task: str) -> View:
    """The run's own, or of many heads the best one of sentences kept for choosing."""
    own = chosen_view(translator, translator.alignment)
    if (translator.layers, translator.heads) == (1, 1):
        return own
    links = [frozenset(gold(source, task)) for source, _ in chosen_on]
    best = rank_by_gold(translator, chosen_on, [Links(one, one) for one in links])[0].view
    assert best.shift == own.shift, "the shift that the preset declares is not the best one"
    return best


@pytest.mark.parametrize(("task", "preset"), CASES)
def test_learns_and_attends_to_what_it_translates(task: str, preset: str, trained: Trained, toy: Path) -> None:
    run = trained(task, preset)
    events = map(json.loads, read(run / "metrics.jsonl"))
    assert max(event["bleu"] for event in events if event["event"] == "valid") > 95

    translator = nmt.load(run)
    view = view_of(translator, pairs(toy, task, "dev"), task)
    checked = pairs(toy, task, "test")
    records = align_records(translator, checked, [view])
    near = (-1, 0, 1) if (task, preset) in BESIDE else (0,)
    hits = [
        any((word + distance, step) in record.links for distance in near)
        for (source, _), record in zip(checked, records, strict=True)
        for word, step in sorted(gold(source, task))
    ]
    assert sum(hits) / len(hits) >= 0.95


@pytest.mark.parametrize(("alias", "preset"), ALIASES.items())
def test_an_alias_is_its_preset(alias: str, preset: str) -> None:
    """So the tests of the preset are those of the alias."""
    assert compose([*CORPUS, f"model={alias}"]) == compose([*CORPUS, f"model={alias}", f"attention={preset}"])


@pytest.mark.parametrize("preset", UNALIGNED)
def test_a_preset_without_alignment_has_no_attention(preset: str) -> None:
    assert compose([*CORPUS, f"attention={preset}"]).attention["_target_"].endswith(NoAttention.__name__)
