"""Explain the place of a URL in the order of a crawl.

Example: bifocal explain runs/is1 https://www.example.is/um-okkur
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("run_dir", help="the RUN_DIR of a crawl")
    parser.add_argument("url", help="a URL of that crawl")


def run(args: argparse.Namespace) -> int:
    """Print each piece of evidence."""
    from crawler.errors import UsageError
    from crawler.reports.explain import explain
    from crawler.rundir import RunDir
    from crawler.urls import canonicalize

    url = canonicalize(args.url)
    if url is None:
        raise UsageError(f"{args.url!r} is not a valid http(s) URL (write it in full)")
    for line in explain(RunDir(args.run_dir), url):
        print(line)
    return 0
