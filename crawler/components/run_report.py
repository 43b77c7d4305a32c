"""Extension: at the end of a session, the final pairs, the stats and a summary.

Runs after everything else is closed, also when the crawl was stopped or failed: what
was collected is always made readable.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.components.assembly import run_dir
from crawler.components.crawl_log import Visit
from crawler.components.signals import page_visited
from crawler.errors import BifocalError, RunError
from crawler.sinks.pairs import write_pairs


class RunReport:
    """Writes `pairs.tsv.gz` and `stats.json`, and says what came out."""

    def __init__(self, crawler: Crawler) -> None:
        """Report on this crawler's run."""
        self._crawler = crawler
        self._languages: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for visits and for the end."""
        report = cls(crawler)
        crawler.signals.connect(report.visited, signal=page_visited)
        crawler.signals.connect(report.finish, signal=signals.spider_closed)
        return report

    def visited(self, visit: Visit) -> None:
        """Count a visit."""
        self._statuses[visit.status] += 1
        if visit.status == 200:
            self._languages[visit.lang if visit.kept and visit.lang else "other"] += 1

    def finish(self, spider: Any, reason: str) -> None:
        """Align for good, write, and print the summary."""
        run = run_dir(self._crawler)
        try:
            spider.archive.close()
            pairs = write_pairs(run.pairs, spider.aligner.pairs())
            spider.aligner.close()
            stats = self._stats(spider, reason, pairs)
            run.write_stats(stats)
        except BifocalError as error:
            spider.fatal = spider.fatal or error
            return
        if not self._languages and not spider.resumed:
            spider.fatal = spider.fatal or RunError(self._nothing(spider))
        print(self._summary(stats, pairs, run.path))

    def _stats(self, spider: Any, reason: str, pairs: int) -> dict[str, Any]:
        """Everything that was counted, by name."""
        stats = dict(self._crawler.stats.get_stats())
        for counts in (spider.counts, spider.aligner.counts):
            stats.update(counts)
        scheduler = spider.scheduler
        stats.update(scheduler.frontier.counts)
        stats.update({f"pages/{k}": v for k, v in self._languages.items()})
        stats.update({f"status/{k}": v for k, v in self._statuses.items()})
        stats["pages"] = self._languages.total()
        stats["pairs"] = pairs
        stats["finish_reason"] = reason
        return stats

    def _summary(self, stats: dict[str, Any], pairs: int, path: Path) -> str:
        languages = ", ".join(f"{k} {v}" for k, v in self._languages.most_common())
        seconds = stats.get("elapsed_time_seconds") or 0.0
        return (
            f"Fetched {stats['pages']} pages ({languages or 'none'})"
            f" and found {pairs} document pairs in {seconds:.1f} s.\n"
            f"  pairs   {path / 'pairs.tsv.gz'}\n"
            f"  pages   {path / 'warc'}\n"
            f"  log     {path / 'crawl.jsonl'}, {path / 'stats.json'}"
        )

    def _nothing(self, spider: Any) -> str:
        """Why not one page came, as far as is known."""
        reasons = [k for k in spider.counts if k.startswith("fetch/failed/")]
        reasons += [f"status {status}" for status in self._statuses]
        reasons += [k for k in spider.counts if k.startswith("robots/")]
        why = ", ".join(r.removeprefix("fetch/failed/") for r in reasons) or "no answer"
        return (
            f"no page could be fetched from {', '.join(spider.seeds[:3])}: {why}"
            " (is the host reachable, and does its robots.txt let us in?)"
        )
