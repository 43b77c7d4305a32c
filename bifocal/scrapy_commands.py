"""What an installed Bifocal adds to Scrapy: `scrapy crawl` with errors in one line."""

from crawler.components.commands.crawl import Command

__all__ = ["Command"]
