"""The schema: strict kinds, ranges, and what it says of keys that do not exist."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from nmt.compose import compose_values
from nmt.config import nearest, read_config
from nmt.errors import UserError
from tests.laws.models import CORPUS


@pytest.fixture(scope="module")
def composed() -> dict[str, Any]:
    return compose_values(list(CORPUS))


def changed(values: dict[str, Any], key: str, value: object) -> dict[str, Any]:
    """A copy with one key set."""
    values = copy.deepcopy(values)
    *sections, name = key.split(".")
    place = values
    for section in sections:
        place = place[section]
    place[name] = value
    return values


WRONG = [
    ("data.source_language", False, r"data.source_language is False \(YAML reads no, on, yes, off so: quote it\)"),
    ("data.source_language", 5, "data.source_language is 5: allowed is a text"),
    ("seed", "abc", "seed is 'abc': allowed is a whole number"),
    ("seed", True, "seed is True: allowed is a whole number"),
    ("seed", 1.5, "seed is 1.5: allowed is a whole number"),
    ("seed", -1, "seed is -1: allowed is 0 or more"),
    ("threads", -1, "threads is -1"),
    ("tokenizer.joint", "yes", "tokenizer.joint is 'yes': allowed is true or false"),
    ("tokenizer.model_type", "words", "tokenizer.model_type is 'words': allowed is unigram, bpe, word, char"),
    ("train", 5, "train is 5: a section with keys of its own"),
    ("train.updates", 0, "train.updates is 0: allowed is a positive number"),
    ("train.batch_tokens", -4, "train.batch_tokens is -4"),
    ("train.pool", 0, "train.pool is 0"),
    ("train.accumulate", 0, "train.accumulate is 0"),
    ("train.valid_every", 0, "train.valid_every is 0"),
    ("train.log_every", 0, "train.log_every is 0"),
    ("train.patience", 0, "train.patience is 0"),
    ("train.bad_steps", 0, "train.bad_steps is 0"),
    ("train.label_smoothing", 1, "train.label_smoothing is 1.0: allowed is 0 <= x < 1"),
    ("train.label_smoothing", -0.1, "train.label_smoothing is -0.1"),
    ("train.clip_norm", -1, "train.clip_norm is -1.0"),
    ("train.metric", "blue", "train.metric is 'blue': allowed is loss, perplexity, bleu, chrf"),
    ("train.learning_rate", 1.0, "train.learning_rate: there is no such key; there are updates, batch_tokens"),
    ("train.patienc", 1, r"train.patienc: there is no such key \(did you mean train.patience\?\)"),
    ("search.beam_size", 0, "search.beam_size is 0: allowed is a positive number"),
    ("search.length_penalty", "google", "search.length_penalty is 'google': allowed is wu, mean, none"),
    ("search.alpha", -0.5, "search.alpha is -0.5"),
    ("search.max_ratio", -1, "search.max_ratio is -1.0"),
    ("search.max_offset", 0, "search.max_offset is 0"),
    ("search.batch_tokens", 0, "search.batch_tokens is 0"),
    ("data.filters.max_pieces", 0, "data.filters.max_pieces is 0"),
    ("model.embedding_size", 0, "model.embedding_size is 0"),
    ("model.tied", "both", "model.tied is 'both': allowed is none, output, all"),
    ("model.encoder", "gru", "model.encoder is 'gru': allowed is a section that names a class"),
    ("alignment.shift", 2, "alignment.shift is 2: allowed is 0 or 1"),
    ("alignment.method", "magic", "alignment.method is 'magic': allowed is attention, posterior, gradient"),
    ("alignment.head", "all", "alignment.head is 'all': allowed is a whole number"),
    ("atention", {}, r"atention: there is no such key \(did you mean attention\?\)"),
]


@pytest.mark.parametrize(("key", "value", "message"), WRONG, ids=[f"{key}={value}" for key, value, _ in WRONG])
def test_refused_by_its_key(composed: dict[str, Any], key: str, value: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_config(changed(composed, key, value))


def test_yaml_keys_that_are_no_text(composed: dict[str, Any]) -> None:
    """`on: ...` in a file is the key True."""
    with pytest.raises(UserError, match=r"train: the key True is no text.*quote it"):
        read_config(changed(composed, "train", {**composed["train"], True: 1}))


def test_a_missing_key_and_one_that_must_be_given(composed: dict[str, Any]) -> None:
    without = {key: value for key, value in composed["train"].items() if key != "patience"}
    with pytest.raises(UserError, match=r"^train.patience is missing$"):
        read_config(changed(composed, "train", without))
    with pytest.raises(UserError, match=r"^data.source_language must be given$"):
        read_config(changed(composed, "data.source_language", "???"))


def test_nothing_is_converted(composed: dict[str, Any]) -> None:
    """A whole number serves where a number is wanted; everything else stays what it was."""
    config = read_config(changed(composed, "search.alpha", 1))
    assert isinstance(config.search.alpha, float)
    assert config.data.source_language == "xx"
    assert read_config(changed(composed, "data.source_language", "007")).data.source_language == "007"
    assert read_config(changed(composed, "data.test", None)).data.test is None


def test_one_table_needs_one_vocabulary(composed: dict[str, Any]) -> None:
    apart = changed(composed, "tokenizer.joint", False)
    read_config(changed(apart, "model.tied", "output"))
    with pytest.raises(UserError, match="only with tokenizer"):
        read_config(changed(apart, "model.tied", "all"))


def test_nearest() -> None:
    assert nearest("bahdanu", ["luong_dot", "bahdanau"]) == " (did you mean bahdanau?)"
    assert nearest("xyz", ["luong_dot", "bahdanau"]) == ""
