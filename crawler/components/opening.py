"""Extension, the first one: opens everything that a run reads from and writes to.

It is an extension because then the add-ons have had their say and there is no engine
yet. An error here ends the run as what it is; one in a scheduler's constructor, where
the frontier would otherwise be opened, Scrapy hides behind an error of its own.
"""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.utils.project import get_project_settings

from crawler.components.address_guard import AddressRules
from crawler.components.assembly import check_settings


class Opening:
    """Looks at the settings, then lets the spider open its run."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the run; a BifocalError says why it cannot be."""
        check_settings(crawler.settings, get_project_settings())
        AddressRules(crawler.settings.getlist("ADDRESS_ALLOW"))
        spider: Any = crawler.spider
        spider.open_run()
        return cls()
