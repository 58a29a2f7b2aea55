"""Every recipe of configs/data reads the layout that its data set has on the hub: names, columns, splits, slices."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import datasets
import pytest

from nmt.compose import config_folder
from nmt.config import DataConfig
from nmt.data.corpora.corpus import Pair
from nmt.data.fetch.recipes import PARTS, compose_recipe, recipes
from nmt.data.parts import Part, part_pairs
from nmt.errors import UserError

HARD = ' "NA"\tcafe\u0301 \u2028\x85 null'  # what a reader that guesses kinds, quotes or lines would change


@dataclass(frozen=True)
class Layout:
    """A data set as it lies on the hub. folders: of its configurations, whose languages are the last two; rows: of each
    split. column: of {language: text}; "": a column a language. card: its README names the configurations, which is not
    so on the branch that the hub makes itself."""

    folders: tuple[str, ...]
    rows: dict[str, int]
    column: str = "translation"
    card: bool = True


THREE = {"train": 5, "validation": 3, "test": 2}
ALONE = {"train": 4005}
LAYOUTS = {
    "iwslt14": Layout(("de-en",), THREE, card=False),
    "iwslt15": Layout(("iwslt2015-en-vi", "iwslt2015-vi-en"), THREE | {"train": 1505}, card=False),
    "iwslt2017": Layout(("iwslt2017-de-en", "iwslt2017-en-de", "iwslt2017-en-fr"), THREE, card=False),
    "wmt14": Layout(("cs-en", "de-en"), THREE),
    "opus100": Layout(("de-en", "en-fr"), THREE),
    "opus_books": Layout(("de-en", "en-fr"), ALONE),
    "europarl": Layout(("de-en", "en-fr"), ALONE),
    "kde4": Layout(("en-fr", "en-it"), ALONE, card=False),
    "flores200": Layout(("de-en", "en-de"), {"test": 4}, column="{pair}"),
}
# Which split each part is, and which of its rows
WHOLE = {"train": ("train", slice(None)), "valid": ("validation", slice(None)), "test": ("test", slice(None))}
CUT = {"train": ("train", slice(4000, None)), "valid": ("train", slice(2000)), "test": ("train", slice(2000, 4000))}
IS = {
    **dict.fromkeys(("multi30k", "iwslt14", "iwslt2017", "wmt14", "opus100"), WHOLE),
    **dict.fromkeys(("opus_books", "europarl", "kde4"), CUT),
    "iwslt15": WHOLE | {"train": ("train", slice(-1500)), "valid": ("train", slice(-1500, None))},
    "flores200": {"test": WHOLE["test"]},
}
MINE = {*IS, "tatoeba", "multi30k_task1", "bible_nt", "bible_nt_translation"}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def text(config: str, split: str, row: int, language: str) -> str:
    return f"{config} {split} {row} {language}{HARD}"


def pairs(config: str, split: str, rows: int, source: str, target: str) -> list[Pair]:
    return [(text(config, split, row, source), text(config, split, row, target)) for row in range(rows)]


def write(layout: Layout, folder: Path) -> Path:
    """The data set in a folder of this machine."""
    card = []
    for config in layout.folders:
        languages = config.split("-")[-2:]
        for split, rows in layout.rows.items():
            entries = [{name: text(config, split, row, name) for name in languages} for row in range(rows)]
            column = layout.column.format(pair=config)
            features = datasets.Features({column: datasets.Translation(languages)})
            name = f"{split}-00000-of-00001" if layout.card else f"{split}/0000"
            path = folder / config / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            datasets.Dataset.from_dict({column: entries}, features=features).to_parquet(path)
        files = [{"split": split, "path": f"{config}/{split}-*"} for split in layout.rows]
        card.append({"config_name": config, "data_files": files})
    if layout.card:
        (folder / "README.md").write_text(f"---\nconfigs: {json.dumps(card)}\n---\n", encoding="utf-8")
    return folder


def read(data: DataConfig, parts: list[Part]) -> dict[str, list[Pair]]:
    return {part: list(part_pairs(data, part)) for part in parts}


def expected(name: str, config: str, rows: dict[str, int], languages: tuple[str, str]) -> dict[str, list[Pair]]:
    return {part: pairs(config, split, rows[split], *languages)[some] for part, (split, some) in IS[name].items()}


# A recipe, the configuration that it must read, and the settings that make it so
READS = [
    ("iwslt14", "de-en", []),
    ("iwslt15", "iwslt2015-en-vi", []),
    ("iwslt2017", "iwslt2017-en-de", []),
    ("iwslt2017", "iwslt2017-de-en", ["data.source_language=de", "data.target_language=en"]),
    ("iwslt2017", "iwslt2017-en-fr", ["data.target_language=fr"]),
    ("wmt14", "de-en", []),
    ("wmt14", "cs-en", ["data.source_language=cs", "data.target_language=en", "data.train.config=cs-en"]),
    ("opus100", "de-en", []),
    ("opus100", "en-fr", ["data.source_language=fr", "data.target_language=en"]),
    ("opus_books", "de-en", []),
    ("europarl", "en-fr", ["data.target_language=fr"]),
    ("kde4", "en-fr", []),
    ("kde4", "en-it", ["data.source_language=it", "data.target_language=en"]),
    ("flores200", "en-de", []),
    ("flores200", "de-en", ["data.source_language=de", "data.target_language=en"]),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a recipe's data set, written when it is first asked for."""
    return cache(lambda name: write(LAYOUTS[name], tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize(("name", "config", "settings"), READS)
def test_a_recipe_reads_its_data_set(
    name: str, config: str, settings: list[str], written: Callable[[str], Path]
) -> None:
    where = "test" if name == "flores200" else "train"
    data, parts = compose_recipe(name, [f"data.{where}.path={written(name)}", *settings])
    languages = (data.source_language, data.target_language)
    found = read(data, parts)
    assert found == expected(name, config, LAYOUTS[name].rows, languages)
    every = [pair for part in found.values() for pair in part]
    assert len(set(every)) == len(every), "no pair is in two parts"


def test_multi30k(tmp_path_factory: pytest.TempPathFactory) -> None:
    """JSON lines, a column a language. (`tmp_path` has "test" in its name, which would make all of it a test split.)"""
    folder = tmp_path_factory.mktemp("multi30k")
    for split, file in (("train", "train"), ("validation", "val"), ("test", "test")):
        rows = [{"en": source, "de": target} for source, target in pairs("", split, THREE[split], "en", "de")]
        (folder / f"{file}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for settings, languages in (
        ([], ("en", "de")),
        (["data.source_language=de", "data.target_language=en"], ("de", "en")),
    ):
        data, parts = compose_recipe("multi30k", [f"data.train.path={folder}", *settings])
        assert read(data, parts) == expected("multi30k", "", THREE, languages)


@pytest.mark.parametrize(
    "settings",
    [
        ["data.target_language=fr"],
        [
            "data.source_language=fr",
            "data.target_language=en",
            "data.train.config=en-fr",
            "data.train.source_column=non_english",
            "data.train.target_column=english",
        ],
    ],
)
def test_tatoeba(settings: list[str], tmp_path: Path) -> None:
    """Two columns that are not named by languages."""
    rows = {"train": 2005, "dev": 3}
    for split, count in rows.items():
        both = pairs("", split, count, "en", "fr")
        columns = {"english": [en for en, _ in both], "non_english": [fr for _, fr in both]}
        (tmp_path / "en-fr").mkdir(exist_ok=True)
        datasets.Dataset.from_dict(columns).to_parquet(tmp_path / f"en-fr/{split}-00000-of-00001.parquet")
    files = [{"split": split, "path": f"en-fr/{split}-*"} for split in rows]
    card = json.dumps([{"config_name": "en-fr", "data_files": files}])
    (tmp_path / "README.md").write_text(f"---\nconfigs: {card}\n---\n", encoding="utf-8")
    data, parts = compose_recipe("tatoeba", [f"data.train.path={tmp_path}", *settings])
    languages = (data.source_language, data.target_language)
    training = pairs("", "train", 2005, *languages)
    assert read(data, parts) == {
        "train": training[2000:],
        "valid": pairs("", "dev", 3, *languages),
        "test": training[:2000],
    }


def test_what_is_only_for_evaluation_has_no_other_part() -> None:
    data, parts = compose_recipe("flores200", [])
    assert parts == ["test"]
    assert data.test is not None


@pytest.mark.parametrize(
    ("name", "settings", "complaint"),
    [
        ("opus_100", [], "data=opus_100: there is no such option .*did you mean opus100"),
        ("opus100", ["model=transformer"], r"model=transformer: only data\.KEY=VALUE"),
        ("opus100", ["data.sourcelanguage=de"], r"sourcelanguage.*source_language"),
        ("base", ["data.source_language=en", "data.target_language=de"], r"data=base names no corpus"),
    ],
)
def test_what_cannot_be_composed(name: str, settings: list[str], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        compose_recipe(name, settings)


def test_every_recipe_says_what_it_is() -> None:
    found = {recipe.name: recipe for recipe in recipes()}
    assert set(found) >= MINE | {"demo", "multi30k_files"}
    assert not {"base", "files", "hub"} & set(found)
    for name, recipe in found.items():
        assert all((recipe.about.licence, recipe.about.source, recipe.about.size, *recipe.languages)), name


@pytest.mark.parametrize("name", sorted(MINE))
def test_the_first_line_is_a_command_that_uses_it(name: str) -> None:
    first, *_ = (config_folder() / "data" / f"{name}.yaml").read_text(encoding="utf-8").split("\n")
    assert first.startswith("# nmt ")
    assert name in first


def test_multi30k_as_its_authors_publish_it_is_read_from_gz(tmp_path: Path) -> None:
    import gzip

    for file, part in (("train", "train"), ("val", "valid"), ("test_2016_flickr", "test")):
        for language in ("en", "cs"):
            (tmp_path / f"{file}.{language}.gz").write_bytes(gzip.compress(f"{part} {language}\n".encode()))
    data, parts = compose_recipe("multi30k_task1", [f"data.root={tmp_path}", "data.target_language=cs"])
    assert read(data, parts) == {part: [(f"{part} en", f"{part} cs")] for part in PARTS}
