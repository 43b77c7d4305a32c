"""What Scrapy runs: `scrapy crawl bilingual`."""
