"""Show the documentation that came with the installation; without a topic, its pages.

Example: bifocal help quickstart
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help="a page: crawling")


def run(args: argparse.Namespace) -> int:
    """Print a page as it is, Markdown."""
    import difflib
    import pydoc
    import sys

    from crawler.cli import ROOT
    from crawler.errors import UsageError

    pages = {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
    if args.topic is None:
        for name, path in pages.items():
            title = path.read_text("utf-8").partition("\n")[0].lstrip("# ")
            print(f"{name:14} {title}")
        return 0
    if args.topic not in pages:
        close = difflib.get_close_matches(args.topic, pages, 1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise UsageError(
            f"{args.topic!r} is not a page ({meant}`bifocal help` lists them)"
        )
    text = pages[args.topic].read_text("utf-8")
    if sys.stdout.isatty():
        pydoc.pager(text)
    else:
        print(text)
    return 0
