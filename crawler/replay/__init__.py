"""Recorded worlds: a WARC file is crawled as if it were the web."""
