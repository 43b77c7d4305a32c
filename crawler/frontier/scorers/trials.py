"""Hypotheses that are on trial: both pages were fetched, are they a pair?

A trial stays open until the aligner has compared the two pages with enough knowledge:
an aligner that knows no words yet says nothing, which refutes nothing. Its probability
is credited to the kind of hypothesis, and corrected when a later one differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crawler.data import PairVerdict
from crawler.frontier.scorers.expectation import Expectation
from crawler.frontier.scorers.known_urls import KnownUrls, UrlRecord

# Trials that are kept open at most, of the whole crawl: the oldest ends as it stands.
_MOST_OPEN = 200
# Pages until a trial is asked about again, doubled each time: by then there are pairs
# that the aligner has learned words from.
_WAIT = 8
# Trials asked about again with one page: a comparison costs as much as half a page.
_AGAIN = 2
# Probabilities that end a trial: no later one would change the counts by much.
_NO, _YES = 0.02, 0.9


@dataclass(slots=True)
class _Trial:
    """One hypothesis, and what was credited for it; None: nothing yet."""

    kind: str
    credited: float | None = None
    due: int = _WAIT  # the page with which it is asked about again
    wait: int = _WAIT


class Trials:
    """The open trials, in the order of their beginning."""

    def __init__(self, known: KnownUrls, expected: Expectation) -> None:
        """`expected` is told what comes of a trial."""
        self._known = known
        self._expected = expected
        self._pages = 0  # fetched in this session
        self._open: dict[tuple[UrlRecord, UrlRecord], _Trial] = {}

    def page(self) -> None:
        """Count a page: trials become due by their number."""
        self._pages += 1

    def begin(self, page: UrlRecord, other: UrlRecord, kind: str) -> None:
        """Both pages of a hypothesis were fetched, `page` just now."""
        self._open[page, other] = _Trial(kind, due=self._pages + _WAIT)
        if len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]

    def due(self) -> list[tuple[str, str]]:
        """The two URLs of trials that are to be asked about again."""
        due = []
        for (page, other), trial in self._open.items():
            if trial.due <= self._pages:
                trial.wait *= 2
                trial.due = self._pages + trial.wait
                due.append((page.url, other.url))
                if len(due) == _AGAIN:
                    break
        return due

    def credit(self, verdict: PairVerdict) -> None:
        """Take the aligner's probability; None leaves the trial open."""
        p = verdict.probability
        a, b = self._known.get(verdict.url_a), self._known.get(verdict.url_b)
        if p is None or a is None or b is None:
            return
        ends = (a, b) if (a, b) in self._open else (b, a)
        trial = self._open.get(ends)
        if trial is None:
            return
        before, trial.credited = trial.credited, p
        if before is None:
            self._expected.record_test(ends[0], trial.kind, p)
        else:  # the trial is counted, its success is another
            self._expected.record_test(ends[0], trial.kind, p - before, trials=0.0)
        if not _NO < p < _YES:
            del self._open[ends]

    def forget(self) -> None:
        """Drop the trials of URLs that are not known any more."""
        known = set(self._known.records.values())
        self._open = {k: t for k, t in self._open.items() if known.issuperset(k)}

    def state(self) -> dict[str, list[Any]]:
        """The open trials as plain data, by their two URLs."""
        return {
            f"{page.url} {other.url}": [t.kind, t.credited, t.due - self._pages, t.wait]
            for (page, other), t in self._open.items()
        }

    def restore(self, state: Mapping[str, Iterable[Any]]) -> None:
        """Take trials from `state()`, when their URLs are known."""
        for urls, (kind, credited, due, wait) in state.items():
            page, other = (self._known.get(url) for url in urls.split(" "))
            if page and other:
                self._open[page, other] = _Trial(kind, credited, due, wait)
