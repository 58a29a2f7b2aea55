"""The recipes: configurations of configs/data that say what corpus they are (`about`), and how one is composed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nmt.compose import compose_values, config_folder
from nmt.config import AboutConfig, DataConfig, read_config
from nmt.data.fetch.bible import prepare_bible
from nmt.data.parts import PARTS, Part, has_part
from nmt.errors import UserError

# Corpora that no reader downloads by itself: what puts their files into data.root, where they are not there.
PREPARED: Mapping[str, Callable[[Path], None]] = {
    "bible_nt": prepare_bible,
    "bible_nt_translation": prepare_bible,
}


@dataclass(frozen=True)
class Recipe:
    """A corpus that is ready to use: `nmt train data=NAME`. languages: those that it is of unless told otherwise."""

    name: str
    languages: tuple[str, str]
    about: AboutConfig


def recipes() -> list[Recipe]:
    """All of them, by name."""
    files = sorted((config_folder() / "data").glob("*.yaml"))
    stored = {file.stem: _stored(file) for file in files}
    return [_recipe(name, values) for name, values in stored.items() if values.get("about")]


def compose_recipe(name: str, overrides: Sequence[str]) -> tuple[DataConfig, list[Part]]:
    """The `data` of this option with overrides `data.key=value`, and the parts that it has: a corpus that is only for
    evaluation has no training part. UserError: what composing raises; a setting of another section; no part at all."""
    for override in overrides:
        if not override.lstrip("+~").startswith("data."):
            raise UserError(f"{override}: only data.KEY=VALUE says anything about a corpus")
    values = compose_values([f"data={name}", *overrides])
    for part in PARTS:
        if values["data"][part] == "???":
            values["data"][part] = {}
    data = read_config(values).data
    parts = [part for part in PARTS if has_part(data, part) and getattr(data, part)]
    if not parts:
        raise UserError(f"data={name} names no corpus: data.train must be given")
    return data, parts


def prepare(name: str, data: DataConfig) -> None:
    """Download the files of a recipe whose reader does not do that. UserError: whatever doing it raises."""
    if name in PREPARED and data.root is not None:
        PREPARED[name](Path(data.root))


def _recipe(name: str, values: dict[str, Any]) -> Recipe:
    languages = (values["source_language"], values["target_language"])
    return Recipe(name, languages, AboutConfig(**values["about"]))


def _stored(file: Path) -> dict[str, Any]:
    """What the file says and, where it is silent, those that it begins with; references stay as they are written."""
    from omegaconf import OmegaConf

    values = OmegaConf.to_container(_merged(file), resolve=False)
    assert isinstance(values, dict)
    return values  # type: ignore[return-value]


@cache
def _merged(file: Path) -> Any:
    from omegaconf import DictConfig, OmegaConf

    own = OmegaConf.load(file)
    assert isinstance(own, DictConfig)
    bases = [base for base in own.pop("defaults", []) if isinstance(base, str) and base != "_self_"]
    return OmegaConf.merge(*(_merged(file.with_name(f"{base}.yaml")) for base in bases), own)
