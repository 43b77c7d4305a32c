"""What the store was offered lately, which it need not be asked about again."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.data import Score, ScoredUrl

# URLs that need no look into the store when they are linked again: 10 MB.
_REMEMBERED = 50_000


class Offered:
    """The best score that the store was given for a URL, as long as that stands."""

    def __init__(self) -> None:
        self._best: dict[str, Score] = {}

    def __contains__(self, scored: ScoredUrl) -> bool:
        """Whether the store would ignore it: most links of a page are a menu's."""
        return scored.score <= self._best.get(scored.link.url, -1.0)

    def add(self, offered: Iterable[ScoredUrl]) -> None:
        """Remember what the store was given."""
        if len(self._best) > _REMEMBERED:
            self._best.clear()
        for item in offered:
            url = item.link.url
            self._best[url] = max(self._best.get(url, item.score), item.score)

    def drop(self, url: str) -> None:
        """Forget a URL whose score in the store may have fallen."""
        self._best.pop(url, None)

    def clear(self) -> None:
        """Forget all: another worker may have changed the store."""
        self._best.clear()
