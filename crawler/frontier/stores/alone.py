"""What a store says of other workers when there are none.

`memory:` and `sqlite:` have one worker each: nobody else can see this memory, and the
file is locked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from crawler.data import Site


class Alone:
    """The part of a FrontierStore that is about several workers."""

    worker, run = "0", None
    _counters: Counter[str]

    def tally(self, amounts: Mapping[str, int]) -> Mapping[str, int]:
        """Add to the run's counters; their sums."""
        self._counters.update(amounts)
        return self._counters

    def retire(self, site: Site) -> None:
        """Do nothing: nobody else waits for it."""

    def rest(self, site: Site, resting: bool) -> None:
        """Do nothing: nobody else asks."""

    def adopted(self) -> Sequence[Site]:
        """None: there is no other worker."""
        return ()

    def elsewhere(self, *, awake: bool = False) -> bool:
        """False: there is no other worker."""
        return False
