"""The intake of a crawl for the event loop: in this process, or in one beside it.

Storing, reading and pairing a page costs more than fetching it and choosing the next.
With a second core all of it goes to a process of its own (setting PAGE_PROCESS), which
answers in the order in which it was asked. The site of a page stays closed until the
answer is there, so the order of the crawl is the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Protocol

from crawler.crawl import codec
from crawler.crawl.child import Child
from crawler.crawl.intake import (
    Answer,
    Intake,
    IntakeConfig,
    IntakeResult,
    SessionResult,
)
from crawler.data import Page
from crawler.errors import FATAL_ERRORS, BifocalError
from crawler.warc.exchange import Exchange, page_of

logger = logging.getLogger(__name__)

# Answers taken together in this process, at most: more save nothing more. Fewer if no
# more has come for so many rounds of the event loop; an answer takes some from its
# socket to here.
_TOGETHER, _STILL = 8, 3
# Processes that may end one after the other without a result: a page that ends them
# costs two, one that does so in company three.
_MAX_DEATHS = 4


class AsyncIntake(Protocol):
    """An intake whose answers are awaited."""

    def listen(
        self, *, done: Callable[[], None], failed: Callable[[BifocalError], None]
    ) -> None:
        """Name whom to call.

        `done`: when the results of answers that were taken together have been heard;
        `failed`: with an error that ends the run.
        """
        ...

    def keep(self, exchange: Exchange) -> Page:
        """Store an answer and give its page; it is on disk before any later answer."""
        ...

    async def take(self, answer: Answer) -> IntakeResult:
        """Store, read and pair an answer; all of it survives a kill when this ends."""
        ...

    def finish(self) -> SessionResult:
        """Complete the files, and make the final pairs."""
        ...


class InProcess:
    """An intake in this process; answers that come at one time go together."""

    def __init__(self, intake: Intake) -> None:
        self.keep = intake.keep
        self.finish = intake.finish
        self._intake = intake
        self._waiting: list[tuple[Answer, asyncio.Future[IntakeResult]]] = []

    def listen(
        self, *, done: Callable[[], None], failed: Callable[[BifocalError], None]
    ) -> None:
        """Name whom to call when results have been heard; errors are raised here."""
        self._done = done

    async def take(self, answer: Answer) -> IntakeResult:
        """Wait for the answers that come with this one."""
        future: asyncio.Future[IntakeResult]
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((answer, future))
        if len(self._waiting) == 1:
            self._look(0, 0)
        return await future

    def _look(self, seen: int, still: int) -> None:
        """Take the answers, if they are enough or no more have come for some rounds."""
        still = 0 if len(self._waiting) > seen else still + 1
        if still < _STILL and len(self._waiting) < _TOGETHER:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._look, len(self._waiting), still)
        else:
            self._take()

    def _take(self) -> None:
        waiting, self._waiting = self._waiting, []
        results: Sequence[IntakeResult | Exception]
        try:
            results = self._intake.take([answer for answer, _ in waiting])
        except FATAL_ERRORS as error:
            results = [error] * len(waiting)
        _resolve([future for _, future in waiting], results, self._done)


class PageProcess:
    """An intake in a process of its own; answers come in the order of the questions.

    A process that ends is followed by another one, which is asked again whatever has no
    answer. What has ended it, the note of its reader says (crawler.extract.bounded).
    """

    def __init__(self, child: Child, config: IntakeConfig) -> None:
        self._child = child
        self._config = config
        self._error: BifocalError | None = None
        self._counts: Counter[str] = Counter()  # of all processes
        self._deaths = 0  # since the last result
        # questions, and who waits for the answer, if anybody does
        self._waiting: deque[tuple[bytes, asyncio.Future[IntakeResult] | None]] = (
            deque()
        )
        self._loop: asyncio.AbstractEventLoop | None = None

    @cached_property
    def _opening(self) -> bytes:
        return codec.encode(codec.Request("open", self._config))

    def listen(
        self, *, done: Callable[[], None], failed: Callable[[BifocalError], None]
    ) -> None:
        """Name whom to call; see `AsyncIntake`."""
        self._done, self._failed = done, failed

    def open(self) -> None:
        """Let it open its files; if it cannot, `failed` will hear."""
        self._ask(self._opening, None)

    def keep(self, exchange: Exchange) -> Page:
        """Send an answer; an error ends the run a moment later."""
        self._send(codec.Request("keep", exchange=exchange), None)
        return page_of(exchange, Counter())

    async def take(self, answer: Answer) -> IntakeResult:
        """Wait for the process; RunError when it has come to an end."""
        future: asyncio.Future[IntakeResult]
        future = asyncio.get_running_loop().create_future()
        self._send(codec.Request("take", answer=answer), future)
        return await future

    def finish(self) -> SessionResult:
        """Wait until the process is done, and for its end."""
        self._deafen()
        try:
            return self._finish()
        except (EOFError, OSError):
            if self._error is None and self._deaths < _MAX_DEATHS:
                self._again()
                with suppress(EOFError, OSError):
                    return self._finish()
            return SessionResult(error=self._error or self._child.death())
        finally:
            self._child.end()

    def _finish(self) -> SessionResult:
        connection = self._child.connection
        connection.send_bytes(codec.encode(codec.Request("finish")))
        while True:
            reply = codec.reply_of(connection.recv_bytes())
            if reply.stats is not None:
                earlier = {
                    k: n + reply.stats.get(k, 0) for k, n in self._counts.items()
                }
                return SessionResult(reply.stats | earlier, self._error or reply.error)
            self._counts.update(reply.counts)
            self._error = self._error or reply.error

    def _send(
        self, request: codec.Request, future: asyncio.Future[IntakeResult] | None
    ) -> None:
        if self._error is not None:
            raise self._error
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._child.connection.fileno(), self._receive)
        self._ask(codec.encode(request), future)

    def _ask(self, data: bytes, future: asyncio.Future[IntakeResult] | None) -> None:
        self._waiting.append((data, future))
        with suppress(OSError):  # it is gone; why, `_receive` or `finish` will hear
            self._child.connection.send_bytes(data)

    def _receive(self) -> None:
        """Hand a reply to those who wait for it."""
        try:
            reply = codec.reply_of(self._child.connection.recv_bytes())
        except (EOFError, OSError):
            self._died()
            return
        self._counts.update(reply.counts)
        if error := reply.error:
            self._give_up(error)
        elif reply.results:
            self._deaths = 0
            futures = [self._waiting.popleft()[1] for _ in reply.results]
            _resolve(futures, reply.results, self._done)
        else:
            self._waiting.popleft()
            if reply.bug:
                raise RuntimeError(f"in the page process:\n{reply.bug}")

    def _died(self) -> None:
        """Start another one, unless that has not helped."""
        if self._deaths >= _MAX_DEATHS:
            self._give_up(self._child.death())
            return
        assert self._loop is not None
        self._deafen()
        logger.warning("%s; another one goes on", self._child.how())
        self._again()
        self._loop.add_reader(self._child.connection.fileno(), self._receive)

    def _again(self) -> None:
        """Ask another process whatever has no answer."""
        self._deaths += 1
        self._child = self._child.again()
        waiting, self._waiting = self._waiting, deque()
        if not waiting or waiting[0][0] is not self._opening:
            self.open()
        for question in waiting:
            self._ask(*question)

    def _deafen(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._child.connection.fileno())

    def _give_up(self, error: BifocalError) -> None:
        """End what waits: the run cannot go on."""
        self._deafen()
        self._error = self._error or error
        waiting, self._waiting = [future for _, future in self._waiting], deque()
        _resolve(waiting, [self._error] * len(waiting), self._done)
        self._failed(self._error)


def _resolve(
    futures: Sequence[asyncio.Future[IntakeResult] | None],
    results: Sequence[IntakeResult | Exception],
    done: Callable[[], None],
) -> None:
    """Give each who waits a result or an error, and call `done` after they heard."""
    for future, result in zip(futures, results):
        if future is None or future.done():  # nobody waits any more
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
    asyncio.get_running_loop().call_soon(done)
