"""A record as the readers of files find it, and what stands in their way."""

from __future__ import annotations

from dataclasses import dataclass

# A bigger record is not a page; reading it whole would break the promise on memory.
MAX_RECORD = 64 * 2**20


class Damage(Exception):
    """Nothing can be read here; its text is one word, to count by."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record that was read."""

    offset: int
    type: str
    headers: dict[str, str]  # lower-case names
    block: bytes | None  # None: not wanted, or larger than MAX_RECORD
    end: int | None  # None where there is no random access, or it was not looked for
