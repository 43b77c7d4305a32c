"""The end of a session for people and programs: the summary and `stats.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler.crawl.log import Visit
from crawler.data import Site
from crawler.errors import BifocalError
from crawler.fetch.errors import cure_of
from crawler.reports.outlook import outlook
from crawler.wanted import WantedPairs

_NAMED = 5  # sites without a page that a summary names


@dataclass(frozen=True, slots=True)
class Summary:
    """What a session came to."""

    stats: Mapping[str, Any]
    text: str  # for a person; empty if there is nothing to say
    error: BifocalError | None  # the first that ended the run


class SessionTally:
    """Counts the visits of a session, and says what came of them."""

    def __init__(self, langs: WantedPairs, path: Path, *, resumed: bool) -> None:
        """`path`: the run directory; `resumed`: there were sessions before this one."""
        self._langs = langs
        self._path = path
        self._resumed = resumed
        self.languages: Counter[str] = Counter()  # of answers with status 200
        self.statuses: Counter[int] = Counter()
        self._failures: dict[Site, str] = {}  # the last of each site
        self._answered: set[Site] = set()  # sites with a page
        self._complete = [0]  # pairs, at the start and after each download

    def visited(self, visit: Visit) -> None:
        """Count a visit."""
        self.statuses[visit.status] += 1
        self._complete.append(self._complete[-1] + visit.pairs)
        if visit.reason and visit.reason.startswith(("no_answer/", "robots/")):
            self._failures[visit.site] = visit.reason
        if visit.status == 200:
            self._answered.add(visit.site)
            self.languages[visit.lang if visit.kept and visit.lang else "other"] += 1

    def stats(self, waiting: int) -> dict[str, float]:
        """The counts, by the names of docs/stats.md; `waiting`: URLs."""
        stats: dict[str, float] = {}
        stats.update({f"pages/{lang}": n for lang, n in self.languages.items()})
        stats.update({f"status/{status}": n for status, n in self.statuses.items()})
        stats["pages"] = self.languages.total()
        stats["sites/without_pages"] = len(self._failures.keys() - self._answered)
        if ahead := outlook(self._complete, waiting):
            stats["ahead/pairs"] = round(ahead.expected, 1)
            stats["ahead/pairs_at_most"] = round(ahead.at_most, 1)
            if ahead.found:
                stats["ahead/requests_per_pair"] = round(ahead.recent / ahead.found, 2)
        return stats

    def text(self, stats: Mapping[str, Any], *, pairs: bool) -> str:
        """The summary; `pairs`: pages were to be paired."""
        names = [lang for lang in (*self._langs, "other") if self.languages[lang]]
        languages = ", ".join(f"{name} {self.languages[name]}" for name in names)
        more = " more" if self._resumed else ""
        fetched = f"Fetched {stats['pages']}{more} pages" + (
            languages and f" ({languages})"
        )
        seconds = f"in {stats.get('elapsed_time_seconds') or 0.0:.1f} s"
        found = f"{stats['pairs']} document pairs" if "pairs" in stats else None
        if not pairs:
            first = f"{fetched} {seconds}; `bifocal align` pairs them."
        elif found is None:
            first = f"{fetched} {seconds}; the final pairs could not be written."
        elif self._resumed:
            first = f"{fetched} {seconds}; the run has {found}."
        else:
            first = f"{fetched} and found {found} {seconds}."
        path = self._path
        of_pairs = path if self._langs.only else path / "*"
        lines = [first]
        if pairs:
            lines.append(f"  pairs   {of_pairs / 'pairs.tsv.gz'}")
        if "sentences" in stats:
            file = of_pairs / "sentences.tsv.gz"
            lines.append(f"  text    {file} ({stats['sentences']} sentence pairs)")
        lines.append(f"  pages   {path / 'warc'}")
        lines.append(f"  log     {path / 'crawl.jsonl'}, {path / 'stats.json'}")
        # a site whose budget is spent has URLs left in a finished run
        if stats["finish_reason"] != "finished" or stats.get("frontier/postponed"):
            lines.append(
                f"{stats['frontier/pending']} URLs left; the same command with"
                f" RUN_DIR={path} goes on from here."
            )
        silent = sorted(self._failures.keys() - self._answered)
        for site in silent[:_NAMED]:
            reason = self._failures[site]
            lines.append(
                f"  no page {site}: {reason} ({cure_of(reason) or 'try later'})"
            )
        if len(silent) > _NAMED:
            lines.append(f"  no page of {len(silent) - _NAMED} more sites")
        return "\n".join(lines)

    def why_nothing(self, seeds: Sequence[str], counts: Mapping[str, int]) -> str:
        """The reasons why not one page came, as far as they are known."""
        reasons = [
            name.removeprefix(prefix)
            for prefix in ("robots/failed/", "fetch/failed/")
            for name in counts
            if name.startswith(prefix)
        ]
        reasons += [f"status {status}" for status in self.statuses if status]
        if counts["frontier/refused/robots"]:
            reasons.append("forbidden by robots.txt")
        cure = "is the host reachable, and does its robots.txt let us in?"
        cure = next(filter(None, map(cure_of, reasons)), cure)
        return (
            f"no page could be fetched from {', '.join(seeds[:3])}:"
            f" {', '.join(dict.fromkeys(reasons)) or 'no answer'} ({cure})"
        )
