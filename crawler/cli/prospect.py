"""Rank sites by the parallel text that lists and indexes of URLs promise.

Sources: lists of URLs or hosts, CDX, CDXJ and ZipNum indexes, Parquet indexes of Common
Crawl, sitemaps, run directories, WARC, WAT and WET files, or folders and addresses of
such. Of each site the table has the document pairs that the first 1,000 requests should
give, and those of the whole site with an interval. Not a page is fetched, but with
--probe, a polite crawl of a few pages of the best sites that corrects their estimates.

Example: bifocal prospect --langs en,is urls.txt.gz --out sites.tsv
Example: bifocal prospect --langs en,is cdx-00000.gz sitemap.xml --out sites.tsv
Example: bifocal prospect --langs en,is s3://bucket/part-0.parquet --out sites.tsv
Example: bifocal prospect --langs en,is urls.txt --out sites.tsv --probe 20
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.cli import add_settings, whole_number

if TYPE_CHECKING:
    from crawler.prospect.estimate import Prospect
    from crawler.rundir import RunDir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("sources", nargs="+", help="files, folders, addresses")
    parser.add_argument("--langs", required=True, help="the two languages: en,is")
    parser.add_argument("--out", type=Path, required=True, help="the table to write")
    parser.add_argument(
        "--most-sites",
        type=whole_number,
        default=200_000,
        help="sites to keep in memory, 60 KB each; later ones are left out"
        " (%(default)s)",
    )
    parser.add_argument(
        "--probe",
        type=whole_number,
        default=0,
        metavar="PAGES",
        help="fetch so many pages of each of the best sites and correct the estimates;"
        " the run directory is OUT with .probe for its last suffix",
    )
    parser.add_argument(
        "--probe-sites",
        type=whole_number,
        default=20,
        metavar="SITES",
        help="how many of the best sites (%(default)s)",
    )
    parser.add_argument(
        "--spark",
        metavar="MASTER",
        help="run on a cluster: local[2], spark://HOST:PORT, yarn (extra `spark`)",
    )
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Read all sources, write the table, say how much was read."""
    import shutil
    from collections import Counter

    from crawler.atomic import atomic_text
    from crawler.components.checks import project_settings
    from crawler.crawl.open import build_model
    from crawler.data import LangPair
    from crawler.prospect.estimate import estimate, ranked, write_table
    from crawler.prospect.pieces import sample_sources
    from crawler.prospect.probe import corrected
    from crawler.prospect.rows import find_sources
    from crawler.prospect.sample import Prospector

    langs = LangPair.parse(args.langs)
    settings = project_settings(args.settings)
    models = build_model(settings, "language"), build_model(settings, "pair")
    counts: Counter[str] = Counter()
    sources = find_sources(args.sources)
    pieces = args.out.with_suffix(".pieces")
    if args.spark:
        from crawler.prospect.spark import prospect_on_spark

        at = {"master": args.spark, "most_sites": args.most_sites}
        prospects = prospect_on_spark(sources, langs, models, counts, **at)
    else:
        prospector = Prospector(langs, args.most_sites)
        sample_sources(sources, prospector, counts, pieces)
        prospects = [
            estimate(sites, sample, langs, *models)
            for sites, sample in prospector.samples().items()
        ]
    if args.probe and prospects:
        best = ranked(prospects)[: args.probe_sites]
        prospects = corrected(prospects, _probe(best, args))
    with atomic_text(args.out) as file:
        write_table(prospects, langs, file)
    shutil.rmtree(pieces, ignore_errors=True)
    left_out = sum(n for name, n in counts.items() if "/dropped/" in name)
    print(
        f"{counts['prospect/rows']} rows of {len(prospects)} sites in {args.out}"
        f" ({left_out} rows could not be used;"
        f" {counts['prospect/skipped/not_a_page']} were not pages)"
    )
    return 0


def _probe(best: Sequence[Prospect], args: argparse.Namespace) -> RunDir:
    """The run directory of a crawl of a few pages of each site."""
    from crawler.errors import RunError
    from crawler.prospect.probe import seeds_of
    from crawler.rundir import RunDir

    run = RunDir(args.out.with_suffix(".probe"))
    words = [sys.executable, "-m", "bifocal", "crawl", "-", "--langs", args.langs]
    words += ["--out", str(run.path), "-s", f"SITE_MAX_PAGES={args.probe}"]
    for setting in args.settings:
        words += ["-s", setting]
    seeds = "\n".join(seeds_of(best))  # an address may have a comma
    crawl = subprocess.run(words, input=seeds, text=True, check=False)  # noqa: S603 - our own words
    if crawl.returncode or not run.pairs.exists():
        raise RunError(
            f"{run.path}: the probe has not come to its end (the same command goes on;"
            " without --probe the table is written as it is)"
        )
    return run
