"""The elements of HTML, by what they are to a reader."""

from __future__ import annotations

# Elements without an end tag; their start tag is no ancestor of anything.
VOID = frozenset(
    "area base br col embed frame hr img input link meta param source track wbr".split()
)
