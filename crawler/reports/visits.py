"""The log of a crawl, read back: one dictionary for each fetched URL.

Fields: docs/formats.md, section crawl.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawler.errors import RunDirError


def read_visits(path: Path) -> Iterator[dict[str, Any]]:
    """The visits of a crawl.jsonl, in order; it may still be growing.

    A last line without its end is left out. Raises RunDirError for what is no log.
    """
    try:
        with path.open(encoding="utf-8", errors="surrogatepass") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    return
                try:
                    visit = json.loads(line)
                    visit["url"], visit["time"]
                except (ValueError, TypeError, KeyError) as error:
                    raise RunDirError(
                        f"{path}, line {number}: no visit of a crawl (delete the line)"
                    ) from error
                yield visit
    except (OSError, UnicodeDecodeError) as error:
        raise RunDirError(
            f"{path}: cannot be read: {error} (is {path.parent} a run directory?)"
        ) from error
