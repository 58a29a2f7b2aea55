"""The kinds of position that configs/ names, found by listing it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nmt.build import build
from nmt.compose import config_folder
from nmt.model.positions.position import Position
from tests.laws.models import config_of

KINDS = sorted(file.stem for file in (config_folder() / "position").glob("*.yaml"))
ABSOLUTE = ("learned", "none", "sinusoidal")  # which do nothing inside attention
RELATIVE = [kind for kind in KINDS if kind not in ABSOLUTE]


def relative_of(kind: str, *overrides: str) -> Callable[..., Position]:
    """What this kind puts into self-attention, to be built there."""
    config = config_of(f"transformer-pre-{kind}", *overrides)
    assert config.relative is not None
    return partial(build, config.relative, "relative")
