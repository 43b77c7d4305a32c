"""Whatever a page does to its reader, it costs that page alone."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from crawler.errors import RunDirError
from crawler.extract.bounded import (
    KILLED,
    PATIENT,
    PageReader,
    ReadingLimits,
    ReadingNote,
)
from crawler.extract.document import Reading

HERE = "https://a.example/x"
READ = Reading(reason="empty")


def eat() -> Reading:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def spin() -> Reading:
    while True:
        pass


def backtrack() -> Reading:
    re.match(r"(a+)+$", "a" * 60 + "b")
    return READ


def recurse() -> Reading:
    return recurse()


@pytest.mark.parametrize(
    ("reads", "reason"),
    [
        (eat, "unreadable/memory"),
        (spin, "unreadable/time"),
        (backtrack, "unreadable/time"),
        (recurse, "unreadable/RecursionError"),
        (lambda: READ, "empty"),
    ],
)
def test_a_page_that_takes_too_much_is_unreadable(reads, reason):
    seconds = 30 if reads is eat else 0.2  # memory is written slowly on a busy machine
    reader = PageReader(ReadingLimits(memory=100_000_000, seconds=seconds))
    assert reader.read(HERE, reads).reason == reason
    assert reader.read(HERE, lambda: READ) == READ  # the bounds hold for each page


def test_bounds_are_lifted_after_a_page():
    before = signal.getsignal(signal.SIGPROF)
    PageReader(ReadingLimits(seconds=0.2)).read(HERE, lambda: READ)
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_errors_of_the_disk_are_not_the_fault_of_a_page():
    def fails() -> Reading:
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        PageReader().read(HERE, fails)


def dies(path: Path, *names: str) -> None:
    """A process that ends with some pages in hand."""
    if os.fork() == 0:
        with ReadingNote.open(path).holding(names):
            os._exit(9)
    os.wait()


def test_a_page_in_hand_at_two_deaths_is_not_read_again(tmp_path):
    path = tmp_path / "reading"
    dies(path, HERE)
    once = ReadingNote.open(path)
    assert once.is_suspect(HERE)
    assert PageReader(note=once).read(HERE, lambda: READ) == READ
    once.close()
    dies(path, HERE)
    twice = ReadingNote.open(path)
    assert PageReader(note=twice).read(HERE, lambda: READ).reason == KILLED
    assert twice.killers == {HERE}
    twice.close()
    assert ReadingNote.open(path).is_killer(HERE)


def test_a_run_that_is_often_stopped_at_one_page_reads_it_in_the_end(tmp_path):
    path = tmp_path / "reading"
    for _ in range(PATIENT - 1):
        dies(path, HERE)
    reader = PageReader(note=ReadingNote.open(path, PATIENT), tries=True)
    assert reader.read(HERE, lambda: READ) == READ
    dies(path, HERE)
    assert ReadingNote.open(path, PATIENT).is_killer(HERE)


def test_a_suspect_that_ends_the_child_that_reads_it_ends_nothing_else(tmp_path):
    path = tmp_path / "reading"
    dies(path, HERE)
    reader = PageReader(note=ReadingNote.open(path, PATIENT), tries=True)

    def kills() -> Reading:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    assert reader.read(HERE, kills).reason == KILLED


def test_pages_that_were_dealt_with_are_not_suspect(tmp_path):
    path = tmp_path / "reading"
    note = ReadingNote.open(path)
    with note.holding([HERE, "b" * 5000]):
        pass
    assert not ReadingNote.open(path).is_suspect(HERE)
    dies(path, "b" * 5000)
    assert ReadingNote.open(path).is_suspect("b" * 5000)


@pytest.mark.parametrize("written", [b"", b"\n", b"[", b"[1]", b'["' + b"[" * 9999])
def test_a_note_that_is_damaged_says_nothing(tmp_path, written):
    path = tmp_path / "reading"
    path.write_bytes(written)
    assert ReadingNote.open(path).killers == frozenset()


def test_a_note_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(RunDirError, match="reading: cannot be written"):
        ReadingNote.open(tmp_path / "no" / "reading")
