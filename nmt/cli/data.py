"""`nmt data COMMAND`: looks after corpora. A command is the module nmt/cli/data_NAME.py, of the same form as all."""

from __future__ import annotations

import argparse
import importlib

from nmt.errors import UserError

SUMMARY = "look after corpora: check, fetch, list"
COMMANDS = {
    "check": "what is wrong with a parallel corpus, line by line and as a whole; mends what can be mended",
    "fetch": "download the corpus of a recipe, count it, write it as plain files",
    "list": "the corpora that are ready to use: languages, size, licence, source",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command and all that is its own."""
    width = max(map(len, COMMANDS))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    table = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items())
    parser.epilog = f"commands:\n{table}\n\n`nmt data COMMAND --help` explains one."
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="what the command takes")
    parser.set_defaults(parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Import the command's module, parse the rest by its parser, run it; without a command print the help."""
    from nmt.cli.main import unknown_command
    from nmt.cli.overrides import split_overrides

    name = arguments.command
    if name is None:
        if arguments.overrides:
            raise UserError(f"`nmt data` needs a command before {arguments.overrides[0]}: {', '.join(COMMANDS)}")
        arguments.parser.print_help()
        return 0
    if name not in COMMANDS:
        raise UserError(unknown_command(name, COMMANDS, "data "))
    module = importlib.import_module(f"nmt.cli.data_{name}")
    parser = type(arguments.parser)(prog=f"nmt data {name}", description=module.SUMMARY, allow_abbrev=False)
    module.add_arguments(parser)
    ordinary, overrides = split_overrides(parser, [*arguments.rest, *arguments.overrides])
    own, unknown = parser.parse_known_args(ordinary)
    if unknown:
        setting = next((argument for argument in unknown if "=" in argument and not argument.startswith("-")), None)
        why = f"unrecognized arguments: {' '.join(unknown)} (see `nmt data {name} --help`)"
        raise UserError(why if setting is None else f"{setting}: settings stand after files and options")
    own.overrides = overrides
    return int(module.run(own))
