"""What every test shares: seeds, one thread, the place of the real corpora, and no skipping where all must run."""

from __future__ import annotations

import os
import random
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the tests encode is kept for this session only, and no user's cache is touched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NMT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def nmt_data() -> Path:
    """The folder of real corpora and gold alignments, which are too big or not ours to ship."""
    place = os.environ.get("NMT_DATA")
    if not place:
        pytest.skip("NMT_DATA does not name the folder of real corpora")
    return Path(place)


def _strict() -> bool:
    return os.environ.get("NMT_STRICT") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if _strict() and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and NMT_STRICT=1 forbids that: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if _strict() and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, and NMT_STRICT=1 forbids that: {report.longrepr}"
    return report
