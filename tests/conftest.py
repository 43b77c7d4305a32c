"""What several rooms of tests need: the recorded data beside the checkout."""

from __future__ import annotations

import os

# Several tests run at once, and the networks are tiny: threads would wait for each
# other in busy loops. Read when numpy and torch are first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import re
import shutil
import uuid
from pathlib import Path

import pytest
from hypothesis import settings

from tests.redis_server import server_of_the_session

# A test is about what comes out, on a machine of any speed.
settings.register_profile("bifocal", deadline=None)
settings.load_profile("bifocal")

_BESIDE = Path(__file__).resolve().parents[2] / "shared"


def recorded_data() -> Path | None:
    """The folder of recorded worlds and URL data, or None if there is none.

    Environment variable BIFOCAL_SHARED (empty: none), else `../shared` beside the
    checkout. A folder that was named and is not there is a mistake.
    """
    named = os.environ.get("BIFOCAL_SHARED")
    folder = _BESIDE if named is None else Path(named)
    if named and not folder.is_dir():
        raise pytest.UsageError(
            f"BIFOCAL_SHARED={named} is not a folder: name one, or leave it empty"
        )
    return folder if named != "" and folder.is_dir() else None


def pytest_collection_modifyitems(config, items):
    """In CI the tests of recorded data run or are left out, they are never skipped.

    What they hold is held for everybody on sites of our own making
    (golden/test_own_worlds.py).
    """
    if os.environ.get("CI") == "true" and recorded_data() is None:
        left_out = [item for item in items if item.get_closest_marker("shared")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("shared")]


def pytest_report_header() -> str:
    return f"recorded data: {recorded_data() or 'none (set BIFOCAL_SHARED)'}"


# Why a test may be skipped in CI: what this machine is, or may not do. Whatever can be
# installed is (.ci/run), so any other skip fails there.
MAY_BE_SKIPPED = (
    "root may write anywhere",  # the user of most containers
    "a small disk cannot be mounted here",  # a container may forbid it
    "mounting a small file system needs root",
    "needs Linux",
    r"needs unshare\(1\)",
)


def fails_in_ci(report):
    """The report; in CI a skip without a reason that may be becomes a failure."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return report
    reason = report.longrepr[-1]
    may_be = any(re.search(known, reason) for known in MAY_BE_SKIPPED)
    if os.environ.get("CI") == "true" and not may_be:
        report.outcome = "failed"
        report.longrepr = f"{reason} (no test is skipped in CI: install it in .ci/run)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return fails_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return fails_in_ci((yield))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded worlds and URL data; skips where there is none."""
    folder = recorded_data()
    if folder is None:
        pytest.skip("no recorded data (set BIFOCAL_SHARED)")
    return folder


@pytest.fixture(scope="session")
def redis_server():
    """A redis-server that lives as long as the tests."""
    server = server_of_the_session()
    with server:
        yield server
    shutil.rmtree(server.folder, ignore_errors=True)


@pytest.fixture
def redis_run(redis_server) -> str:
    """The FRONTIER_URL of a run that nobody else has."""
    return redis_server.url(uuid.uuid4().hex)
