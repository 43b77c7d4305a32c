"""Crawl bilingual sites, best pages first: WARC files, document and sentence pairs.

Works in any folder; it is `scrapy crawl bilingual` with our settings, or with those of
the folder's scrapy.cfg. Ctrl-C stops it, and the same --out goes on.

Example: bifocal crawl https://www.example.is/ --langs en,is --out runs/x
Example: bifocal crawl seeds.txt --langs en,is --out runs/x -s SITE_MAX_PAGES=500
Example: bifocal crawl seeds.txt --langs en:de,fr,it --out runs/y
"""

from __future__ import annotations

import argparse

from crawler.cli import add_settings

PROFILES = ("adaptive", "focused", "language_only", "breadth_first")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("seeds", help="a file, URLs with commas, or -")
    parser.add_argument("--langs", default="", help="en,is; en,fi,sv; en:de,fr")
    parser.add_argument("--pairs", default="", help="instead of --langs: en-fi,sv-fi")
    parser.add_argument("--out", metavar="DIR", help="default: runs/ and the time")
    parser.add_argument("--profile", choices=PROFILES, help="order (adaptive)")
    parser.add_argument("--scope", choices=("site", "host", "path"), help="(site)")
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Crawl in this process, as `scrapy crawl` would."""
    import logging

    from scrapy.cmdline import execute

    from crawler.seeds import read_seeds
    from crawler.wanted import spelled

    langs = spelled(args.langs, args.pairs)
    if args.seeds != "-":
        read_seeds(args.seeds)
    logging.getLogger().handlers.clear()  # Scrapy sets up its own
    _choose_settings(args.profile)
    words = ["scrapy", "crawl", "bilingual"]
    words += ["-a", f"seeds={args.seeds}", "-a", f"langs={langs}"]
    words += ["-a", f"scope={args.scope}"] if args.scope else []
    words += ["-s", f"RUN_DIR={args.out}"] if args.out else []
    for setting in args.settings:
        words += ["-s", setting]
    try:
        execute(words)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _choose_settings(profile: str | None) -> None:
    """By the folder's scrapy.cfg if it is ours; in any other folder the profile's."""
    import os

    from scrapy.utils.conf import get_config

    if "SCRAPY_SETTINGS_MODULE" in os.environ:
        return
    if get_config().has_section("settings"):
        if profile:
            os.environ["SCRAPY_PROJECT"] = profile
        return
    os.environ["SCRAPY_SETTINGS_MODULE"] = f"settings.{profile or 'adaptive'}"
