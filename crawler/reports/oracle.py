"""The oracle: the earliest that the pairs of a recorded site can come.

The recording is walked link by link, breadth first, as a crawl that sees everything
would; then `crawler.reports.curves.best_order` fetches the pages that the known pairs
need. So the oracle does not depend on any crawl, and crawls can be compared with it.

Source: García-Romero et al. (2024), section 5, compare crawlers by the same curve.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from crawler.errors import ReplayError
from crawler.extract.bounded import PageReader
from crawler.extract.document import read_page
from crawler.frontier.scope import Scope
from crawler.replay.world import ReplayWorld


def reachable(
    recording: Sequence[Path], seeds: Sequence[str], scope: str
) -> dict[str, str | None]:
    """Every URL of a recording that links lead to, nearest first, and the one before.

    URLs that are not recorded (404) are left out. ReplayError if none are left.
    """
    world = ReplayWorld.open(recording)
    inside = Scope.of(scope, seeds)
    led_to_by: dict[str, str | None] = {}
    waiting: deque[tuple[str, str | None]] = deque((seed, None) for seed in seeds)
    reader = PageReader()
    while waiting:
        url, before = waiting.popleft()
        if url in led_to_by or inside.refusal(url):
            continue
        page = world.answer(url)
        if page.status == 404:
            continue
        led_to_by[url] = before
        reading = reader.read(page.url, partial(read_page, page))
        if reading.location:
            waiting.append((reading.location, url))
        links = reading.document.links if reading.document else ()
        waiting.extend((link.url, url) for link in links)
    world.close()
    if not led_to_by:
        raise ReplayError(
            f"{recording[0]}: holds no seed of the run (give a recording of its sites)"
        )
    return led_to_by
