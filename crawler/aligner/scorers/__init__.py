"""Pair scorers: features that say how parallel two pages are."""
