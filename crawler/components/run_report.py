"""Extension: at the end of a session, the final pairs, the stats and a summary.

Runs after everything else is closed, also when the crawl was stopped or failed: what
was collected is always made readable.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.components.address_guard import AddressRefusedError
from crawler.components.assembly import run_dir
from crawler.components.crawl_log import Visit
from crawler.components.signals import page_visited
from crawler.errors import BifocalError, RunError


class RunReport:
    """Writes `pairs.tsv.gz` and `stats.json`, and says what came out."""

    def __init__(self, crawler: Crawler) -> None:
        """Report on this crawler's run."""
        self._crawler = crawler
        self._pairs = crawler.settings.getbool("PAIRS")
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
        ending = spider.intake.finish()
        if ending.error:
            spider.fail(ending.error)
        stats = self._stats(spider, reason) | ending.stats
        try:
            run.write_stats(stats)
        except BifocalError as error:
            spider.fail(error)
        others = spider.resumed or spider.frontier.store.run  # sessions, or workers
        if self._languages or (others and stats["frontier/done"]):
            _say(self._summary(spider, stats, run.path))
        else:
            spider.fail(RunError(self._why_nothing(spider)))

    def _stats(self, spider: Any, reason: str) -> dict[str, Any]:
        """What was counted, by name."""
        stats: dict[str, Any] = {**self._crawler.stats.get_stats(), **spider.counts}
        stats.update({f"pages/{k}": v for k, v in self._languages.items()})
        stats.update({f"status/{k}": v for k, v in self._statuses.items()})
        stats["pages"] = self._languages.total()
        stats["finish_reason"] = reason
        return stats

    def _summary(self, spider: Any, stats: dict[str, Any], path: Path) -> str:
        names = [lang for lang in (*spider.langs, "other") if self._languages[lang]]
        languages = ", ".join(f"{name} {self._languages[name]}" for name in names)
        more = " more" if spider.resumed else ""
        fetched = f"Fetched {stats['pages']}{more} pages" + (
            languages and f" ({languages})"
        )
        seconds = f"in {stats.get('elapsed_time_seconds') or 0.0:.1f} s"
        pairs = f"{stats['pairs']} document pairs" if "pairs" in stats else None
        if not self._pairs:
            first = f"{fetched} {seconds}; `bifocal align` pairs them."
        elif pairs is None:
            first = f"{fetched} {seconds}; the final pairs could not be written."
        elif spider.resumed:
            first = f"{fetched} {seconds}; the run has {pairs}."
        else:
            first = f"{fetched} and found {pairs} {seconds}."
        lines = [
            first,
            *([f"  pairs   {path / 'pairs.tsv.gz'}"] if self._pairs else []),
            *_sentence_lines(stats, path),
            f"  pages   {path / 'warc'}",
            f"  log     {path / 'crawl.jsonl'}, {path / 'stats.json'}",
        ]
        # a site whose budget is spent has URLs left in a finished run
        if stats["finish_reason"] != "finished" or stats.get("frontier/postponed"):
            lines.append(
                f"{stats['frontier/pending']} URLs left;"
                " the same command goes on from here."
            )
        return "\n".join(lines)

    def _why_nothing(self, spider: Any) -> str:
        """Why not one page came, as far as is known."""
        counts = spider.counts
        reasons = [
            name.removeprefix(prefix)
            for prefix in ("robots/failed/", "fetch/failed/")
            for name in counts
            if name.startswith(prefix)
        ]
        reasons += [f"status {status}" for status in self._statuses if status]
        if counts["frontier/refused/robots"]:
            reasons.append("forbidden by robots.txt")
        cure = "is the host reachable, and does its robots.txt let us in?"
        if AddressRefusedError.__name__ in reasons:
            cure = "a private address: if you mean it, name the host in ADDRESS_ALLOW"
        return (
            f"no page could be fetched from {', '.join(spider.seeds[:3])}:"
            f" {', '.join(dict.fromkeys(reasons)) or 'no answer'} ({cure})"
        )


def _sentence_lines(stats: dict[str, Any], path: Path) -> list[str]:
    if "sentences" not in stats:
        return []
    name = path / "sentences.tsv.gz"
    return [f"  text    {name} ({stats['sentences']} sentence pairs)"]


def _say(text: str) -> None:
    """Print, even if nobody listens any more: `scrapy crawl … | head`."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
