"""The folder of a comparison: a run a cell, and a record of what was asked for.

    comparison.json           `experiment`; `commands`: every call that worked here; `cells`: [{"kind": {key: value},
                              "seed"}] in the order in which they were first asked for
    CELL/                     the run of a cell; it is finished when it has evaluation.json
    CELL.log                  what its training said
    table.csv, table.md, bleu_by_length.csv, bleu_by_length.png, bleu_by_length.svg

Later calls add cells. All are of one experiment with the same fixed settings, or the table would compare what differs
in more than it says; a cell that was trained otherwise is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nmt.compare.cells import Cell, check_key
from nmt.config import Config, read_config
from nmt.data.files import locked, write_atomically
from nmt.data.parts import has_part
from nmt.errors import UserError
from nmt.experiment import check_settings
from nmt.prepare import check_data
from nmt.run import Run, differences
from nmt.settings import composed_values

ELSEWHERE = ("run", "threads")  # where and by how many threads a cell was trained is no difference


class Comparison:
    """An experiment, the settings that all cells share, and where the cells lie."""

    def __init__(self, *, folder: Path, experiment: str, fixed: Sequence[str], config_dir: Path | None) -> None:
        self.folder = folder
        self.experiment = experiment
        self.fixed = tuple(fixed)
        self.config_dir = config_dir
        self.record = folder / "comparison.json"

    def run(self, cell: Cell) -> Run:
        """The cell's run, trained or not."""
        return Run(self.folder / cell.name)

    def log(self, cell: Cell) -> Path:
        """What its training said."""
        return self.folder / f"{cell.name}.log"

    def overrides(self, cell: Cell) -> list[str]:
        """All that `nmt train` is told."""
        run = f"run={self.run(cell).path}"
        return [f"experiment={self.experiment}", *self.fixed, *cell.overrides, run]

    def is_finished(self, cell: Cell) -> bool:
        """Whether the cell needs no training: evaluation.json is what a run is given last."""
        return self.run(cell).evaluation.is_file()

    def check(self, cells: Sequence[Cell]) -> None:
        """Refuse, before anything is trained, what could not be trained or would not belong here.

        UserError: whatever composing, building and reading the data of each cell raises; no test set; a finished cell
        of another configuration; a directory in the place of a run that is none.
        """
        for override in self.fixed:
            self._check_fixed(override, cells)
        corpora: list[Any] = []
        for cell in cells:
            try:
                values = composed_values(self.overrides(cell), self.config_dir)
                config = read_config(values)
                check_settings(config)
                if config.data not in corpora:
                    corpora.append(config.data)
                    _check_corpus(config)
                if config.data.test != corpora[0].test:
                    raise UserError(
                        "data.test differs from the first cell's: scores of two test sets can't be compared"
                    )
            except UserError as error:
                raise UserError(f"{cell}: {error}") from error
            self._check_place(cell, values)

    def earlier(self) -> list[Cell]:
        """The cells that calls before this one asked for. UserError where they were of another experiment."""
        known = self._read_record()
        if known["experiment"] != self.experiment:
            raise UserError(
                f"{self.folder}: the cells here are of experiment={known['experiment']}, not {self.experiment}; "
                "choose another --folder"
            )
        return [Cell(tuple(entry["kind"].items()), entry["seed"]) for entry in known["cells"]]

    def commands(self) -> list[str]:
        """Every call that worked here, in order."""
        return list(self._read_record()["commands"])

    def remember(self, cells: Sequence[Cell], command: str) -> list[Cell]:
        """Add to the record what this call asks for; all cells, in the order in which they were first asked for.

        Calls that left no finished cell are forgotten: they may have had other fixed settings.
        """
        before = self.earlier()
        counts = any(map(self.is_finished, before))
        every = list(dict.fromkeys([*before, *cells] if counts else cells))
        record = {
            "experiment": self.experiment,
            "commands": list(dict.fromkeys([*self.commands(), command] if counts else [command])),
            "cells": [{"kind": dict(cell.kind), "seed": cell.seed} for cell in every],
        }
        write_atomically(self.record, (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode())
        return every

    def locked(self) -> AbstractContextManager[int]:
        """Keep other calls out. The file descriptor is for the trainings, so that one that is left over locks too."""
        return locked(self.folder, "nmt compare")

    def _read_record(self) -> dict[str, Any]:
        if not self.record.is_file():
            return {"experiment": self.experiment, "commands": [], "cells": []}
        try:
            known: dict[str, Any] = json.loads(self.record.read_text(encoding="utf-8"))
        except ValueError as error:
            raise UserError(f"{self.record}: this is no record of a comparison ({error})") from error
        return known

    def _check_fixed(self, override: str, cells: Sequence[Cell]) -> None:
        key = override.partition("=")[0].lstrip("+")
        check_key(key, override)
        if any(key == varied for cell in cells for varied, _ in cell.kind):
            raise UserError(f"{override}: {key} is varied, and can't be fixed as well")

    def _check_place(self, cell: Cell, values: dict[str, Any]) -> None:
        run = self.run(cell)
        if self.is_finished(cell):
            changes = trained_otherwise(run, read_config(values))
            if changes:
                raise UserError(
                    f"{run.path}: this cell was trained otherwise ({changes}); choose another --folder or remove it"
                )
        elif run.path.exists() and not run.config_file.is_file():
            raise UserError(f"{run.path}: a cell belongs here, and this is no run; choose another --folder")


def trained_otherwise(run: Run, config: Config) -> str:
    """What a run's configuration has otherwise than this one, but for where it is trained; empty where nothing."""
    stored = asdict(run.config())  # with the defaults of keys that there were not when it was trained
    return differences(stored, {**asdict(config), **{key: stored[key] for key in ELSEWHERE}})


def _check_corpus(config: Any) -> None:
    if not has_part(config.data, "test"):
        raise UserError("data.test is not given: a comparison is made on the test set")
    check_data(config)
