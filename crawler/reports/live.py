"""The state of a running crawl, read from its directory again and again."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from crawler.data import PairScore
from crawler.reports.outlook import outlook
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.visits import Visit, visits_of

_SUSPICIOUS = 5  # failures of a site that are worth a warning: two dead links are none
_RECENT = 60.0  # seconds over which a rate is taken


@dataclass(slots=True)
class LiveRun:
    """Follows the crawl log; each look reads only the new lines."""

    run: RunDir
    downloads: int = 0
    pages: int = 0
    pairs: int = 0
    waiting: int = 0
    by_site: Counter[str] = field(default_factory=Counter)  # pairs
    downloads_by_site: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    failing: Counter[str] = field(default_factory=Counter)  # no answer, or an error
    last: Visit | None = None
    _offset: int = 0
    _times: deque[datetime] = field(default_factory=deque)
    # pairs and seconds since the first download, at the start and after each
    _complete: array[int] = field(default_factory=lambda: array("L", [0]))
    _seconds: array[float] = field(default_factory=lambda: array("d", [0.0]))
    _started: datetime | None = None

    @classmethod
    def open(cls, run: RunDir) -> Self:
        """Start with the seeds; RunDirError if this is not a run directory."""
        return cls(run, waiting=len(run.read().get("seeds", ())))

    def look(self) -> int:
        """Read on; returns the number of new downloads."""
        before = self.downloads
        if self.run.crawl_log.exists():
            with self.run.crawl_log.open("rb") as file:
                file.seek(self._offset)
                for visit in visits_of(file):
                    self._offset = file.tell()
                    if visit is not None:
                        self._count(visit)
        return self.downloads - before

    def _count(self, visit: Visit) -> None:
        self.downloads += 1
        self.pages += visit.status == 200
        self.pairs += visit.pairs
        self.waiting = max(self.waiting + visit.added - 1, 0)
        self.by_site[visit.site] += visit.pairs
        self.downloads_by_site[visit.site] += 1
        if visit.reason:
            self.reasons[visit.reason] += 1
            failed = visit.reason.startswith(("no_answer/", "status/"))
            self.failing[visit.site] += failed
        self.last = visit
        self._started = self._started or visit.time
        self._complete.append(self.pairs)
        self._seconds.append((visit.time - self._started).total_seconds())
        self._times.append(visit.time)
        while (visit.time - self._times[0]).total_seconds() > _RECENT:
            self._times.popleft()

    @property
    def rate(self) -> float:
        """Downloads a second over the last minute of the log."""
        if len(self._times) < 2:
            return 0.0
        seconds = (self._times[-1] - self._times[0]).total_seconds()
        return (len(self._times) - 1) / max(seconds, 0.001)

    @property
    def ahead(self) -> str:
        """What the waiting URLs should give; empty before the first download."""
        found = outlook(self._complete, self.waiting, self._seconds)
        return found.line if found else ""

    @property
    def is_over(self) -> bool:
        """True if the session wrote its counters after its last download."""
        stats, log = self.run.stats_json, self.run.crawl_log
        return (
            stats.exists()
            and log.exists()
            and stats.stat().st_mtime_ns >= log.stat().st_mtime_ns
        )

    def recent_pairs(self, most: int = 5) -> list[PairScore]:
        """The pairs that were written last."""
        files = [run.pairs for run in self.run.by_pair() if run.pairs.exists()]
        return [p for f in files for p in deque(read_pairs(f), maxlen=most)][-most:]

    def best(self, most: int = 5) -> list[tuple[str, int, int]]:
        """(site, pairs, downloads), most pairs first."""
        return [
            (site, pairs, self.downloads_by_site[site])
            for site, pairs in self.by_site.most_common(most)
            if pairs
        ]

    def worst(self, most: int = 3) -> list[tuple[str, int, int]]:
        """(site, pairs, downloads) of other sites, most downloads a pair first."""
        best = {site for site, _, _ in self.best()}
        cost = sorted(
            (site for site in self.downloads_by_site if site not in best),
            key=lambda site: -self.downloads_by_site[site] / (self.by_site[site] + 1),
        )
        return [(s, self.by_site[s], self.downloads_by_site[s]) for s in cost[:most]]

    def warnings(self, most: int = 3) -> list[str]:
        """Sites whose downloads fail more often than not, for a person to check."""
        bad = [
            (failed, site)
            for site, failed in self.failing.items()
            if failed >= _SUSPICIOUS and 2 * failed > self.downloads_by_site[site]
        ]
        return [
            f"{site}: {failed:,} of {self.downloads_by_site[site]:,} downloads failed"
            for failed, site in sorted(bad, reverse=True)[:most]
        ]

    def line(self) -> str:
        """The progress in one line, as the crawl itself shows it."""
        parts = [
            f"{self.pages:,} pages",
            f"{self.rate:.1f}/s",
            f"{self.pairs:,} pairs",
            f"frontier {self.waiting:,}",
        ]
        parts += [f"{sum(self.failing.values()):,} failed"] if self.warnings(1) else []
        parts += [f"best {site} ({pairs:,})" for site, pairs, _ in self.best(1)]
        return " · ".join(parts)
