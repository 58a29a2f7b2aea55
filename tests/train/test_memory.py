"""What training tells the libraries below torch."""

from __future__ import annotations

import os

import pytest

from nmt.train.memory import KERNELS, settle_memory

CAPACITIES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


@pytest.mark.parametrize(("before", "after"), [(None, str(KERNELS)), ("7", "7")])
def test_few_kernels_are_kept_but_a_user_may_say_how_many(
    before: str | None, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CAPACITIES:
        monkeypatch.setenv(name, before or "")  # so that what is set here is undone
        if before is None:
            monkeypatch.delenv(name)
    settle_memory()
    assert [os.environ[name] for name in CAPACITIES] == [after] * 2
