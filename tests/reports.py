"""A report, read back: what a browser finds in it."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from crawler.visits import read_visits
from tests.commands import Run


def report_of(html: str) -> dict[str, Any]:
    """The JSON that the page draws."""
    found = re.search(
        r'<script type="application/json" id="report">(.*?)</script>', html, re.DOTALL
    )
    assert found
    return json.loads(found[1])


def chunks_of(html: str, run: int) -> list[list[dict[str, Any]]]:
    """The texts of a run's pairs, in chunks."""
    packed = re.findall(rf'id="texts-{run}-\d+">([^<]*)</script>', html)
    return [json.loads(gzip.decompress(b64decode(chunk))) for chunk in packed]


def answers_in(folder: Path) -> int:
    """Answers in WARC files, counted by warcio."""
    count = 0
    for path in folder.glob("*.warc.gz"):
        with path.open("rb") as file:
            kinds = [record.rec_type for record in ArchiveIterator(file)]
        count += kinds.count("response") + kinds.count("revisit")
    return count


def check_numbers(shown: dict[str, Any], run: Run) -> None:
    """Every number of a run that needs no truth, recomputed from its files."""
    visits = list(read_visits(run.path / "crawl.jsonl"))
    urls = [visit.url for visit in visits]
    assert shown["curve"]["total"] == sum(shown["outcomes"].values()) == len(urls)
    assert shown["pairs"] == len(run.pairs) == run.stats["pairs"]
    documents = {visit.url for visit in visits if visit.kept}
    first = {url for pair in run.pairs for url in (pair.src_url, pair.trg_url)}
    twins = {u for p in run.pairs for u in (*p.src_twins, *p.trg_twins)} - first
    assert shown["outcomes"].get("paired", 0) == len(first & documents)
    assert shown["outcomes"].get("copy", 0) == len(twins & documents)
    scores, judged_urls = shown["scores"], [v for v in visits if 0 <= v.score <= 1]
    assert sum(scores["urls"]) == len(judged_urls)
    for name, urls_of in (("paired", first), ("copies", twins)):
        kept = [v for v in judged_urls if v.kept and v.url in urls_of]
        assert sum(scores[name]) == len(kept)
    for site in shown["sites"]:
        here = [visit for visit in visits if visit.site == site["site"]]
        assert site["downloads"] == len(here) == sum(site["outcomes"].values())
        assert site["bytes"] == sum(visit.size for visit in here)
        copies = twins & documents & {visit.url for visit in here}
        assert site["outcomes"].get("copy", 0) == len(copies)
    assert sum(site["pairs"] for site in shown["sites"]) == len(run.pairs)
    assert shown["answers"] == answers_in(run.path / "warc")
    ahead = shown["outlook"]
    seeds = json.loads((run.path / "run.json").read_text("utf-8"))["seeds"]
    found = sum(visit.added for visit in visits) + len(seeds) - len(visits)
    assert ahead["waiting"] == shown["curve"]["waiting"][-1] == max(found, 0)
    assert ahead["since_last"] <= shown["curve"]["total"]
    sentences = shown["sentences"]
    assert sentences["pairs"] == run.stats["sentences"]
    assert sum(sentences["scores"]) == sum(sentences["src_lengths"])
    wanted = {one["name"]: one["documents"] for one in shown["languages"]}
    for code, name in shown["langs"]:
        assert wanted[name] == run.stats[f"pages/{code}"]
    assert shown["scores"]["pairs"][-1] == sum(p.score >= 0.95 for p in run.pairs)
    for point in (10, 60, 150):
        place = shown["curve"]["downloads"].index(point)
        have = set(urls[:point])
        complete = [
            pair
            for pair in run.pairs
            if have.intersection((pair.src_url, *pair.src_twins))
            and have.intersection((pair.trg_url, *pair.trg_twins))
        ]
        assert shown["curve"]["complete"][place] == len(complete)
