"""The process of the intake as the operating system has it: started, and ended.

It takes half a second to be ready, as long as Scrapy takes to load a spider. So the
command starts it first of all; what is imported here takes no time.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Self

from crawler.crawl.settings import CrawlSettings
from crawler.errors import BifocalError, RunError
from crawler.frontier.stores.open import is_shared


class Child:
    """A process that runs `crawler.crawl`, and the connection to it."""

    def __init__(
        self, words: Sequence[str], process: subprocess.Popen[bytes], ours: Connection
    ) -> None:
        self.connection = ours
        self._words = words
        self._process = process

    @classmethod
    def start(cls, words: Sequence[str]) -> Self:
        """Start it; it waits to be told what to open. `words`: how it is to log."""
        ours, theirs = Pipe()
        # its products are small: threads for large ones would spin at the start, 70 ms
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-m", "crawler.crawl", str(theirs.fileno())]
        process = subprocess.Popen(  # noqa: S603 - our own words
            [*command, *words], pass_fds=[theirs.fileno()], env=environment
        )
        theirs.close()
        child = cls(words, process, ours)
        atexit.register(child.end)  # of a crawl that is made to end at once
        return child

    def again(self) -> Self:
        """Start another one in the place of this one, which has ended."""
        self.end()
        return self.start(self._words)

    def how(self) -> str:
        """How it has ended."""
        status = self._process.wait()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        return f"the page process ended {how}"

    def death(self) -> BifocalError:
        """The error to report when it has hung up."""
        return RunError(
            f"{self.how()}, and so did others in its place (for want of memory? start"
            " again: the same command goes on where this one stopped)"
        )

    def end(self) -> None:
        """Kill it, if it still runs."""
        atexit.unregister(self.end)
        self.connection.close()
        self._process.kill()
        self._process.wait()


def wants_process(settings: CrawlSettings) -> bool:
    """Whether pages get a process of their own; by default where a core is free for it.

    Workers that share a frontier have the cores already, and in a replay one page is on
    its way at a time.
    """
    if is_shared(settings.frontier_url or ""):
        return False
    if settings.page_process is not None:
        return settings.page_process
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    return len(cores) > 1 and not settings.replay_warcs


def start_child(settings: CrawlSettings) -> Child:
    """Start the process of the intake; it waits to be told what to open."""
    level = settings.log_level if settings.log_enabled else "CRITICAL"
    return Child.start([level, settings.log_format, settings.log_dateformat])
