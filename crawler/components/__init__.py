"""Everything that knows Scrapy, glue only."""
