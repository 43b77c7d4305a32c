"""Offline: WARC files in, pairs out."""
