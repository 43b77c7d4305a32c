"""No search: no pair is found by content, only by URLs and links.

STRAND (Resnik & Smith 2003) compares the pages that its locating stages name, and no
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from crawler.data import Neighbours
from crawler.protocols import SitePages


class NoSearch:
    """A search that finds nothing."""

    compares_all: ClassVar[bool] = False

    def near(
        self, _pages: SitePages, _src: Sequence[int], _trg: Sequence[int]
    ) -> Neighbours:
        """No neighbours."""
        return Neighbours()
