"""WARC files: read, write, index."""
