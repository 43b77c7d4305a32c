"""Runs in, a corpus out: sentence pairs, each once, and where they come from."""
