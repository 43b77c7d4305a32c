"""What a person watches while a collection is aligned: share done, rate, time left.

On a terminal one live line; elsewhere a line of the log now and then.
"""

from __future__ import annotations

import logging
import shutil
import sys
from time import monotonic
from typing import TextIO

logger = logging.getLogger(__name__)

_LOG_INTERVAL = 30.0  # seconds
_REDRAW = 0.25
_CLEAR = "\r\x1b[K"


class Progress:
    """The progress of one stage after the other."""

    def __init__(self, terminal: TextIO | None = None) -> None:
        """Draw on a terminal; without one, write to the log."""
        if terminal is None and sys.stderr.isatty():
            terminal = sys.stderr
        self._terminal = terminal
        self.begin("", 0)

    def begin(self, stage: str, total: float, *, unit: str = "pages") -> None:
        """Start a stage of so much work, in whatever the work is measured."""
        self._stage, self._total, self._unit = stage, total, unit
        self._done = self._before = 0.0
        self._items = 0
        self._started = self._shown = monotonic()

    def skip(self, work: float) -> None:
        """Work that an earlier run did: done, but not at this run's rate."""
        self._done += work
        self._before += work

    def advance(self, work: float, items: int) -> None:
        """So much work is done, with so many pages or pairs."""
        self._done += work
        self._items += items
        self.show()

    def show(self) -> None:
        """Say how far it is, if it is time to."""
        now = monotonic()
        if now - self._shown < (_REDRAW if self._terminal else _LOG_INTERVAL):
            return
        self._shown = now
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            self._terminal.write(_CLEAR + self.line()[:width])
            self._terminal.flush()
        else:
            logger.info("%s", self.line())

    def line(self) -> str:
        """The stage in one line."""
        seconds = max(monotonic() - self._started, 0.001)
        share = self._done / self._total if self._total else 1.0
        parts = [
            f"{self._stage} {share:.0%}",
            f"{self._items:,} {self._unit}",
            f"{self._items / seconds:,.0f}/s",
        ]
        if done := self._done - self._before:
            left = seconds * (self._total - self._done) / done
            parts.append(f"{_duration(left)} left")
        return " · ".join(parts)

    def end(self) -> None:
        """Take the live line away; the log keeps what the stage took."""
        if self._terminal:
            self._terminal.write(_CLEAR)
            self._terminal.flush()
        seconds = monotonic() - self._started
        logger.info(
            "%s: %s %s in %.1f s", self._stage, f"{self._items:,}", self._unit, seconds
        )


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
