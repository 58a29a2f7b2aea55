"""Property tests without a time limit an example: on a busy machine a slow one is no fault."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
