"""Lines of files that somebody else wrote: of bounded length, and safe to show.

A run directory, an index or a table may come from anybody. One line of such a file may
have gigabytes once it is unpacked, and a terminal obeys what is between control
characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol

# C0 and C1 controls, line and paragraph separators, and the characters that turn the
# direction of all that follows them (Unicode TR 36, section 2.4).
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_EMPTY = frozenset((b"\n", b"\r\n"))


class Lines(Protocol):
    """A binary file, packed or not."""

    def readline(self, size: int = -1, /) -> bytes:
        """The next line with its end, or its first `size` bytes."""
        ...


def bounded_lines(
    file: Lines, limit: int, *, parallel: bool = True
) -> Iterator[bytes | None]:
    r"""The lines of a file, with their ends; None stands for one of over `limit` bytes.

    A longer line is passed over in pieces, so it takes time and no memory. The file
    stands behind a line when that line is given. `parallel`: each line has its place,
    as in files whose lines belong together; without, the first of some empty lines in a
    row stands for all of them, so that a flood of them costs no more than its reading.

    >>> import io
    >>> list(bounded_lines(io.BytesIO(b"one\ntoo long\ntwo"), 5))
    [b'one\n', None, b'two']
    >>> list(bounded_lines(io.BytesIO(b"one\n\n\n\ntwo"), 5, parallel=False))
    [b'one\n', b'\n', b'two']
    """
    while line := file.readline(limit):
        if not parallel and line in _EMPTY:
            yield line
            while (line := file.readline(limit)) in _EMPTY:
                pass
            if not line:
                return
        if len(line) < limit or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(limit)
        yield None


def printable(text: str) -> str:
    r"""A text in which nothing is left that a terminal would obey.

    >>> printable("\x1b]0;owned\x07\x1b[2J")
    '�]0;owned��[2J'
    """
    return text if text.isprintable() else _UNPRINTABLE.sub("\ufffd", text)


def printable_values(value: Any) -> Any:  # whatever JSON can say
    """A value of JSON with all of its strings made printable, keys among them."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [printable_values(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): printable_values(v) for key, v in value.items()}
    return value
