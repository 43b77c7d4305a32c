"""What several rooms of tests need: the recorded data beside the checkout."""

from __future__ import annotations

import os
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


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded worlds and URL data; skips where there is none.

    Environment variable BIFOCAL_SHARED, else `../shared` beside the checkout. A folder
    that was named and is not there is a mistake, no reason to skip.
    """
    named = os.environ.get("BIFOCAL_SHARED")
    folder = Path(named) if named else _BESIDE
    if named and not folder.is_dir():
        pytest.fail(f"BIFOCAL_SHARED={named} is no folder")
    if not folder.is_dir():
        pytest.skip(f"no recorded data in {folder} (set BIFOCAL_SHARED)")
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
