"""Crawl the bundled demo world, offline, and compare the result with the truth.

The demo world is a small fictional institute with pages in English, Icelandic and
Spanish and everything that makes crawling hard (worlds/demo/README.md).

Example: bifocal demo --langs en,is
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

# The supported install is a checkout: the world lies beside the packages.
_ROOT = Path(__file__).resolve().parents[2]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("--langs", default="en,is", help="default: %(default)s")
    parser.add_argument(
        "--profile",
        default="adaptive",
        choices=("adaptive", "focused", "language_only", "breadth_first"),
        help="default: %(default)s",
    )
    parser.add_argument("--out", default="runs/demo", help="default: %(default)s")


def run(args: argparse.Namespace) -> int:
    """Crawl in a fresh run directory, then compare with the true pairs."""
    from crawler.data import LangPair
    from crawler.errors import RunDirError
    from crawler.reports.quality import judge_pairs, read_gold
    from crawler.rundir import RunDir
    from crawler.seeds import read_seeds
    from crawler.sinks.pairs import read_pairs

    langs = LangPair.parse(args.langs)
    world = _ROOT / "worlds" / "demo"
    out = Path(args.out).resolve()
    seeds = _ROOT / "seeds" / "demo.txt"
    run = RunDir(out)
    if run.run_json.exists():
        if run.read().get("seeds") != read_seeds(str(seeds)):
            raise RunDirError(f"{out}: holds another crawl (choose another --out)")
        shutil.rmtree(out)  # the demo is the same at every run
    command = [
        *(sys.executable, "-m", "scrapy", "crawl", "bilingual"),
        *("-a", f"seeds={seeds}", "-a", f"langs={langs}"),
        *("-s", f"REPLAY_WARCS={world / 'demo.warc.gz'}", "-s", f"RUN_DIR={out}"),
    ]
    environment = dict(os.environ, SCRAPY_PROJECT=args.profile)
    crawl = subprocess.run(command, cwd=_ROOT, env=environment, check=False)  # noqa: S603 - our own words
    if crawl.returncode:
        return crawl.returncode
    gold = read_gold(world / "gold.tsv", langs, world / "aliases.tsv")
    print(judge_pairs(read_pairs(out / "pairs.tsv.gz"), gold))
    return 0
