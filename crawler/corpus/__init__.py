"""Runs in, a corpus out: sentence pairs, filtered, each once, and where they are from."""
