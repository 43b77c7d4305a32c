"""Memory of what `adaptive` remembers of a web without end, and with SCORER_MAX_URLS.

    python -m benchmarks.scorer_memory [--pages 60000] [--max-urls 5000]

Pages of 100 endless bilingual sites (two children and a declared version each, so two
URLs come to be known with a page) go through the scorer as a crawl would give them, in
a process of its own for each form.
The caches of URLs in evidence.py, scope.py and urls.py hold 65,536 each, so what is
left of growth shows beyond that many URLs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.machine import machine, status_mb
from crawler.data import LangPair, Link, PageFacts, Rel
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from models.rules import UrlLanguageRules, UrlPairRules

RESULTS = Path(__file__).parent / "results" / "scorer_memory.json"
SITES, ROWS = 100, 10
LANGS = ("en", "is")


def documents() -> Iterator[PageFacts]:
    """Page after page, all sites in turn."""
    number = 0
    while True:
        for site in range(SITES):
            for lang, other in (LANGS, LANGS[::-1]):
                host = f"www.site{site}.example"
                url = f"https://{host}/{lang}/{number}.html"
                near = [number * 2 + 1, number * 2 + 2, number // 2]
                links = [
                    Link(f"https://{host}/{lang}/{n}.html", url, str(n)) for n in near
                ]
                version = f"https://{host}/{other}/{number}.html"
                links.append(Link(version, url, None, other, Rel.ALTERNATE))
                yield PageFacts(
                    url=url,
                    site=host,
                    lang=lang,
                    links=tuple(links),
                    digest=url,
                )
        number += 1


def measure(pages: int, max_urls: int) -> list[dict[str, float]]:
    """In a process of its own: memory after every tenth of the pages."""
    rules = UrlLanguageRules(), UrlPairRules()
    scorer = AdaptiveScorer(LangPair(*LANGS), *rules, max_urls=max_urls)
    rows = []
    for count, document in zip(range(1, pages + 1), documents()):
        scorer.fetched(Link(document.url), document)
        scorer.score(document, document.links)
        if count % (pages // ROWS) == 0:
            rows.append({"pages": count, "rss_mb": status_mb("VmRSS")})
    return rows


def main() -> None:
    """Measure both forms, each in a child."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=60_000)
    parser.add_argument("--max-urls", type=int, default=5000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    forms = {}
    for most in (args.max_urls, 0):
        words = [sys.executable, __file__, "measure", str(args.pages), str(most)]
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
        forms[f"max_urls={most}"] = json.loads(done.stdout)
        print(most, forms[f"max_urls={most}"], flush=True)
    report = {"machine": machine(), "urls_a_page": 2, "memory": forms}
    args.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        print(json.dumps(measure(int(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()
