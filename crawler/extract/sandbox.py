"""Readers of files in a process of their own, with bounds on memory and time.

A PDF or an office file from the web is a program that somebody else wrote: what it does
to a library must not harm the process that asked.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable

from crawler.errors import BifocalError

MAX_SECONDS = 40  # of processor time: 200 pages of PDF manuals take 14
MAX_MEMORY = 1 << 30  # bytes of address space


class ConversionError(BifocalError):
    """A file that cannot be read; the message is one word, to count by."""


def run_reader(module: str, body: bytes, seconds: int = MAX_SECONDS) -> str:
    """The HTML that a reader makes of a file; starting the process takes 0.3 s.

    `module` is a module that calls `serve`. ConversionError: time, memory, damaged, or
    a word of the reader.
    """
    words = [sys.executable, "-m", module, str(seconds)]
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            words,
            input=body,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            timeout=3 * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ConversionError("time") from error
    if done.returncode < 0:  # the signal of a bound: SIGXCPU, then SIGKILL
        raise ConversionError("time")
    if done.returncode:
        raise ConversionError(done.stderr.decode("ascii", "replace").split()[-1])
    return done.stdout.decode("utf-8")


def serve(read: Callable[[bytes], str]) -> int:
    """In the process: standard input to standard output; errors to standard error."""
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    try:
        html = read(sys.stdin.buffer.read())
        sys.stdout.buffer.write(html.encode("utf-8", "replace"))
    except ConversionError as error:
        print(error, file=sys.stderr)
    except MemoryError:
        print("memory", file=sys.stderr)
    except Exception:  # whatever a damaged file does to the library
        print("damaged", file=sys.stderr)
    else:
        return 0
    return 1
