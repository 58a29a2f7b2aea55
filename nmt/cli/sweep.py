"""`nmt train -m`: a training for every combination of the settings that have several values.

    RUN/attention=bahdanau,seed=1/       the run of a combination, named by what differs
    RUN/attention=bahdanau,seed=1.log    what its training said, where the launcher has other processes for that
    RUN/.sweep/                          what Hydra and its launchers write

Each combination is composed and checked as a training alone would be, before any of them begins. Hydra's sweeper then
runs through the names of those that are not finished, and its launcher calls `nmt.cli.job.Job` for each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from nmt.cli.job import KEY, Job, PassedOn, Values, unforeseen
from nmt.errors import Unsuccessful, UserError

FLAGS = ("-m", "--multirun")
LAUNCHING = (  # Hydra's settings that are the user's
    "hydra/launcher",
    "hydra.launcher",
    "hydra.job.name",
    "hydra.job.env_set",
    "hydra.job.env_copy",
    "hydra.sweeper.max_batch_size",
)
QUIET = ("hydra/hydra_logging=none", "hydra/job_logging=none", "hydra.output_subdir=null", "hydra.sweep.subdir='.'")


def sweep(arguments: Sequence[str]) -> int:
    """The whole of `nmt train -m`; stdout gets a line for each training, its directory and its test BLEU."""
    from nmt.cli.train import split_flags, split_resume
    from nmt.compose import search_path, write_config
    from nmt.data.files import locked
    from nmt.progress import say

    flags, overrides = split_flags([argument for argument in arguments if argument not in FLAGS])
    if split_resume(overrides)[0] is not None:
        raise UserError("resume=RUN is for one run; the same sweep again goes on where it was stopped")
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UserError("a sweep starts its trainings itself: not under torchrun")
    launching, settings = split_launching(overrides)
    folder, every = compose_all(combinations(settings, flags.config_dir), flags.config_dir)
    if flags.print_config:
        for values in every.values():
            print("---", write_config(values), sep="\n", end="")
        return 0
    check_all(folder, every)
    missing = {name: values for name, values in every.items() if not is_finished(values)}
    for name in (name for name in every if name not in missing):
        say(f"{name}: finished before")
    say(f"{len(every)} trainings, {len(missing)} to be done, in {folder}")
    failures: dict[str, str] = {}
    if missing:
        with locked(folder / ".sweep", "nmt train -m"):
            failures = launch(missing, [*launching, *search_path(flags.config_dir)], folder / ".sweep")
    show(every)
    if failures:
        told = "; ".join(f"{name}: {reason}" for name, reason in failures.items())
        raise Unsuccessful(f"{len(failures)} of {len(missing)} trainings failed: {told}")
    return 0


def split_launching(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """Hydra's own settings, and ours. UserError for one of Hydra's that would undo what is said above."""
    hydras = [override for override in overrides if override.lstrip("+~").startswith(("hydra.", "hydra/"))]
    for override in hydras:
        key = override.lstrip("+").partition("=")[0]
        if not f"{key}.".startswith(tuple(f"{one}." for one in LAUNCHING)):
            raise UserError(f"{override}: of Hydra's own settings a sweep takes {', '.join(LAUNCHING)}")
    return hydras, [override for override in overrides if override not in hydras]


def combinations(overrides: Sequence[str], config_dir: Path | None) -> dict[str, list[str]]:
    """Name -> settings, every combination of the swept keys' values; the last key runs fastest.

    UserError: nothing to sweep over, a swept key that is given twice, a sweep over `run`.
    """
    from nmt.compare.cells import safe_name

    given = [(override.partition("=")[0].lstrip("+"), override) for override in overrides]
    fixed: list[str] = []
    swept: list[list[str]] = []
    for key, override in given:
        values = swept_values(override, config_dir)
        if values is None:
            fixed.append(override)
        elif key == "run":
            raise UserError(f"{override}: run is the sweep's one folder; quote a comma that belongs to its name")
        elif [other for other, _ in given].count(key) > 1:
            raise UserError(f"{override}: {key} is given twice; write all its values in one setting, {key}=a,b,c")
        else:
            swept.append([f"{key}={value}" for value in values])
    if not swept:
        raise UserError("-m: no setting has several values; write them as key=a,b,c or key=range(1,4)")
    # sorted, so that the order of the settings does not make another run
    return {safe_name(",".join(sorted(one))): [*fixed, *one] for one in product(*swept)}


def swept_values(override: str, config_dir: Path | None) -> list[str] | None:
    """The values that a setting runs through, in Hydra's grammar; None where it has one, which may be any text."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import Glob
    from hydra.errors import HydraException

    from nmt.compose import group_options

    try:
        parsed = OverridesParser.create().parse_override(override)
    except HydraException:
        return None
    if not parsed.is_sweep_override():
        return None
    if not parsed.is_discrete_sweep():
        raise UserError(f"{override}: an interval has no values to run through; write key=a,b,c or key=range(1,4)")
    pattern: object = parsed.value()
    if isinstance(pattern, Glob):
        values = pattern.filter(sorted(group_options(parsed.key_or_group, config_dir)))
    else:
        values = list(parsed.sweep_string_iterator())
    if not values:
        raise UserError(f"{override}: there are no values here")
    return list(dict.fromkeys(values))


def compose_all(settings: Mapping[str, list[str]], config_dir: Path | None) -> tuple[Path, dict[str, Values]]:
    """The sweep's folder, and name -> configuration of the run in it."""
    from nmt.config import read_config
    from nmt.settings import composed_values

    every: dict[str, Values] = {}
    folders: list[str] = []
    for name, overrides in settings.items():
        with named(name):
            values = composed_values(overrides, config_dir)
            folders.append(read_config(values).run)
        every[name] = values | {"run": str(Path(folders[-1]) / name)}
    if len(set(folders)) > 1:
        raise UserError(f"run=FOLDER must be given: there are several here, {', '.join(dict.fromkeys(folders))}")
    return Path(folders[0]), every


def check_all(folder: Path, every: Mapping[str, Values]) -> None:
    """Refuse what could not be trained or would not belong here, before anything is trained."""
    from nmt.config import DataConfig, read_config
    from nmt.experiment import check_settings
    from nmt.prepare import check_data
    from nmt.run import Run

    if Run(folder).config_file.exists():
        raise UserError(f"run={folder}: this is a run, and a sweep needs a folder for several; name another")
    corpora: list[DataConfig] = []
    for name, values in every.items():
        config = read_config(values)
        with named(name):
            check_settings(config)
            check_place(values)
            if config.data not in corpora:
                corpora.append(config.data)
                check_data(config)


def check_place(values: Values) -> None:
    """UserError where a run that is there can neither be left as it is nor gone on with, or a new one can't begin."""
    from nmt.compare.comparison import trained_otherwise
    from nmt.config import read_config
    from nmt.experiment import check_start
    from nmt.run import Run

    config = read_config(values)
    run = Run(Path(config.run))
    if not is_finished(values) and not run.last.is_file():
        run.refuse_if_trained(values)
        if config.start is not None:
            check_start(config, Run(Path(config.start)))
    elif changes := trained_otherwise(run, config):
        raise UserError(f"{run.path}: it was trained otherwise ({changes}); name another run=FOLDER or remove it")


@contextmanager
def named(name: str) -> Iterator[None]:
    """A user's mistake is told with the combination that it is in."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{name}: {error}") from error


def is_finished(values: Values) -> bool:
    """Whether the run needs no training: evaluation.json is what it is given last."""
    from nmt.run import Run

    return Run(Path(values["run"])).evaluation.is_file()


def launch(values: Mapping[str, Values], launching: Sequence[str], folder: Path) -> dict[str, str]:
    """Train these; name -> what went wrong, of those that failed. UserError where Hydra can't begin."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from nmt.compose import config_folder, quote

    names = ",".join(map(quote, values))
    overrides = [f"++{KEY}={names}", *QUIET, f"hydra.sweep.dir={quote(str(folder))}", *launching]
    own_folder = str(config_folder().resolve())
    stop = PassedOn()
    try:
        with stop, initialize_config_dir(own_folder, job_name="train", version_base="1.3"):
            hydra = GlobalHydra.instance().hydra
            assert hydra is not None
            batches = hydra.multirun(config_name=None, task_function=Job(values, os.getpid()), overrides=overrides)
        outcomes = [job.return_value for batch in batches for job in batch]
    except (HydraException, OmegaConfBaseException) as error:
        told = str(error.__cause__ or error).partition("Config search path:")[0]
        raise UserError(" ".join(told.split())) from error
    except Exception as error:  # the launcher's: a process of its own was killed, say
        reason = unforeseen(error)
        outcomes = [(name, reason) for name, one in values.items() if not is_finished(one)]
    if stop.number is not None:
        raise stop.ending()
    return {name: reason for name, reason in outcomes if reason}


def show(every: Mapping[str, Values]) -> None:
    """Each run's directory and test BLEU, or - where it has none."""
    from nmt.run import Run

    for values in every.values():
        run = Run(Path(values["run"]))
        scores = json.loads(run.evaluation.read_text(encoding="utf-8")) if is_finished(values) else None
        print(run.path, "-" if scores is None else f"{scores['bleu']['score']:.2f}", sep="\t")
