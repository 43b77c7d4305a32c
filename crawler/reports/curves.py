"""How early do pairs come? Counts after each download of a crawl.

A download is a line of crawl.jsonl: redirects, errors and sitemaps cost as much as
pages. A pair is complete with the download of the second of its two pages, under
whatever address; so orders are compared by what they had fetched, not by what the
aligner knew at the time, which is the curve `streamed`.

Source: García-Romero et al. (2024), section 5: parallel documents by share of the
downloaded documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import Any

from crawler.data import PairScore
from crawler.reports.quality import Gold

Sides = tuple[Sequence[str], Sequence[str]]  # the addresses of each page of a pair

POINTS = 600  # of a curve on the page: more than a screen has columns for


@dataclass(frozen=True, slots=True)
class Harvest:
    """Counts after n downloads, n from 0 on: every list has n + 1 entries.

    `true` is None without known pairs; `hindsight` is what `complete` could have been,
    see there. `waiting` is what pages had named so far and
    was not fetched yet; what robots.txt forbids is among it.
    """

    seconds: list[float]  # since the first download
    complete: list[int]  # final pairs
    hindsight: list[int]  # likewise, in the best order
    streamed: list[int]  # pairs that the crawl had emitted
    true: list[int] | None  # known pairs
    waiting: list[int]

    @property
    def downloads(self) -> int:
        """How many there were."""
        return len(self.seconds) - 1

    @property
    def order(self) -> float | None:
        """Area under `complete` as a share of that under `hindsight`."""
        best = sum(self.hindsight)
        return sum(self.complete) / best if best else None

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
    both: list[Sides] = [
        ((pair.src_url, *pair.src_twins), (pair.trg_url, *pair.trg_twins))
        for pair in pairs
    ]
    return Harvest(
        seconds=[0.0, *((time - times[0]).total_seconds() for time in times)],
        complete=_complete(first, both, len(visits)),
        hindsight=hindsight(visits, both),
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


def hindsight(visits: Sequence[Mapping[str, Any]], pairs: Iterable[Sides]) -> list[int]:
    """Pairs after n downloads, had the crawl known where they are.

    Each time the pair that is the fewest downloads away, along the links by which this
    crawl found its pages; what they share is downloaded once. Greedy, so another order
    may be better yet; pages that the crawl did not find are not in it.
    """
    first: dict[str, int] = {}
    for number, visit in enumerate(visits):
        first.setdefault(visit["url"], number)
    missing: list[set[int]] = []  # downloads that each pair still needs
    needed_by: defaultdict[int, list[int]] = defaultdict(list)
    for sides in pairs:
        ends = [min(first.get(u, len(visits)) for u in side) for side in sides]
        if max(ends) == len(visits):
            continue
        way = {step for end in ends for step in _way(visits, first, end)}
        for step in way:
            needed_by[step].append(len(missing))
        missing.append(way)
    nearest = [(len(way), pair) for pair, way in enumerate(missing)]
    heapify(nearest)
    counts = [0]
    while nearest:
        cost, pair = heappop(nearest)
        if cost != len(missing[pair]):
            continue  # it has come nearer since, and stands in the heap again
        for step in list(missing[pair]):
            counts.append(counts[-1])
            for other in needed_by[step]:
                missing[other].discard(step)
                if other != pair:
                    heappush(nearest, (len(missing[other]), other))
        counts[-1] += 1
    return counts + counts[-1:] * (len(visits) + 1 - len(counts))


def _way(
    visits: Sequence[Mapping[str, Any]], first: Mapping[str, int], number: int
) -> Iterator[int]:
    """A download and those that led to it, back to a seed."""
    seen: set[int] = set()
    while number not in seen:
        seen.add(number)
        yield number
        number = first.get(visits[number]["source"], number)


def _complete(
    first: Mapping[str, int],
    pairs: Iterable[Sides],
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
