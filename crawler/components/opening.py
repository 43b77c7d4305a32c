"""Extension, the first one: opens everything that a run reads from and writes to.

It is an extension because then the add-ons have had their say and there is no engine
yet. An error here ends the run as what it is; one in a scheduler's constructor, where
the frontier would otherwise be opened, Scrapy hides behind an error of its own.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Self, cast

from scrapy.crawler import Crawler
from scrapy.utils.project import get_project_settings

from crawler.components.address_guard import AddressRules
from crawler.components.checks import check_settings
from crawler.components.download import check_open_files


class Opening:
    """Looks at the settings, then lets the spider open its run."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the run; a BifocalError says why it cannot be.

        From here on Twisted's timers run by the monotonic clock, as ours and asyncio's
        do: by the wall clock, which is its own, one that goes back an hour makes every
        timeout an hour longer. None is set yet.
        """
        from twisted.internet import reactor

        cast("Any", reactor).seconds = monotonic
        check_settings(crawler.settings, get_project_settings())
        check_open_files(crawler.settings)
        AddressRules(crawler.settings.getlist("ADDRESS_ALLOW"))
        spider: Any = crawler.spider
        spider.open_run()
        return cls()
