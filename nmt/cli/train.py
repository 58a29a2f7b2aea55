"""`nmt train [overrides]`: from raw parallel text to a run with a test score and an alignment export."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from nmt.errors import UserError

SUMMARY = "train a model; ends in test BLEU and an alignment export"


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
    from nmt.settings import composed_values, resumed_values

    if {"-m", "--multirun"} & set(arguments.overrides):
        from nmt.cli.sweep import sweep

        return sweep(arguments.overrides)
    from nmt.train.torchrun import own_rank, told_once

    with told_once():
        flags, overrides = split_flags(arguments.overrides)
        path, overrides = split_resume(overrides)
        values = composed_values(overrides, flags.config_dir) if path is None else resumed_values(path, overrides)
        config = read_config(values)
    if flags.print_config:
        print(write_config(values), end="")
        return 0
    from nmt.experiment import run_experiment

    scores = run_experiment(values, config, resume=path is not None)
    if own_rank() == 0:
        print(*([] if scores is None else [scores]), config.run, sep="\n")
    return 0


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
