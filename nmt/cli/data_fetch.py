"""`nmt data fetch NAME [-o DIR]`: download the corpus of a recipe, look it through, and write it as plain files."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.config import AboutConfig, DataConfig
    from nmt.data.fetch.contents import Contents
    from nmt.data.parts import Part

SUMMARY = "download the corpus of a recipe, count it, write it as plain files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = "key=value settings choose the languages, say: data.source_language=en data.target_language=fr"
    parser.add_argument("name", metavar="NAME", help="an option of the group `data`; `nmt data list` shows the recipes")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write train.en, train.de, valid.en, ... there, all or none"
    )


def run(arguments: argparse.Namespace) -> int:
    """Get the files, read every part, say what there is and how it is used."""
    from nmt.data.fetch.contents import read_parts
    from nmt.data.fetch.recipes import compose_recipe, prepare

    data, parts = compose_recipe(arguments.name, arguments.overrides)
    prepare(arguments.name, data)
    contents = read_parts(data, parts, arguments.output)
    print(f"{arguments.name}: {data.source_language} to {data.target_language}")
    for part in contents:
        print(_described(part))
    print(*_facts(data.about), sep="\n", end="\n" if data.about else "")
    print(f"use      {_command(arguments, data, parts)}")
    return 0


def _described(part: Contents) -> str:
    blank = f", {part.blank:,} with a blank side" if part.blank else ""
    characters = f"{part.source_characters:,} and {part.target_characters:,} characters"
    first = "\n         ".join(part.first or ())
    return f"{part.part:<8} {part.pairs:,} pairs{blank}, {characters} ({part.name}), first:\n         {first}"


def _facts(about: AboutConfig | None) -> list[str]:
    return [] if about is None else [f"licence  {about.licence}", f"source   {about.source}", f"size     {about.size}"]


def _command(arguments: argparse.Namespace, data: DataConfig, parts: Sequence[Part]) -> str:
    """What makes use of what was fetched: training, or evaluation where there is nothing to train on."""
    if arguments.output is None:
        if "train" in parts:
            return shlex.join(["nmt", "train", f"data={arguments.name}", *arguments.overrides])
        again = shlex.join(["nmt", "data", "fetch", arguments.name, "-o", "DIR", *arguments.overrides])
        return f"for evaluation; as files by {again}"
    return shlex.join(_train(arguments.output, data, parts) if "train" in parts else _evaluate(arguments, data, parts))


def _train(output: Path, data: DataConfig, parts: Sequence[Part]) -> list[str]:
    from nmt.data.fetch.contents import plain_files

    languages = [f"data.source_language={data.source_language}", f"data.target_language={data.target_language}"]
    gold = [f"data.{part}.links={files[2]}" for part in parts if len(files := plain_files(data, part, output)) > 2]
    absent = [] if "test" in parts else ["data.test=null"]
    return ["nmt", "train", "data=files", f"data.root={output}", *languages, *gold, *absent]


def _evaluate(arguments: argparse.Namespace, data: DataConfig, parts: Sequence[Part]) -> list[str]:
    from nmt.data.fetch.contents import plain_files

    source, target, *_ = plain_files(data, parts[-1], arguments.output)
    return ["nmt", "evaluate", "RUN", "--source", str(source), "--reference", str(target)]
