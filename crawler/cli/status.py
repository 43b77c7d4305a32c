"""Show the workers that share a frontier, their sites and what is left.

Example: bifocal status 'redis://localhost/0?run=is1'
         bifocal status --every 2 'redis://localhost/0?run=is1'
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("frontier", help="the FRONTIER_URL of the crawls")
    parser.add_argument(
        "--every", type=float, metavar="SECONDS", help="show it again and again"
    )


def run(args: argparse.Namespace) -> int:
    """Print a table, once or until Ctrl-C."""
    from time import sleep

    from crawler.frontier.redis_status import SharedState

    state = SharedState(args.frontier)
    while True:
        for line in state.lines():
            print(line, flush=True)
        if not args.every:
            return 0
        sleep(args.every)
        print()
