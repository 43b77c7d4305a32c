"""Print the statistics of a corpus, and draw them.

Example: bifocal stats corpora/en-is --figure en-is.png
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("folder", metavar="DIR", help="folder of a corpus")
    parser.add_argument("--figure", help="file to draw into: .png, .svg or .pdf")


def run(args: argparse.Namespace) -> int:
    """Print counts and distributions."""
    from pathlib import Path

    from crawler.corpus.stats import describe, draw, read_about, read_distributions
    from crawler.errors import UsageError

    folder = Path(args.folder)
    about = read_about(folder)
    src, trg = about["langs"]
    found = read_distributions(folder, (src, trg))
    print("\n".join(describe(about, found)))
    if args.figure:
        if found is None:
            raise UsageError(
                f"{folder}: has no .jsonl.gz to draw (--formats jsonl makes it)"
            )
        draw(about, found, Path(args.figure))
        print(f"\nDrawn: {args.figure}")
    return 0
