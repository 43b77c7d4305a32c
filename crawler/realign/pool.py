"""Tasks in several processes: bounded, in any order, and gone when the parent is.

With one job everything runs in this process. The task of a worker that is killed (out
of memory) is done again; finished tasks stay finished.
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
from itertools import chain, islice
from typing import Any, Self, TypeVar

from crawler.errors import RunError

T = TypeVar("T")

_POLL = 0.5  # seconds between looks at the clock
# Workers that are killed one after the other without a result: a page that ends its
# reader costs two (crawler.extract.bounded), in company some more.
_DEATHS = 5

logger = logging.getLogger(__name__)


class Pool:
    """Runs tasks; a context manager."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._executor: ProcessPoolExecutor | None = None  # from the first task on

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
        """The results of `function(*task)` as they come; `idle` is called meanwhile.

        When a worker is killed, what all of them had in hand is done again: a task must
        be one that may be. RunError after some deaths without a result.
        """
        if self.jobs <= 1:
            for task in tasks:
                yield function(*task)
                idle()
            return
        waiting = iter(tasks)
        running: dict[Future[T], tuple[Any, ...]] = {}
        deaths = 0
        while True:
            # one more than there are processes: none waits for its next task
            for task in islice(waiting, self.jobs + 1 - len(running)):
                running[self._submit(function, task)] = task
            if not running:
                return
            done, _ = wait(running, _POLL, FIRST_COMPLETED)
            try:
                for future in done:
                    result = future.result()
                    del running[future]
                    deaths = 0
                    yield result
            except BrokenProcessPool as error:
                deaths += 1
                if deaths >= _DEATHS:
                    raise RunError(
                        "worker processes were killed, perhaps because memory ran out"
                        " (give fewer --jobs, and --resume)"
                    ) from error
                logger.warning("a worker process was killed; its task is done again")
                self._executor = None
                again = [task for future, task in running.items() if not _ok(future)]
                waiting, running = (
                    chain(again, waiting),
                    {future: task for future, task in running.items() if _ok(future)},
                )
            idle()

    def _submit(self, function: Callable[..., T], task: tuple[Any, ...]) -> Future[T]:
        if self._executor is None:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self.jobs, context, initializer=_start)
        try:
            return self._executor.submit(function, *task)
        except BrokenProcessPool as error:
            failed: Future[T] = Future()
            failed.set_exception(error)
            return failed


def _ok(future: Future[Any]) -> bool:
    """Whether a future has a result, of which nobody has heard."""
    return future.done() and future.exception() is None


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
