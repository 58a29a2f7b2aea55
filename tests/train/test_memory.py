"""What training tells the libraries below torch."""

from __future__ import annotations

import os

import pytest

from nmt.train.memory import KERNELS, settle_memory

CAPACITY = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"


@pytest.mark.parametrize(("before", "after"), [(None, str(KERNELS)), ("7", "7")])
def test_few_kernels_are_kept_but_a_user_may_say_how_many(
    before: str | None, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAPACITY, "")  # so that what is set here is undone
    if before is None:
        monkeypatch.delenv(CAPACITY)
    else:
        monkeypatch.setenv(CAPACITY, before)
    settle_memory()
    assert os.environ[CAPACITY] == after
