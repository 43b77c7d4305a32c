"""Watch a crawl that runs elsewhere: pages, pairs, sites, what was found last.

Reads the run directory only, so it may be on another machine's disk, and the crawl does
not notice. In a terminal a live view (extra `watch`), elsewhere a line now and then.

Example: bifocal watch runs/is1
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from crawler.reports.live import LiveRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("run_dir", metavar="RUN", help="the RUN_DIR of a crawl")
    parser.add_argument(
        "--every", type=float, default=2.0, metavar="SECONDS", help="%(default)s"
    )
    parser.add_argument("--once", action="store_true", help="look once, then end")


def run(args: argparse.Namespace) -> int:
    """Look until the crawl ends, or Ctrl-C."""
    import sys

    from crawler.reports.live import LiveRun
    from crawler.rundir import RunDir

    live = LiveRun(RunDir(args.run_dir))
    live.look()
    if sys.stdout.isatty() and not args.once:
        _draw(live, args.every)
    else:
        _print(live, args)
    return 0


def _print(live: LiveRun, args: argparse.Namespace) -> None:
    from time import sleep

    print(live.line(), flush=True)
    while not (args.once or live.is_over):
        sleep(args.every)
        if live.look():
            print(live.line(), flush=True)


def _draw(live: LiveRun, every: float) -> None:
    from time import sleep

    from crawler.errors import UsageError

    try:
        from rich.live import Live
    except ImportError as error:
        raise UsageError(
            "the live view needs rich: pip install -e '.[watch]' (or bifocal watch RUN"
            " | cat, for lines)"
        ) from error
    with Live(view(live), auto_refresh=False, screen=False) as screen:
        while not live.is_over:
            sleep(every)
            live.look()
            screen.update(view(live), refresh=True)


def view(live: LiveRun) -> RenderableType:
    """The live view: totals, sites, the last pairs, what was dropped."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    sites = Table("site", expand=True, box=None, header_style="dim")
    sites.add_column("pairs", justify="right")
    sites.add_column("downloads", justify="right")
    for name, pairs, downloads in live.best():
        sites.add_row(Text(name, "green"), f"{pairs:,}", f"{downloads:,}")
    for name, pairs, downloads in live.worst():
        sites.add_row(Text(name, "dim"), f"{pairs:,}", f"{downloads:,}")
    found = Text(no_wrap=True, overflow="ellipsis")
    for pair in reversed(live.recent_pairs()):
        found.append(f"{pair.score:.3f} ", "green")
        found.append(f"{pair.src_url}\n      {pair.trg_url}\n")
    dropped = ", ".join(f"{why} {n:,}" for why, n in live.reasons.most_common(6))
    return Group(
        Panel(Text(live.line(), "bold"), title=str(live.run.path)),
        Panel(sites, title="best sites, and the dearest", title_align="left"),
        Panel(found, title="last pairs", title_align="left"),
        Text(f"not kept: {dropped}" if dropped else "", "dim"),
    )
