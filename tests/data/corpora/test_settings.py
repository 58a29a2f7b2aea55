"""Settings that cannot be are refused when a section is built, in one line with its key."""

from __future__ import annotations

from typing import Any

import pytest

from nmt.build import build
from nmt.errors import UserError

KINDS = {
    "Files": {"source": "a", "target": "b"},
    "Tsv": {"path": "a"},
    "Jsonl": {"path": "a"},
    "Tmx": {"path": "a"},
    "Hub": {"path": "a", "split": "train"},
    "SacrebleuSet": {"test_set": "wmt14"},
}
MODULES = {name: name.lower() for name in KINDS} | {"SacrebleuSet": "sacrebleu"}


def built(kind: str, settings: dict[str, Any]) -> object:
    leaf = {"_target_": f"nmt.data.corpora.{MODULES[kind]}.{kind}", **KINDS[kind], **settings}
    return build(leaf, "data.train", source_language="en", target_language="de")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_built_and_checks_its_links(kind: str) -> None:
    built(kind, {"links": "gold"})
    built(kind, {"links": None})
    with pytest.raises(UserError, match=r"^data\.train: links is 7: allowed is a text"):
        built(kind, {"links": 7})
    with pytest.raises(
        UserError, match=r"^data\.train\.lniks: there is no such key \(did you mean data\.train\.links\?"
    ):
        built(kind, {"lniks": None})


@pytest.mark.parametrize(
    ("kind", "settings", "complaint"),
    [
        ("Files", {"source": 7}, r": source is 7: allowed is a file or a list of files"),
        ("Files", {"source": ["a", 7]}, r": source is \['a', 7\]: allowed is a file"),
        ("Files", {"target": []}, r": target is \[\]: allowed is a file"),
        ("Files", {"target": ""}, r": target is '': allowed is a file"),
        ("Files", {"target": False}, r": target is False \(YAML reads no, on, yes, off so: quote it\)"),
        ("Files", {"target": "???"}, r": target must be given"),
        ("Files", {"source": ["a", "b"]}, r": source names 2 files but target 1"),
        ("Tsv", {"path": {}}, r": path is \{\}: allowed is a file"),
        ("Tsv", {"source_column": 0}, r": source_column is 0: allowed is a number from 1 on, or a name"),
        ("Tsv", {"target_column": False}, r": target_column is False \(YAML reads no"),
        ("Tsv", {"target_column": 1.5}, r": target_column is 1\.5"),
        ("Tsv", {"target_column": "de"}, r": source_column is 1 and target_column 'de': two numbers or names"),
        ("Tsv", {"target_column": 1}, r": source_column and target_column are both 1"),
        ("Tsv", {"separator": ""}, r": separator is '': allowed is one character"),
        ("Tsv", {"separator": '"'}, r": separator is '\"': allowed is one character"),
        ("Tsv", {"quoting": "yes"}, r"\.quoting is 'yes': allowed is true or false"),
        ("Jsonl", {"source_key": 7}, r": source_key is 7: allowed is a text"),
        ("Jsonl", {"source_key": "de"}, r": source_key and target_key are both 'de'"),
        ("Tmx", {"path": None}, r": path is None: allowed is a file"),
        ("Hub", {"path": 7}, r"\.path is 7: allowed is a text"),
        ("Hub", {"split": False}, r"\.split is False"),
        ("Hub", {"config": 7}, r": config is 7: allowed is a text"),
        ("Hub", {"target_column": False}, r": target_column is False \(YAML reads no"),
        ("Hub", {"data_files": {"train": 7}}, r": data_files\.train is 7: allowed is a file"),
        ("Hub", {"data_files": 7}, r": data_files is 7: allowed is a file"),
        ("Hub", {"source_column": "de"}, r": source_column and target_column are both 'de'"),
        ("SacrebleuSet", {"test_set": ""}, r": test_set is '': allowed is a text"),
    ],
)
def test_a_value_that_cannot_be_names_its_key(kind: str, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UserError, match=rf"^data\.train{complaint}"):
        built(kind, settings)
