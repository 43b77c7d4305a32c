"""What a page costs when more languages are asked for than the site has.

    python -m benchmarks.asked_languages --pages 1500              # two minutes
    python -m benchmarks.asked_languages --pages 50000 --crawls 0 1   # 20 minutes

A made-up site is crawled whole, in the profile `adaptive` and out of a WARC file, each
time in a process of its own: for its two languages (0); for 24 of which it has two (1);
for every language that CLD2 knows (2); and sites of as many pages in three languages
and in five, for those three (3), for 24 (4), and for those five (5). Results go to
benchmarks/results/asked_languages.json: seconds of processor time and pages a second,
and the peak of memory; rows that are not measured again stay.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.machine import machine, status_mb
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.replay.world import ReplayWorld
from tests.worlds import build_site, write_warc

RESULTS = Path(__file__).parent / "results" / "asked_languages.json"
ASKED = "en,is,es,bg,cs,da,de,el,et,fi,fr,ga,hr,hu,it,lt,lv,mt,nl,pl,pt,ro,sk,sl"
SITES = {
    2: ("en", "is"),
    3: ("en", "is", "es"),
    5: ("en", "is", "es", "fr", "fi"),
}
# how many languages the site has, and what is asked for
CRAWLS = (
    *((2, "en,is"), (2, ASKED), (2, "any"), (3, "en,is,es"), (3, ASKED)),
    (5, "en,is,es,fr,fi"),
)


def crawl(warc: Path, home: str, langs: str) -> dict[str, float]:
    """Crawl a site in this process."""
    with tempfile.TemporaryDirectory() as run:
        settings = load_profile_settings(
            "settings.adaptive", RUN_DIR=run, SENTENCES=False
        )
        with closing(ReplayWorld.open(warc)) as world:
            started = process_time()
            summary = replay(home, langs, settings, world)
            seconds = process_time() - started
        pages = sum(1 for _ in (Path(run) / "crawl.jsonl").open())
        return {
            "pages": pages,
            "pairs": summary.stats["pairs"],
            "seconds": round(seconds, 1),
            "pages_per_second": round(pages / seconds, 1),
            "peak_mb": round(status_mb("VmHWM")),
        }


def _key(row: dict[str, Any]) -> tuple[int, int, str]:
    return row["pages"], row["site"], row["asked"]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--crawls", type=int, nargs="+", default=range(len(CRAWLS)))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        warc, home, langs = args.one
        print(json.dumps(crawl(Path(warc), home, langs)))
        return
    rows = {_key(row): row for row in json.loads(RESULTS.read_text())}
    with tempfile.TemporaryDirectory() as folder:
        for count, langs in (CRAWLS[number] for number in args.crawls):
            site = build_site(langs=SITES[count], concepts=args.pages // count)
            warc = Path(folder) / f"{count}.warc.gz"
            if not warc.exists():
                write_warc(warc, site.pages())
            words = [sys.executable, "-m", "benchmarks.asked_languages", "--one"]
            done = subprocess.run(
                [*words, str(warc), site.home, langs], capture_output=True, check=True
            )
            said = json.loads(done.stdout.splitlines()[-1])
            row = {"site": count, "asked": langs, **said, "machine": machine()}
            rows[_key(row)] = row
            print(row, flush=True)
            RESULTS.write_text(json.dumps([*rows.values()], indent=1) + "\n")


if __name__ == "__main__":
    main()
