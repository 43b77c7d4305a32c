"""Pages are read within bounds: what a page does to the reader, it costs that page.

A page that takes too much memory or processor time ends as `unreadable/memory` or
`unreadable/time`. One that ends the process nevertheless is known from a note, made
before it was read, to whoever goes on; at its second death in hand it ends as
`unreadable/killed` (a first one may be anybody's `kill -9`). Where one process does
everything, as in `bifocal align`, a child reads a suspect first, and its death tells.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn, Self

from crawler.errors import FATAL_ERRORS, RunDirError
from crawler.extract.document import Reading

logger = logging.getLogger(__name__)

KILLED = "unreadable/killed"  # the reason of a page that ends processes
_DEATHS = 2  # with a page in hand; then it is not read again
# The same where a child tries suspects: who stops and resumes such a run often may stop
# it several times at one page, and only a page that ends both is left.
PATIENT = 10
_MAX_FILES = 4096  # open ones that a child closes
_MAX_NAME = 2_000  # characters of a page's name: those of the longest URL
_SIZES = Path("/proc/self/statm")  # of this process, in pages of memory
_HARD = 2  # times the seconds of a page: what the reader does not hear ends the process


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Bounds on the reading of one page; 0: none."""

    # bytes beyond what the process has: twice what the dearest attack takes, and two
    # processes stay below the 2 GB of a small machine
    memory: int = 400_000_000
    # of processor time: the longest one-page manuals take 2
    seconds: float = 10.0


class TooLong(BaseException):
    """Reading a page took more processor time than it may; no reader catches it."""


class ReadingNote:
    """The names of the pages in hand, in a file that outlives the process.

    A second file, with the suffix `.jsonl`, counts the deaths with a page in hand.
    """

    def __init__(
        self, path: Path, file: int, deaths: Counter[str], enough: int
    ) -> None:
        self._path = path
        self._file = file
        self._deaths = deaths
        self._enough = enough

    @classmethod
    def open(cls, path: Path, enough: int = _DEATHS) -> Self:
        """Open the note, and count what was in hand when a process ended.

        `enough`: deaths with a page in hand after which it is not read again.
        """
        log = path.with_name(path.name + ".jsonl")
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            in_hand = _names(os.pread(file, 8 * _MAX_NAME, 0))
            if in_hand:
                with log.open("a", encoding="utf-8") as lines:
                    lines.writelines(json.dumps([name]) + "\n" for name in in_hand)
                os.ftruncate(file, 0)
            counted = log.read_bytes().splitlines() if log.exists() else []
        except OSError as error:
            raise RunDirError(
                f"{path}: cannot be written: {error.strerror} (free space and rights?)"
            ) from error
        deaths = Counter(name for line in counted for name in _names(line))
        return cls(path, file, deaths, enough)

    @property
    def killers(self) -> frozenset[str]:
        """The pages that are not read any more."""
        return frozenset(n for n, d in self._deaths.items() if d >= self._enough)

    def is_suspect(self, name: str) -> bool:
        """Whether a process ended with this page in hand."""
        return name[:_MAX_NAME] in self._deaths

    def is_killer(self, name: str) -> bool:
        """Whether this page is not to be read any more."""
        return self._deaths[name[:_MAX_NAME]] >= self._enough

    @contextmanager
    def holding(self, names: Sequence[str]) -> Iterator[None]:
        """Have some pages in hand."""
        data = json.dumps([name[:_MAX_NAME] for name in names]).encode()
        os.pwrite(self._file, data + b"\n", 0)
        try:
            yield
        finally:
            os.pwrite(self._file, b"\n", 0)

    def close(self) -> None:
        """End: nothing is in hand any more."""
        os.close(self._file)
        self._path.unlink(missing_ok=True)


def _names(data: bytes) -> list[str]:
    """The names of a line; none if it is empty or torn."""
    try:
        found = json.loads(data.partition(b"\n")[0] or b"[]")
    except (ValueError, RecursionError):
        return []
    return [name for name in found if isinstance(name, str)]


class PageReader:
    """Reads pages, each within the same bounds. For one process, one at a time.

    `tries`: a page that was in hand when a process ended is read by a child first.
    """

    def __init__(
        self,
        limits: ReadingLimits = ReadingLimits(),
        note: ReadingNote | None = None,
        *,
        tries: bool = False,
    ) -> None:
        self.limits = limits
        self.note = note
        self._tries = tries

    def read(self, url: str, read: Callable[[], Reading]) -> Reading:
        """What a function makes of a page; a reason if it does not end well.

        FATAL_ERRORS, which are no fault of a page, are raised.
        """
        if self._is_killer(url, read):
            return Reading(reason=KILLED)
        try:
            with self.holding([url]), _memory(self.limits), _time(self.limits):
                return read()
        except FATAL_ERRORS:
            raise
        except (TooLong, MemoryError) as error:
            reason = "time" if isinstance(error, TooLong) else "memory"
            logger.warning("cannot read %s: it takes too much %s", url, reason)
        except Exception as error:
            reason = type(error).__name__
            logger.warning("cannot read %s: %r", url, error, exc_info=True)
        return Reading(reason=f"unreadable/{reason}")

    def _is_killer(self, url: str, read: Callable[[], Reading]) -> bool:
        if self.note is None or not self.note.is_suspect(url):
            return False
        return self.note.is_killer(url) or (self._tries and not self._survives(read))

    def _survives(self, read: Callable[[], Reading]) -> bool:
        """Whether a child that reads a page ends by itself, with an error or not."""
        child = os.fork()
        if not child:
            os.closerange(3, _MAX_FILES)  # the lock of a run that is killed meanwhile
            try:
                with _memory(self.limits), _time(self.limits):
                    read()
            finally:
                os._exit(0)
        return os.waitpid(child, 0)[1] == 0

    def close(self) -> None:
        """End: there are no more pages."""
        if self.note:
            self.note.close()

    @contextmanager
    def holding(self, urls: Sequence[str]) -> Iterator[None]:
        """Note that something is done with some pages."""
        if self.note is None:
            yield
        else:
            with self.note.holding(urls):
                yield


@contextmanager
def _memory(limits: ReadingLimits) -> Iterator[None]:
    """Let the process grow by so much and no more; Linux knows how large it is."""
    size = _data_size() if limits.memory else None
    if size is None:
        yield
        return
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = {size + limits.memory, before, most} - {resource.RLIM_INFINITY}
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def _data_size() -> int | None:
    """Bytes of this process that RLIMIT_DATA counts."""
    try:
        return int(_SIZES.read_bytes().split()[5]) * resource.getpagesize()
    except OSError:
        return None


@contextmanager
def _time(limits: ReadingLimits) -> Iterator[None]:
    """Raise TooLong when it is time; where that is not heard, end the process.

    Python hears a signal between two steps of its own, in the main thread alone.
    """
    seconds = limits.seconds
    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, _HARD * seconds)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGPROF, before)


def _too_long(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TooLong
