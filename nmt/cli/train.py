"""`nmt train [overrides]`: from raw parallel text to a run with a test score and an alignment export."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmt.errors import UserError

SUMMARY = "train a model; ends in test BLEU and an alignment export"

# What `start=RUN` brings: the sections that say what the network and its vocabulary are.
BROUGHT = ("model", "attention", "wiring", "position", "relative", "tokenizer")
NAMED_START = re.compile(r"\+*start=(?!null$)", re.IGNORECASE)
KEY_INSIDE = re.compile(r"\+*\w+(\.\w+)+=")
# Sections that model.encoder and model.decoder refer to by the same name, and what one has from the other.
REFERRED = ("attention", "wiring", "position", "relative")
SELF = "self_attention"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Everything is Hydra's: group=option and key=value."""
    parser.usage = (
        "nmt train [--config-dir FOLDER] [--print-config] [group=option ...] [key=value ...]\n"
        "       nmt train start=RUN [group=option ...] [key=value ...]\n"
        "       nmt train resume=RUN [key=value ...]\n"
        "       nmt train -m run=FOLDER key=value,value [the same] [hydra/launcher=NAME]\n"
        "       torchrun --nproc-per-node N -m nmt.cli.train [the same]"
    )
    parser.epilog = (
        "Examples: nmt train experiment=demo_recurrent; nmt train data=files data.root=corpus data.source_language=en "
        "data.target_language=de run=runs/mine. --config-dir adds your own configuration groups; --print-config shows "
        "the composed configuration and trains nothing. start=RUN makes a new run that begins with RUN's network, "
        "tokenizers and best weights (fine-tuning). A training ends early by Ctrl-C or SIGTERM, which finish the "
        "update under way and save; resume=RUN goes on as if it had never stopped, with other settings only where they "
        "may change. -m (--multirun) makes a training of every combination of settings with several values, in "
        "FOLDER/WHAT-DIFFERS, by Hydra's sweeper and launcher; the same command again trains what is not finished."
    )


def run(arguments: argparse.Namespace) -> int:
    """Check all that can be checked first; then data, model, training, test."""
    from nmt.compose import write_config
    from nmt.config import read_config

    if {"-m", "--multirun"} & set(arguments.overrides):
        from nmt.cli.sweep import sweep

        return sweep(arguments.overrides)
    flags, overrides = split_flags(arguments.overrides)
    path, overrides = split_resume(overrides)
    values = composed(overrides, flags.config_dir) if path is None else resumed(path, overrides)
    config = read_config(values)
    if flags.print_config:
        print(write_config(values), end="")
        return 0
    from nmt.experiment import run_experiment
    from nmt.run import Run
    from nmt.train.distributed import own_rank, restarts

    if path is None and restarts() and Run(Path(config.run)).last.exists():
        path, values = Path(config.run), resumed(Path(config.run), [])
    scores = run_experiment(values, read_config(values), resume=path is not None)
    if own_rank() == 0:
        print(*([] if scores is None else [scores]), config.run, sep="\n")
    return 0


def resumed(path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    """The configuration with which a run goes on."""
    from nmt.experiment import resumed_values

    return resumed_values(path, overrides)


def composed(overrides: Sequence[str], config_dir: Path | None) -> dict[str, Any]:
    """The configuration of a new training. With `start`, the sections that it brings are that run's; settings inside
    them are made there, and what an experiment says of them does not count."""
    from nmt.compose import compose_values

    inside = [override for override in overrides if section_of(override) in BROUGHT]
    starts = any(map(NAMED_START.match, overrides))
    values = compose_values([one for one in overrides if not (starts and one in inside)], config_dir)
    return values if values.get("start") is None else values | brought(values["start"], inside)


def brought(start: object, overrides: Sequence[str]) -> dict[str, Any]:
    """The sections that a new training has from the run `start`, with these settings inside them.

    UserError for what is no run with weights, and for a setting that replaces a section or concerns the tokenizer.
    """
    from nmt.compose import override_values
    from nmt.config import read_config, read_plain
    from nmt.run import Run

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


def section_of(override: str) -> str:
    """The section on which an override acts, by a key or by a group."""
    return re.split(r"[=.@/]", override.lstrip("+~"), maxsplit=1)[0]


def split_resume(overrides: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The run that is to go on, if one is named, and the other settings."""
    named = [override.partition("=")[2] for override in overrides if override.startswith("resume=")]
    if len(named) > 1 or "" in named:
        raise UserError("resume=RUN names one run")
    return (Path(named[0]) if named else None), [one for one in overrides if not one.startswith("resume=")]


def split_flags(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our two flags, and Hydra's overrides."""
    from nmt.cli.main import Parser

    parser = Parser(prog="nmt train", add_help=False, allow_abbrev=False)
    parser.add_argument("--config-dir", type=Path)
    parser.add_argument("--print-config", action="store_true")
    flags, rest = parser.parse_known_args(list(arguments))
    unknown = [argument for argument in rest if argument.startswith("-")]
    if unknown:
        raise UserError(f"{unknown[0]}: nmt train takes key=value settings, --config-dir and --print-config")
    return flags, rest


if __name__ == "__main__":
    from nmt.cli.main import main

    raise SystemExit(main(["train", *sys.argv[1:]]))
