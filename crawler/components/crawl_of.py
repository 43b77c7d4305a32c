"""The crawl that belongs to a Scrapy crawler."""

from __future__ import annotations

from scrapy.crawler import Crawler

from crawler.crawl.crawl import Crawl


def crawl_of(crawler: Crawler) -> Crawl:
    """The crawl that crawler.components.extension has opened for the spider."""
    crawl = getattr(crawler.spider, "crawl", None)
    assert isinstance(crawl, Crawl), "the extension CrawlExtension comes first"
    return crawl
