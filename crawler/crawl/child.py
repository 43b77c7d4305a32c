"""The process of the intake as the operating system has it: started, and ended.

It takes half a second to be ready, as long as Scrapy takes to load a spider. So the
command starts it first of all; what is imported here takes no time.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from multiprocessing import Pipe

from crawler.crawl.settings import CrawlSettings
from crawler.errors import BifocalError, RunError
from crawler.frontier.stores.open import is_shared


class Child:
    """A process that runs `crawler.crawl`, and the connection to it."""

    def __init__(self, log_level: str, log_format: str, log_dates: str) -> None:
        """Start it; it waits to be told what to open."""
        self.connection, theirs = Pipe()
        # its products are small: threads for large ones would spin at the start, 70 ms
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-m", "crawler.crawl", str(theirs.fileno())]
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [*command, log_level, log_format, log_dates],
            pass_fds=[theirs.fileno()],
            env=environment,
        )
        theirs.close()
        atexit.register(self.end)  # of a crawl that is made to end at once

    def death(self) -> BifocalError:
        """The error to report when it has hung up."""
        status = self._process.wait()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        return RunError(
            f"the page process ended {how} (for want of memory? start again: the same"
            " command goes on where this one stopped; PAGE_PROCESS=False does without)"
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
    return Child(level, settings.log_format, settings.log_dateformat)
