"""Show the workers that share a frontier, their sites and what is left.

Example: bifocal status 'redis://localhost/0?run=is1'
         bifocal status --every 2 'redis://localhost/0?run=is1'
"""

from __future__ import annotations

import argparse

_CLEAR = "\x1b[H\x1b[J"  # of a terminal: to the first line, and nothing after it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("frontier", help="the FRONTIER_URL of the crawls")
    parser.add_argument(
        "--every",
        type=float,
        metavar="SECONDS",
        help="show it live, with rates, until Ctrl-C",
    )


def run(args: argparse.Namespace) -> int:
    """Print a table, once or until Ctrl-C; in a terminal, in one place."""
    import sys
    from time import sleep

    from crawler.frontier.stores.redis_status import SharedState

    state = SharedState(args.frontier)
    live = args.every and sys.stdout.isatty()
    while True:
        print((_CLEAR if live else "") + "\n".join(state.lines()), flush=True)
        if not args.every:
            return 0
        sleep(args.every)
        if not live:
            print()
