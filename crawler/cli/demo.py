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

from crawler.cli import ROOT
from crawler.cli.crawl import PROFILES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("--langs", default="en,is", help="default: %(default)s")
    parser.add_argument(
        "--profile",
        default="adaptive",
        choices=PROFILES,
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
    world = ROOT / "worlds" / "demo"
    out = Path(args.out).resolve()
    seeds = ROOT / "seeds" / "demo.txt"
    run = RunDir(out)
    if run.run_json.exists():
        if run.read().get("seeds") != read_seeds(str(seeds)):
            raise RunDirError(f"{out}: holds another crawl (choose another --out)")
        shutil.rmtree(out)  # the demo is the same at every run
    command = [
        *(sys.executable, "-m", "bifocal", "crawl", str(seeds), "--langs", str(langs)),
        *("--out", str(out), "-s", f"REPLAY_WARCS={world / 'demo.warc.gz'}"),
    ]
    ours = {"SCRAPY_SETTINGS_MODULE": f"settings.{args.profile}"}
    crawl = subprocess.run(command, env=os.environ | ours, check=False)  # noqa: S603 - our own words
    if crawl.returncode:
        return crawl.returncode
    gold = read_gold(world / "gold.tsv", langs, world / "aliases.tsv")
    print(judge_pairs(read_pairs(out / "pairs.tsv.gz"), gold))
    return 0
