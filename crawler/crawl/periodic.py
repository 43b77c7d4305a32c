"""Work that a crawl does now and then."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

logger = logging.getLogger(__name__)

_EVERY = 1.0  # seconds: who stops a crawl waits for the page in hand anyway


class Periodic(Protocol):
    """Work that is done now and then while a crawl runs."""

    def tick(self, now: float) -> None:
        """Do what is due at this time (seconds); FATAL_ERRORS end the run."""
        ...

    def close(self) -> None:
        """Do what is left, before the final pairs are made."""
        ...


class Clockwork:
    """Calls a function at regular intervals (seconds)."""

    def __init__(self, every: float, call: Callable[[], None]) -> None:
        self._every = every
        self._call = call
        self._due = 0.0

    def tick(self, now: float) -> None:
        """Call it, if it is time."""
        if now >= self._due:
            self._due = now + self._every
            self._call()

    def close(self) -> None:
        """Do nothing more."""


class StopFile:
    """`touch RUN_DIR/stop` ends a crawl as Ctrl-C does: `stop` is called.

    For whoever cannot send it a signal: it runs on another machine, in a container, or
    as another user.
    """

    def __init__(self, path: Path, stop: Callable[[str], None]) -> None:
        self._path = path
        self._stop = stop
        self._due: float | None = None

    def tick(self, now: float) -> None:
        """Look, if it is time; a file of an earlier session has done its work."""
        if self._due is None:
            self._path.unlink(missing_ok=True)
        elif now >= self._due and self._path.exists():
            logger.info("Found %s, shutting down gracefully", self._path)
            self._path.unlink(missing_ok=True)
            self._stop("shutdown")
        if self._due is None or now >= self._due:
            self._due = now + _EVERY

    def close(self) -> None:
        """Take the file away: the next session shall run."""
        self._path.unlink(missing_ok=True)
