"""How far a job is, for the person who waits: one live line, or lines of the log.

line = ProgressLine(logger, terminal())
line.update(lambda: f"{pages:,} pages")         # as often as you like
with Stage(line, "reading", total=size) as stage:
stage.advance(work=1000, items=2)
"""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Self, TextIO, TypeVar

T = TypeVar("T")

_LOG_INTERVAL = 30.0  # seconds
_REDRAW = 0.25  # seconds; faster only flickers
_CLEAR = "\r\x1b[K"


def terminal() -> TextIO | None:
    """Standard error if a person sees it; None if it goes to a file or a pipe."""
    return sys.stderr if sys.stderr.isatty() else None


@dataclass(slots=True)
class ProgressLine:
    """One line that is redrawn in place on a terminal; without one, lines of the log.

    As a filter of a log handler it makes way for what the handler prints.
    """

    logger: logging.Logger
    terminal: TextIO | None
    log_interval: float = _LOG_INTERVAL
    shown: float = 0.0  # when a line was last shown, by the monotonic clock

    @property
    def interval(self) -> float:
        """Seconds from one line to the next."""
        return _REDRAW if self.terminal else self.log_interval

    def update(self, line: Callable[[], str]) -> None:
        """Show a line if the last one is old enough."""
        if monotonic() - self.shown >= self.interval:
            self.show(line())

    def show(self, line: str) -> None:
        """Show a line now."""
        self.shown = monotonic()
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1  # a full line would wrap
            self._draw(line[:width])
        else:
            self.logger.info("%s", line)

    def clear(self) -> None:
        """Take the live line away."""
        self._draw("")

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a record pass, on a line of its own."""
        self.clear()
        return True

    def _draw(self, text: str) -> None:
        if self.terminal:
            self.terminal.write(_CLEAR + text)
            self.terminal.flush()


@dataclass(slots=True)
class Stage:
    """A job of known size: share done, rate and time left, until its block ends."""

    line: ProgressLine
    name: str
    total: float  # work, in whatever it is measured
    unit: str = "pages"  # of the items that are counted
    _done: float = 0.0
    _before: float = 0.0
    _items: int = 0
    _started: float = 0.0

    def start(self) -> None:
        """Start the clock."""
        self._started = self.line.shown = monotonic()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, error: object, *_: object) -> None:
        self.line.clear()
        if error is None:
            seconds = monotonic() - self._started
            self.line.logger.info(
                "%s: %s %s in %.1f s", self.name, f"{self._items:,}", self.unit, seconds
            )

    def skip(self, work: float) -> None:
        """Count work that an earlier run did: done, but not at this run's rate."""
        self._done += work
        self._before += work

    def advance(self, work: float, items: int) -> None:
        """Count finished work, and the items (pages, pairs) that it had."""
        self._done += work
        self._items += items
        self.show()

    def show(self) -> None:
        """Show how far it is, if it is time to."""
        self.line.update(self.text)

    def text(self) -> str:
        """The stage in one line."""
        seconds = max(monotonic() - self._started, 0.001)
        share = self._done / self.total if self.total else 1.0
        parts = [
            f"{self.name} {share:.0%}",
            f"{self._items:,} {self.unit}",
            f"{self._items / seconds:,.0f}/s",
        ]
        if done := self._done - self._before:
            left = seconds * (self.total - self._done) / done
            parts.append(f"{_duration(left)} left")
        return " · ".join(parts)


def watched(
    items: Iterable[T], stage: Stage, work: Callable[[T], float] = lambda _: 1.0
) -> Iterator[T]:
    """The items of a stage, each counted when it comes; nothing is said at the end."""
    stage.start()
    try:
        for item in items:
            stage.advance(work(item), 1)
            yield item
    finally:
        stage.line.clear()


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
