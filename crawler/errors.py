"""Everything that Bifocal raises on purpose.

BifocalError
├── UsageError           the user asked for something that cannot be (exit status 2)
│   ├── LanguageError    a language that we do not know, or twice the same one
│   ├── ModelError       a URL model that is not there, damaged, or of another kind
│   ├── SeedError        no seeds, an unreadable seed file, not one usable URL in it
│   └── ProfileError     an unknown key or a value of the wrong type in a profile
└── RunError             the run itself could not go on (exit status 1)
    ├── RunDirError      the run directory is another crawl's, or cannot be written
    ├── ReplayError      a recording that cannot be read as a world
    ├── FrontierError    the frontier's storage is damaged, full or gone
    └── WarcError        a WARC file cannot be written or read

A message says what is wrong, where, and what to do about it, on one line.
Please do not add an exception here without placing it in the tree above.
"""

from __future__ import annotations

import sqlite3

from crawler.lines import printable


class BifocalError(Exception):
    """The root: catch this to catch all of ours and nothing else."""

    exit_status = 1

    def __str__(self) -> str:
        """The message; what it quotes of a file or a server is made printable."""
        return printable(super().__str__())


class UsageError(BifocalError):
    """The user asked for something that cannot be done."""

    exit_status = 2


class LanguageError(UsageError):
    """A language that we do not know, or twice the same one."""


class ModelError(UsageError):
    """A URL model that is not there, damaged, or of another kind than was asked for."""


class SeedError(UsageError):
    """No seeds, an unreadable seed file, or not one usable URL in it."""


class ProfileError(UsageError):
    """An unknown key, or a value of the wrong type, in a profile."""


class RunError(BifocalError):
    """The run itself could not start or could not go on."""


class RunDirError(RunError):
    """The run directory belongs to another crawl, or cannot be written."""


class ReplayError(RunError):
    """A recording that cannot be read as a world."""


class FrontierError(RunError):
    """The frontier's storage is damaged, full or gone."""


class WarcError(RunError):
    """A WARC file cannot be written or read."""


# Errors that end a run with one line: ours, and those of a full or failing disk.
FATAL_ERRORS = (BifocalError, OSError, sqlite3.Error)
