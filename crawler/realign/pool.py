"""Tasks in several processes: bounded, in any order, and gone when the parent is.

With one job everything runs in this process. A worker that is killed (out of memory)
ends the run with one clear error; finished tasks stay finished.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, Self, TypeVar

from crawler.errors import RunError

T = TypeVar("T")

_POLL = 0.5  # seconds between looks at the clock


class Pool:
    """Runs tasks; a context manager."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._executor = (
            ProcessPoolExecutor(
                jobs, multiprocessing.get_context("spawn"), initializer=_start
            )
            if jobs > 1
            else None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self._executor:
            self._executor.shutdown(wait=error is None, cancel_futures=True)

    def run(
        self,
        function: Callable[..., T],
        tasks: Iterable[tuple[Any, ...]],
        idle: Callable[[], None] = lambda: None,
    ) -> Iterator[T]:
        """The results of `function(*task)` as they come; `idle` is called meanwhile."""
        if self._executor is None:
            for task in tasks:
                yield function(*task)
                idle()
            return
        waiting = iter(tasks)
        running: set[Future[T]] = set()
        try:
            while True:
                # one more than there are processes: none waits for its next task
                for task in islice(waiting, self.jobs + 1 - len(running)):
                    running.add(self._executor.submit(function, *task))
                if not running:
                    return
                done, running = wait(running, _POLL, FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                idle()
        except BrokenProcessPool as error:
            raise RunError(
                "a worker process was killed, perhaps because memory ran out"
                " (give fewer --jobs, and --resume)"
            ) from error


def _start() -> None:
    """In a worker: log as the parent does, leave Ctrl-C to it, and end with it."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # killed: nobody needs the result of this process any more
