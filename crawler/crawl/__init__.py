"""The crawl as a plain object: what to fetch next, and what becomes of each answer."""
