"""Where answers are taken in: in this process, or in one beside it (PAGE_PROCESS).

Storing, reading and pairing a page costs more than fetching it and choosing the next.
With a second core all of it goes to a process of its own, which answers in the order in
which it was asked. The site of a page stays closed until the answer is there, so the
order of the crawl is the same; and Scrapy asks for no more pages while those that are
waited for hold SCRAPER_SLOT_MAX_ACTIVE_SIZE bytes, which is the back-pressure.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from scrapy.crawler import Crawler

from crawler.components.assembly import run_dir
from crawler.components.page_process import Child
from crawler.data import Page
from crawler.errors import BifocalError
from crawler.intake import messages
from crawler.intake.intake import OURS, Answer, Ending, Findings, Intake, IntakeConfig
from crawler.warc.exchange import Exchange, page_of
from crawler.warc.recovery import recover
from crawler.warc.writer import WarcConfig

# Answers taken together, at most: more save nothing more. Fewer if nothing has come for
# so many rounds of the event loop; an answer takes some from its socket to here.
_TOGETHER, _STILL = 8, 3


class AnyIntake(Protocol):
    """What the spider asks of either form."""

    def keep(self, exchange: Exchange) -> Page:
        """Store an answer and give its page; it is on disk before any later answer."""
        ...

    async def take(self, answer: Answer) -> Findings:
        """Store, read and pair an answer; all of it survives a kill when this ends."""
        ...

    def finish(self) -> Ending:
        """Complete the files, and make the final pairs."""
        ...


def open_intake(
    crawler: Crawler, counts: Counter[str], process: PageProcess | None
) -> AnyIntake:
    """The intake of a crawl, opened; mends what a killed run left of its WARC files."""
    config = _config(crawler)
    for mended in recover(run_dir(crawler).warc):
        counts["warc/recovered"] += 1
        counts["warc/recovered_bytes_cut"] += mended.cut
    if process is None:
        return LocalIntake(Intake(config, counts))
    process.open(config)
    return process


def _config(crawler: Crawler) -> IntakeConfig:
    settings = crawler.settings
    spider: Any = crawler.spider
    return IntakeConfig(
        run_dir=str(run_dir(crawler).path),
        langs=str(spider.langs),
        warc=WarcConfig(
            prefix=settings["WARC_PREFIX"],
            worker=re.sub(r"[^\w.-]", "_", spider.frontier.store.worker),
            max_bytes=settings.getint("WARC_MAX_BYTES"),
            level=settings.getint("WARC_GZIP_LEVEL"),
            fsync=settings.getbool("WARC_FSYNC"),
            info={
                "http-header-user-agent": settings["USER_AGENT"],
                "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
            },
        ),
        pairs=settings.getbool("PAIRS"),
        sentences=settings.getbool("SENTENCES"),
        align_profile=settings["ALIGN_PROFILE"],
        readable=("pdf",) if settings.getbool("PDF") else (),
    )


class LocalIntake:
    """An intake in this process."""

    def __init__(self, intake: Intake) -> None:
        """Use this one."""
        self.intake = intake
        self.keep = intake.keep
        self.finish = intake.finish
        self._waiting: list[tuple[Answer, asyncio.Future[Findings]]] = []

    async def take(self, answer: Answer) -> Findings:
        """Together with what the network brings at about the same time."""
        future: asyncio.Future[Findings] = asyncio.get_running_loop().create_future()
        self._waiting.append((answer, future))
        if len(self._waiting) == 1:
            self._look(0, 0)
        return await future

    def _look(self, seen: int, still: int) -> None:
        """Take what is there, if it is enough or no more has come for some rounds."""
        still = 0 if len(self._waiting) > seen else still + 1
        if still < _STILL and len(self._waiting) < _TOGETHER:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._look, len(self._waiting), still)
        else:
            self._take()

    def _take(self) -> None:
        waiting, self._waiting = self._waiting, []
        found: Sequence[Findings | Exception]
        try:
            found = self.intake.take([answer for answer, _ in waiting])
        except OURS as error:
            found = [error] * len(waiting)
        for (_, future), findings in zip(waiting, found):
            if future.done():  # nobody waits any more
                continue
            if isinstance(findings, Exception):
                future.set_exception(findings)
            else:
                future.set_result(findings)


class PageProcess:
    """An intake in a process of its own; answers come in the order of the questions."""

    def __init__(self, child: Child, failed: Callable[[BifocalError], None]) -> None:
        """`failed` hears of an error that ends the run and that nobody waits for."""
        self._child = child
        self._connection = child.connection
        self._failed = failed
        self._error: BifocalError | None = None
        self._waiting: deque[asyncio.Future[messages.Fields] | None] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self, config: IntakeConfig) -> None:
        """Let it open its files; if it cannot, `failed` will hear."""
        self._connection.send_bytes(messages.config_message(config))
        self._waiting.append(None)

    def keep(self, exchange: Exchange) -> Page:
        """Nobody waits for it: an error ends the run a moment later."""
        self._send(messages.keep_message(exchange), None)
        return page_of(exchange, Counter())

    async def take(self, answer: Answer) -> Findings:
        """Wait for the process; RunError when it has come to an end."""
        future = asyncio.get_running_loop().create_future()
        self._send(messages.take_message(answer), future)
        return messages.findings_of(await future)

    def finish(self) -> Ending:
        """Wait until the process is done, and for its end."""
        if self._loop is not None:
            self._loop.remove_reader(self._connection.fileno())
        try:
            self._connection.send_bytes(messages.pack({"kind": "finish"}))
            while True:
                fields, _ = messages.unpack(self._connection.recv_bytes())
                if "stats" in fields:
                    return messages.ending_of(fields)
                if "error" in fields:
                    self._error = self._error or messages.error_of(fields["error"])
        except (EOFError, OSError):
            return Ending(error=self._error or self._child.death())
        finally:
            self._child.end()

    def _send(
        self, message: bytes, future: asyncio.Future[messages.Fields] | None
    ) -> None:
        if self._error is not None:
            raise self._error
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._connection.fileno(), self._receive)
        self._waiting.append(future)
        with suppress(OSError):  # it is gone; why, _receive will hear
            self._connection.send_bytes(message)

    def _receive(self) -> None:
        """Give one answer to whom it is for."""
        try:
            fields, _ = messages.unpack(self._connection.recv_bytes())
        except (EOFError, OSError):
            self._give_up(self._child.death())
            return
        if "error" in fields:
            self._give_up(messages.error_of(fields["error"]))
            return
        future = self._waiting.popleft()
        if "bug" in fields:
            bug = RuntimeError(f"in the page process:\n{fields['bug']}")
            if future is None:
                raise bug
            future.set_exception(bug)
        elif future is not None and not future.done():
            future.set_result(fields)

    def _give_up(self, error: BifocalError) -> None:
        """The run cannot go on: tell who waits, and the crawl."""
        assert self._loop is not None
        self._loop.remove_reader(self._connection.fileno())
        self._error = self._error or error
        for future in self._waiting:
            if future is not None and not future.done():
                future.set_exception(self._error)
        self._waiting.clear()
        self._failed(self._error)
