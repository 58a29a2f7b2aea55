"""Attention-based neural machine translation. `nmt.load(run)` opens a trained run; importing this loads no torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.translator import Translator

try:
    __version__ = version("nmt")
except PackageNotFoundError:  # a bare checkout on the path, never installed
    __version__ = "0+unknown"

__all__ = ["__version__", "load"]


def load(run: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Translator:
    """Open the run directory `run`; `overrides` are `key=value` settings of its config, e.g. `search.beam_size=1`."""
    from nmt.translator import load as load_translator

    return load_translator(run, overrides)
