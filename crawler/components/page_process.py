"""The page process as the operating system has it: started, and ended.

It takes half a second to be ready, as long as Scrapy takes to load a spider. So
`scrapy crawl` starts it first of all, and the spider takes it from here; what is
imported here takes no time.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from multiprocessing import Pipe

from scrapy.settings import BaseSettings

from crawler.errors import BifocalError, RunError
from crawler.frontier.stores.open import is_shared


class Child:
    """A process that runs `crawler.intake`, and the connection to it."""

    def __init__(self, settings: BaseSettings) -> None:
        """Start it; it waits to be told what to open."""
        self.connection, theirs = Pipe()
        level = settings["LOG_LEVEL"] if settings.getbool("LOG_ENABLED") else "CRITICAL"
        told = (level, settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"])
        # its products are small: threads for large ones would spin at the start, 70 ms
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [sys.executable, "-m", "crawler.intake", str(theirs.fileno()), *told],
            pass_fds=[theirs.fileno()],
            env=environment,
        )
        theirs.close()
        atexit.register(self.end)  # of a crawl that is made to end at once

    def death(self) -> BifocalError:
        """Why it has hung up."""
        status = self._process.wait()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        return RunError(
            f"the page process ended {how} (for want of memory? start again: the same"
            " command goes on where this one stopped; PAGE_PROCESS=False does without)"
        )

    def end(self) -> None:
        """End it: it has nothing more to do, or is not let."""
        atexit.unregister(self.end)
        self.connection.close()
        self._process.kill()
        self._process.wait()


_early: list[Child] = []  # started, and not yet asked for


def start_early(settings: BaseSettings) -> None:
    """Start what a crawl with these settings is going to ask for."""
    with suppress(ValueError):  # of a setting that is no yes or no: said later
        if wants_process(settings):
            _early.append(Child(settings))


def page_process(settings: BaseSettings) -> Child | None:
    """The process of a crawl; None: the crawl deals with its pages itself."""
    if not wants_process(settings):
        return None
    return _early.pop() if _early else Child(settings)


def wants_process(settings: BaseSettings) -> bool:
    """Is there to be a process for pages? Unless told: where it has a core to run on.

    Workers that share a frontier have the cores already, and in a replay one page is on
    its way at a time.
    """
    if is_shared(settings["FRONTIER_URL"] or ""):
        return False
    if settings["PAGE_PROCESS"] is not None:
        return settings.getbool("PAGE_PROCESS")
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    return len(cores) > 1 and not settings["REPLAY_WARCS"]
