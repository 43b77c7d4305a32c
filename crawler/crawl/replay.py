"""Drive a crawl over a recording, without Scrapy and without waiting.

    settings = load_profile_settings(RUN_DIR="runs/x")
    world = ReplayWorld.open("world.warc.gz")
    summary = replay("https://www.example.is/", "en,is", settings, world)

One request at a time, so every run gives the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from crawler.crawl.crawl import Crawl
from crawler.crawl.open import open_crawl
from crawler.crawl.summary import Summary
from crawler.replay.world import ReplayWorld
from crawler.warc.exchange import Exchange

# Settings of a replay: no server is asked, so there is none to be spared.
WITHOUT_PAUSES = {"DOWNLOAD_DELAY": 0, "ROBOTS_MAX_CRAWL_DELAY": 0, "RETRY_WAIT": 0}


def replay(
    seeds: str | Sequence[str],
    langs: str,
    settings: Mapping[str, Any],
    world: ReplayWorld,
) -> Summary:
    """Crawl a recorded world to its end; the arguments are those of `open_crawl`.

    In a thread of its own, so that a notebook, which has an event loop, may call it.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_replay, seeds, langs, settings, world).result()


def _replay(
    seeds: str | Sequence[str],
    langs: str,
    settings: Mapping[str, Any],
    world: ReplayWorld,
) -> Summary:
    # one page is on its way at a time, so a second process would wait for the first
    changes = {**WITHOUT_PAUSES, "PAGE_PROCESS": False}
    crawl = open_crawl(seeds, langs, {**settings, **changes})
    world.counts = crawl.counts
    asyncio.run(_drive(crawl, world))
    return crawl.close("finished")


async def _drive(crawl: Crawl, world: ReplayWorld) -> None:
    while (fetch := crawl.next()) is not None:
        if isinstance(fetch, float):
            await asyncio.sleep(min(fetch, 0.01))  # for the clock of a site
        else:
            page = world.answer(fetch.url)
            await crawl.answered(fetch, Exchange.of_page(page, datetime.now(UTC)))
        crawl.tick()
