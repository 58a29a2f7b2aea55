"""TensorBoard events of a training, beside metrics.jsonl: `tensorboard --logdir RUN/tensorboard`.

Every number of an event is a scalar `EVENT/NAME` (train/loss, valid/bleu, ...) at its update; a validation also has the
picture of its first sample's alignment, valid/alignment.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmt.errors import UserError

PLACE = ("event", "update", "epoch", "seconds")  # what says when an event was, and is none itself


class Board:
    """Writes into `folder`. Events after update `after`, which a killed training left, are taken back."""

    def __init__(self, folder: Path, after: int) -> None:
        check_installed()
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(str(folder), purge_step=after + 1 if after else None)

    def event(self, values: Mapping[str, Any]) -> None:
        """The numbers of one event."""
        for name, value in values.items():
            if name not in PLACE and isinstance(value, (int, float)):
                self.writer.add_scalar(f"{values['event']}/{name}", value, values["update"])

    def picture(self, png: bytes, update: int) -> None:
        """A PNG, as the alignment of this update's validation."""
        from matplotlib.image import imread

        pixels = imread(io.BytesIO(png), format="png")[:, :, :3]
        self.writer.add_image("valid/alignment", pixels, update, dataformats="HWC")

    def close(self) -> None:
        """No more events."""
        self.writer.close()


def check_installed() -> None:
    """UserError where the package is missing."""
    try:
        import tensorboard  # noqa: F401
    except ImportError as error:
        raise UserError("train.tensorboard is true, and the package tensorboard is not installed") from error
