"""Show the workers that share a frontier, their sites and the work left.

`bifocal watch` shows the same live, with rates.

Example: bifocal status 'redis://localhost/0?run=is1'
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("frontier", help="the FRONTIER_URL of the crawls")


def run(args: argparse.Namespace) -> int:
    """Print a table."""
    from crawler.frontier.stores.redis_status import SharedState

    print("\n".join(SharedState(args.frontier).lines()))
    return 0
