"""Hydra's composition, with errors in one line: groups and overrides -> Config."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt.config import Config, nearest, read_config
from nmt.errors import UserError

PRIMARY = "train"


def config_folder() -> Path:
    """The configuration groups: inside an installed package, or beside it in a checkout."""
    inside = Path(__file__).parent / "configs"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "configs"


def demo_folder() -> Path:
    """The embedded corpus: inside an installed package, or data/demo of a checkout."""
    inside = Path(__file__).parent / "demo"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "data" / "demo"


def language_pair(source: str, target: str) -> str:
    """Two languages as data sets name a pair that has no direction: in alphabetical order."""
    return "-".join(sorted((source, target)))


def compose(overrides: Sequence[str], config_dir: Path | None = None) -> Config:
    """Overrides in Hydra's grammar -> Config; `config_dir` holds groups of the user's own beside ours.

    Raises UserError for an override that is none, a group option or a key that does not exist, and a value of the wrong
    kind.
    """
    return read_config(compose_values(overrides, config_dir))


def compose_values(overrides: Sequence[str], config_dir: Path | None = None) -> dict[str, Any]:
    """The composed configuration as plain values, references resolved, before any check of its keys."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    given = [*(_prepare(override, config_dir) for override in overrides), *search_path(config_dir)]
    OmegaConf.register_new_resolver("demo_folder", lambda: str(demo_folder()), replace=True)
    OmegaConf.register_new_resolver("language_pair", language_pair, replace=True)
    try:
        with initialize_config_dir(config_dir=str(config_folder().resolve()), version_base="1.3"):
            composed = hydra_compose(PRIMARY, overrides=given)
        values = OmegaConf.to_container(composed, resolve=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(_explained(str(error))) from error
    assert isinstance(values, dict)
    return values  # type: ignore[return-value]


def _explained(message: str) -> str:
    """What Hydra and OmegaConf say, in one line, with the key that a person can do something about."""
    if missing := re.search(r"Missing mandatory value: (\S+)", message):
        return f"{missing[1]} must be given"
    if unknown := re.search(r"Interpolation key '(\S+)' not found\s+full_key: (\S+)", message):
        place, named = unknown[2], unknown[1]
        either = f"{named} or {place}" if named == "data.root" else place
        return f"{place} is ${{{named}}}, and there is no {named} here: set {either}"
    return " ".join(message.split())


def write_config(config_values: dict[str, Any]) -> str:
    """Plain values as YAML, for the run's directory."""
    from omegaconf import OmegaConf

    return OmegaConf.to_yaml(OmegaConf.create(config_values))


def read_values(path: Path) -> dict[str, Any]:
    """The plain values of a run's config.yaml. UserError where the file is none."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError  # type: ignore[import-untyped]

    try:
        values = OmegaConf.to_container(OmegaConf.load(path))
    except (OSError, UnicodeDecodeError, YAMLError, OmegaConfBaseException) as error:
        raise UserError(f"{path}: this is no configuration: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise UserError(f"{path}: this is no configuration")
    return values  # type: ignore[return-value]


def override_values(values: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Plain values with `key=value` overrides; a new key is left for the schema to refuse."""
    from omegaconf import OmegaConf

    merged = OmegaConf.create(values)
    for override in overrides:
        key, sign, text = override.partition("=")
        if not sign or not key:
            raise UserError(f"{override!r} is no override: key=value is wanted")
        OmegaConf.update(merged, key, OmegaConf.create({"value": _parsed(text)})["value"])
    result = OmegaConf.to_container(merged)
    assert isinstance(result, dict)
    return result  # type: ignore[return-value]


def _parsed(text: str) -> Any:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create().parse_override(_quoted(f"x={text}")).value()


def _prepare(override: str, config_dir: Path | None) -> str:
    """An override for Hydra: values it can't parse are quoted; keys are added freely, for our schema judges them."""
    key, sign, value = override.partition("=")
    if override.startswith("~") and len(key) > 1:
        return override
    key = key.lstrip("+")
    if not sign or not key:
        raise UserError(f"{override!r} is no override: key=value is wanted")
    if options := group_options(key, config_dir):
        if value not in options:
            names = ", ".join(sorted(options))
            raise UserError(f"{key}={value}: there is no such option{nearest(value, options)}; there are {names}")
        return f"{key}={value}"
    return _quoted(f"++{key}={value}")


def group_options(key: str, config_dir: Path | None) -> set[str]:
    """The names that a group can be set to; none where the key is no group's."""
    group = key.partition("@")[0]
    folders = [] if "." in group else [config_folder(), *([] if config_dir is None else [config_dir.resolve()])]
    return {file.stem for folder in folders for file in (folder / group).glob("*.yaml")}


def search_path(config_dir: Path | None) -> list[str]:
    """Overrides by which Hydra finds the user's own groups. UserError where there is no such folder."""
    if config_dir is None:
        return []
    if not config_dir.is_dir():
        raise UserError(f"--config-dir {config_dir}: there is no such folder")
    return [f"hydra.searchpath=[{quote(f'file://{config_dir.resolve()}')}]"]


def _quoted(override: str) -> str:
    """The override as it is where Hydra's grammar reads one value in it, and otherwise with its value quoted."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    key, _, value = override.partition("=")
    try:
        if not OverridesParser.create().parse_override(override).is_sweep_override():
            return override
    except HydraException:
        pass
    return f"{key}={quote(value)}"


def quote(value: str) -> str:
    """A text as Hydra's grammar reads it whole."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
