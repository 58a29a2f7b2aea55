"""The configuration of a training: composed anew, begun from a run (`start=RUN`), or gone on with (`resume=RUN`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmt.compose import compose_values, override_values
from nmt.config import read_config, read_plain
from nmt.errors import UserError
from nmt.progress import say
from nmt.run import Run, changed_keys, differences

# What `start=RUN` brings: the sections that say what the network and its vocabulary are.
BROUGHT = ("model", "attention", "wiring", "position", "relative", "tokenizer")
NAMED_START = re.compile(r"\+*start=(?!null$)", re.IGNORECASE)
KEY_INSIDE = re.compile(r"\+*\w+(\.\w+)+=")
# Sections that model.encoder and model.decoder refer to by the same name, and what one has from the other.
REFERRED = ("attention", "wiring", "position", "relative")
SELF = "self_attention"
# What a training that goes on may change: how long and how closely watched, where, and on which copy of the same data.
RESUMABLE = (
    "train.updates",
    "train.patience",
    "train.valid_every",
    "train.save_every",
    "train.log_every",
    "train.keep_last",
    "train.keep_best",
    "train.average",
    "train.bad_steps",
    "train.min_delta",
    "train.max_minutes",
    "train.tensorboard",
    "train.guided_alignment",
    "schedule.updates",
    "data",
    "search",
    "alignment",
    "device",
    "threads",
)
LANGUAGES = ("data.source_language", "data.target_language")  # of the same data these are the same
# What guided alignment trains, and must go on to train.
GUIDED = ("alignment.layer", "alignment.head", "alignment.shift", "alignment.full_context")


def composed_values(overrides: Sequence[str], config_dir: Path | None = None) -> dict[str, Any]:
    """The configuration of a new training. With `start`, the sections that it brings are that run's; settings inside
    them are made there, and what an experiment says of them does not count."""
    inside = [override for override in overrides if section_of(override) in BROUGHT]
    starts = any(map(NAMED_START.match, overrides))
    values = compose_values([one for one in overrides if not (starts and one in inside)], config_dir)
    return values if values.get("start") is None else values | brought(values["start"], inside)


def brought(start: object, overrides: Sequence[str]) -> dict[str, Any]:
    """The sections that a new training has from the run `start`, with these settings inside them.

    UserError for what is no run with weights, and for a setting that replaces a section or concerns the tokenizer.
    """
    path = read_plain(str, start, "start")
    for override in overrides:
        if not KEY_INSIDE.match(override) or section_of(override) == "tokenizer":
            raise UserError(f"{override}: start={path} brings its own")
    try:
        run = Run.open(Path(path))
        run.config()
    except UserError as error:
        raise UserError(f"start={error}") from error
    stored = run.values()
    before = {name: stored.get(name) for name in BROUGHT}
    after = override_values(before, [override.lstrip("+") for override in overrides])
    read_config(stored | after)
    refer_again(before, after)
    return after


def refer_again(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Let a changed section reach the copies of it that a run's configuration has where a composed one refers to it:
    `attention` in model.decoder.attention, say."""
    encoder, decoder = after["model"]["encoder"], after["model"]["decoder"]
    references = [(side, name, before[name], after[name]) for side in (encoder, decoder) for name in REFERRED]
    references.append((decoder, SELF, before["model"]["encoder"].get(SELF), encoder.get(SELF)))
    for side, name, old, new in references:
        if name in side and side[name] == old:
            side[name] = new


def refer_to_updates(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Let a schedule that ends with the training do so still, as where a composed one refers to train.updates."""
    ends = before["schedule"].get("updates")
    if ends is not None and ends == before["train"]["updates"]:
        after["schedule"]["updates"] = after["train"]["updates"]


def section_of(override: str) -> str:
    """The section on which an override acts, by a key or by a group."""
    return re.split(r"[=.@/]", override.lstrip("+~"), maxsplit=1)[0]


def resumed_values(path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    """The configuration with which the run at `path` goes on: its own, but for what may change. Says what does.

    UserError naming what may not, with both values.
    """
    run = Run(path)
    if not run.config_file.is_file():
        raise UserError(f"resume={path}: this is no run, it has no config.yaml")
    run.config()
    before = run.values() | {"run": str(path)}
    for override in overrides:
        key = override.partition("=")[0]
        if isinstance(before.get(key), dict):
            raise UserError(
                f"{override}: a training that goes on keeps its sections; change their keys, {key}.KEY=VALUE"
            )
    after = override_values(before, overrides)
    if not any(override.startswith("schedule.updates=") for override in overrides):
        refer_to_updates(before, after)
    read_config(after)
    guided = after["train"].get("guided_alignment") is not None
    for key in changed_keys(before, after):
        if guided and key in GUIDED:
            raise UserError(f"{key}: a guided training that goes on can't change it ({differences(before, after)})")
        if key in LANGUAGES or not any(f"{key}.".startswith(f"{one}.") for one in RESUMABLE):
            changes = differences(before, after)
            raise UserError(f"{key}: a training that goes on can't change it ({changes}); {', '.join(RESUMABLE)} can")
    if before != after:
        say(f"changed: {differences(before, after)}")
    return after
