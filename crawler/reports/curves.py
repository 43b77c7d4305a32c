"""How early do pairs come? Counts after each download of a crawl.

A download is a line of crawl.jsonl: redirects, errors and sitemaps cost as much as
pages. A pair is complete with the download of the second of its two pages, under
whatever address; so orders are compared by what they had fetched, not by what the
aligner knew at the time, which is the curve `streamed`.

Source: García-Romero et al. (2024), section 5: parallel documents by share of the
downloaded documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from crawler.data import PairScore
from crawler.reports.quality import Gold

POINTS = 600  # of a curve on the page: more than a screen has columns for


@dataclass(frozen=True, slots=True)
class Harvest:
    """Counts after n downloads, n from 0 on: every list has n + 1 entries.

    `true` is None without known pairs. `waiting` is what pages had named so far and
    was not fetched yet; what robots.txt forbids is among it.
    """

    seconds: list[float]  # since the first download
    complete: list[int]  # final pairs
    streamed: list[int]  # pairs that the crawl had emitted
    true: list[int] | None  # known pairs
    waiting: list[int]

    @property
    def downloads(self) -> int:
        """How many there were."""
        return len(self.seconds) - 1

    def downloads_for(self, share: float) -> int | None:
        """How many downloads it took to have this share of the final pairs."""
        if not self.complete[-1]:
            return None
        return next(
            n
            for n, pairs in enumerate(self.complete)
            if pairs >= share * self.complete[-1]
        )

    def tenths(self) -> list[tuple[int, int]]:
        """(downloads, complete pairs) after each tenth of the downloads."""
        places = [round(self.downloads * tenth / 10) for tenth in range(1, 11)]
        return [(place, self.complete[place]) for place in places]

    def points(self, most: int = POINTS) -> list[int]:
        """Numbers of downloads to draw, evenly, the first and the last among them."""
        return sorted(
            {round(self.downloads * i / (most - 1)) for i in range(most)}
            if self.downloads >= most
            else range(self.downloads + 1)
        )


def harvest(
    visits: Sequence[Mapping[str, Any]],
    pairs: Iterable[PairScore],
    gold: Gold | None = None,
    seeds: int = 0,
) -> Harvest:
    """Count over a crawl; `seeds` are the URLs that it started with."""
    first: dict[str, int] = {}
    for number, visit in enumerate(visits, 1):
        first.setdefault(visit["url"], number)
    times = [datetime.fromisoformat(visit["time"]) for visit in visits]
    true = None
    if gold:
        names: dict[str, int] = {}
        for url, number in first.items():
            names.setdefault(gold.canonical.get(url, url), number)
        true = _complete(names, [((s,), (t,)) for s, t in gold.pairs], len(visits))
    both = [
        ((pair.src_url, *pair.src_twins), (pair.trg_url, *pair.trg_twins))
        for pair in pairs
    ]
    return Harvest(
        seconds=[0.0, *((time - times[0]).total_seconds() for time in times)],
        complete=_complete(first, both, len(visits)),
        streamed=list(accumulate((visit["pairs"] for visit in visits), initial=0)),
        true=true,
        waiting=[
            max(seeds, 0),
            *(
                max(seeds + known - number, 0)
                for number, known in enumerate(
                    accumulate(visit["added"] for visit in visits), 1
                )
            ),
        ],
    )


def _complete(
    first: Mapping[str, int],
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
    downloads: int,
) -> list[int]:
    """How many pairs have an address of each side among the first n downloads."""
    completed: Counter[int] = Counter()
    for sides in pairs:
        numbers = [
            min((first[url] for url in side if url in first), default=None)
            for side in sides
        ]
        if None not in numbers:
            completed[max(number for number in numbers if number is not None)] += 1
    return list(accumulate(completed[n] for n in range(downloads + 1)))
