"""Watch a running crawl: pages, pairs, sites, the last pairs.

Reads only the run directory, which may be on another machine's disk, or only Redis if
workers share a frontier; the crawl is not disturbed. A terminal shows a live view
(extra `watch`), anything else gets a line now and then.

Example: bifocal watch runs/is1
Example: bifocal watch 'redis://localhost/0?run=is1'
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from crawler.reports.live import LiveRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "run_dir", metavar="RUN", help="the RUN_DIR of a crawl, or its FRONTIER_URL"
    )
    parser.add_argument(
        "--every", type=float, default=2.0, metavar="SECONDS", help="%(default)s"
    )
    parser.add_argument("--once", action="store_true", help="look once, then end")


def run(args: argparse.Namespace) -> int:
    """Watch until the crawl ends, or Ctrl-C."""
    if "://" in args.run_dir:
        _watch_shared(args)
    else:
        _watch_run(args)
    return 0


def _watch_run(args: argparse.Namespace) -> None:
    from crawler.reports.live import LiveRun
    from crawler.rundir import RunDir

    live = LiveRun.open(RunDir(args.run_dir))

    def look() -> bool:
        live.look()
        return not live.is_over

    def text() -> str:
        return " · ".join(filter(None, (live.line(), live.ahead)))

    _follow(args, look, text, lambda: view(live))


def _watch_shared(args: argparse.Namespace) -> None:
    from crawler.frontier.stores.redis_status import SharedState

    state = SharedState(args.run_dir)
    lines: list[str] = []

    def look() -> bool:
        lines[:] = state.lines()
        return True  # workers come and go

    def text() -> str:
        return "\n".join(lines)

    _follow(args, look, text, lambda: panel(text(), args.run_dir))


def _follow(
    args: argparse.Namespace,
    look: Callable[[], bool],
    text: Callable[[], str],
    drawn: Callable[[], RenderableType],
) -> None:
    """Look again and again: draw in a terminal, else print lines that change."""
    import sys
    from time import sleep

    goes_on = look()
    if sys.stdout.isatty() and not args.once:
        live = _screen()
        with live(drawn(), auto_refresh=False) as screen:
            while goes_on:
                sleep(args.every)
                goes_on = look()
                screen.update(drawn(), refresh=True)
        return
    said = text()
    print(said, flush=True)
    while goes_on and not args.once:
        sleep(args.every)
        goes_on = look()
        if text() != said:
            said = text()
            print(said, flush=True)


def _screen() -> Callable[..., Live]:
    from crawler.errors import UsageError

    try:
        from rich.live import Live
    except ImportError as error:
        raise UsageError(
            "the live view needs rich: pip install 'bifocal-crawler[watch]'"
            " (or bifocal watch RUN | cat, for lines)"
        ) from error
    return Live


def panel(text: str, title: str) -> RenderableType:
    """Lines in a frame."""
    from rich.panel import Panel
    from rich.text import Text

    return Panel(Text(text, "bold"), title=Text(title))


def view(live: LiveRun) -> RenderableType:
    """The live view: totals, sites, the last pairs, reasons of dropped pages."""
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
        panel(f"{live.line()}\n{live.ahead}".rstrip(), str(live.run.path)),
        Panel(
            sites, title="best sites, and the most expensive ones", title_align="left"
        ),
        Panel(found, title="last pairs", title_align="left"),
        *(Text(f"warning: {said}", "yellow") for said in live.warnings()),
        Text(f"not kept: {dropped}" if dropped else "", "dim"),
    )
