"""What an order has learned, saved in the frontier's store part by part.

All of it at once would stop a crawl for seconds. Until the last part is saved, what was
saved before stands; so a kill costs the newest of what was learned, and nothing of what
was found.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from crawler.errors import FrontierError
from crawler.frontier.site_yield import SiteYield
from crawler.protocols import FrontierStore, LearningScorer

# Saved when the pages since the last time are this share of the known URLs, so that
# saving costs the same for each page however large the crawl is.
SAVE_SHARE = 0.2
MIN_SAVE = 200  # pages
_NAMES = "scorer"  # the value with the names of the parts


class LearnedState:
    """Saves what a scorer and the sites' yields have learned, a part at a time."""

    def __init__(
        self, store: FrontierStore, worker: str, learner: LearningScorer | None
    ) -> None:
        """`worker` sets the parts of several workers apart."""
        self._store = store
        self._worker = worker
        self._learner = learner
        self._pages = 0  # since it was saved
        self._saving: Iterator[None] | None = None

    def page_done(self) -> None:
        """Count a page that taught something."""
        self._pages += 1

    def step(self, sites: SiteYield, known: int) -> None:
        """Save the next part, if it is time; `known`: how many URLs there are."""
        if self._saving is None:
            if self._pages >= max(MIN_SAVE, SAVE_SHARE * known):
                self._saving = self._save(sites)
        elif next(self._saving, self) is self:
            self._saving = None

    def save(self, sites: SiteYield) -> None:
        """Save everything now."""
        for _ in self._save(sites):
            pass

    def _save(self, sites: SiteYield) -> Iterator[None]:
        self._pages = 0
        self._store.save("sites", msgspec.json.encode(sites.state()))
        names: list[str] = []
        turn = "b" if self._names()[:1] == [self._name("a", 0)] else "a"
        for number, part in enumerate(self._learner.state() if self._learner else ()):
            names.append(self._name(turn, number))
            self._store.save(names[-1], part)
            yield
        self._store.save(_NAMES, msgspec.json.encode(names))

    def _name(self, turn: str, number: int) -> str:
        """The name of a part; of two turns, one is always whole."""
        return f"{_NAMES}/{self._worker}/{turn}/{number}"

    def _names(self) -> list[str]:
        try:
            return msgspec.json.decode(
                self._store.load(_NAMES) or b"[]", type=list[str]
            )
        except msgspec.MsgspecError as error:
            raise FrontierError(
                "what the scorer had learned was written by another version (crawl into"
                " a new RUN_DIR)"
            ) from error

    def parts(self) -> Iterator[bytes]:
        """The parts that were saved last."""
        return (self._store.load(name) or b"" for name in self._names())
