"""Recorded worlds: crawl a WARC file as if it were the web."""
