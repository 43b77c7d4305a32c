"""Pairs after each download of a crawl.

A download is a line of crawl.jsonl: redirects, errors and sitemaps cost as much as
pages. A pair is complete with the download of the second of its two pages, under
whatever address; so orders are compared by their downloads alone. The curve `streamed`
has the pairs that the aligner knew at the time.

Source: García-Romero et al. (2024), section 5: parallel documents by share of the
downloaded documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate

from crawler.data import PairScore
from crawler.reports.quality import Gold
from crawler.visits import Visit

Sides = tuple[Sequence[str], Sequence[str]]  # the addresses of each page of a pair

POINTS = 600  # of a curve on the page: more than a screen has columns for


@dataclass(frozen=True, slots=True)
class Harvest:
    """Counts after n downloads, n from 0 on: every list has n + 1 entries.

    `true` is None without known pairs. `hindsight` is the best that `complete` could
    have been, see there. `waiting` counts the URLs that were found and not fetched yet,
    those that robots.txt forbids included.
    """

    seconds: list[float]  # since the first download
    complete: list[int]  # final pairs
    hindsight: list[int]  # likewise, in the best order
    streamed: list[int]  # pairs that the crawl had emitted
    true: list[int] | None  # known pairs
    true_hindsight: list[int] | None  # likewise, in the best order
    waiting: list[int]

    @property
    def downloads(self) -> int:
        """The number of downloads."""
        return len(self.seconds) - 1

    @property
    def order(self) -> float | None:
        """Area under `complete` as a share of that under `hindsight`."""
        best = sum(self.hindsight)
        return sum(self.complete) / best if best else None

    def downloads_for(self, share: float) -> int | None:
        """The number of downloads that brought this share of the final pairs."""
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


def evenly(downloads: int, most: int = POINTS) -> list[int]:
    """Numbers of downloads to draw, evenly, the first and the last among them."""
    if downloads < most:
        return list(range(downloads + 1))
    return sorted({round(downloads * i / (most - 1)) for i in range(most)})


def sides_of(pair: PairScore) -> Sides:
    """The addresses of each page of a pair."""
    return (pair.src_url, *pair.src_twins), (pair.trg_url, *pair.trg_twins)


def harvest(
    visits: Sequence[Visit],
    pairs: Iterable[PairScore],
    gold: Gold | None = None,
    seeds: int = 0,
) -> Harvest:
    """Count over a crawl; `seeds` are the URLs that it started with."""
    first: dict[str, int] = {}
    for number, visit in enumerate(visits, 1):
        first.setdefault(visit.url, number)
    times = [visit.time for visit in visits]
    true = true_hindsight = None
    if gold:
        names: dict[str, int] = {}
        for url, number in first.items():
            names.setdefault(gold.canonical.get(url, url), number)
        true = _complete(names, [((s,), (t,)) for s, t in gold.pairs], len(visits))
        true_hindsight = hindsight(visits, true_sides(gold, first))
    both = [sides_of(pair) for pair in pairs]
    return Harvest(
        seconds=[0.0, *((time - times[0]).total_seconds() for time in times)],
        complete=_complete(first, both, len(visits)),
        hindsight=hindsight(visits, both),
        streamed=list(accumulate((visit.pairs for visit in visits), initial=0)),
        true=true,
        true_hindsight=true_hindsight,
        waiting=[
            max(seeds, 0),
            *(
                max(seeds + known - number, 0)
                for number, known in enumerate(
                    accumulate(visit.added for visit in visits), 1
                )
            ),
        ],
    )


def true_sides(gold: Gold, urls: Iterable[str]) -> list[Sides]:
    """The known pairs, each page by all of its addresses among these URLs."""
    addresses: defaultdict[str, list[str]] = defaultdict(list)
    for url in urls:
        addresses[gold.canonical.get(url, url)].append(url)
    return [(addresses.get(s, ()), addresses.get(t, ())) for s, t in gold.pairs]


def hindsight(visits: Sequence[Visit], pairs: Iterable[Sides]) -> list[int]:
    """`best_order` along the links by which this crawl found its pages.

    Pages that the crawl did not find are not in it.
    """
    led_to_by: dict[str, str | None] = {}
    for visit in visits:
        led_to_by.setdefault(visit.url, visit.source)
    return best_order(led_to_by, pairs, len(visits))


def best_order(
    led_to_by: Mapping[str, str | None], pairs: Iterable[Sides], downloads: int
) -> list[int]:
    """Pairs after n downloads, had one known where they are.

    `led_to_by`: every URL that can be reached, and the one that leads to it; those that
    come first are the nearest. Each time the pair that is the fewest downloads away is
    fetched; shared downloads count once. Greedy, so another order may be better still.
    """
    place = {url: number for number, url in enumerate(led_to_by)}
    missing: list[set[str]] = []  # downloads that each pair still needs
    needed_by: defaultdict[str, list[int]] = defaultdict(list)
    for sides in pairs:
        known = [[url for url in side if url in place] for side in sides]
        if not all(known):
            continue
        ends = [min(side, key=place.__getitem__) for side in known]
        way = {step for end in ends for step in _way(led_to_by, end)}
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
            if len(counts) > downloads:
                return counts
            counts.append(counts[-1])
            for other in needed_by[step]:
                missing[other].discard(step)
                if other != pair:
                    heappush(nearest, (len(missing[other]), other))
        counts[-1] += 1
    return counts + counts[-1:] * (downloads + 1 - len(counts))


def _way(led_to_by: Mapping[str, str | None], url: str) -> Iterator[str]:
    """A download and those that led to it, back to a seed."""
    seen: set[str] = set()
    step: str | None = url
    while step is not None and step in led_to_by and step not in seen:
        seen.add(step)
        yield step
        step = led_to_by[step]


def _complete(
    first: Mapping[str, int],
    pairs: Iterable[Sides],
    downloads: int,
) -> list[int]:
    """The number of pairs with an address of each side in the first n downloads."""
    completed: Counter[int] = Counter()
    for sides in pairs:
        numbers = [
            min((first[url] for url in side if url in first), default=None)
            for side in sides
        ]
        if None not in numbers:
            completed[max(number for number in numbers if number is not None)] += 1
    return list(accumulate(completed[n] for n in range(downloads + 1)))
