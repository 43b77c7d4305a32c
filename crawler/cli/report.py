"""Write a web page about runs: figures, sites, scores, and the pairs to read.

Several runs are compared. The page needs neither a network nor a server. Of a table of
`bifocal prospect` it is a page to sort, filter and note.

Example: bifocal report runs/is1 --out report.html
Example: bifocal report runs/demo runs/blind --gold worlds/demo/gold.tsv
Example: bifocal report sites.tsv --out sites.html
Example: bifocal report runs/demo --world worlds/demo/demo.warc.gz
"""

from __future__ import annotations

import argparse

from crawler.cli import whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run directories, or a table of prospects",
    )
    parser.add_argument(
        "--gold",
        metavar="TSV",
        help="true pairs: url_a lang_a url_b lang_b; aliases.tsv beside it is read too",
    )
    parser.add_argument(
        "--world",
        action="append",
        default=[],
        metavar="WARC",
        help="a recording of the site: draw the curve of the best possible order",
    )
    parser.add_argument(
        "--pairs",
        type=whole_number,
        default=10_000,
        metavar="N",
        help="number of pairs of a run that can be read, or of sites (%(default)s)",
    )
    parser.add_argument("--out", default="report.html", help="default: %(default)s")


def run(args: argparse.Namespace) -> int:
    """Write the page and print its path."""
    from pathlib import Path

    from crawler.reports.page import write_prospects, write_report
    from crawler.rundir import RunDir

    out = Path(args.out)
    gold = Path(args.gold) if args.gold else None
    if len(args.runs) == 1 and Path(args.runs[0]).is_file():
        write_prospects(Path(args.runs[0]), out, args.pairs)
    else:
        runs = [RunDir(path) for path in args.runs]
        world = [Path(path) for path in args.world]
        write_report(runs, out, gold=gold, recording=world, most=args.pairs)
    size = out.stat().st_size / 1e6
    print(f"Wrote {out} ({size:.1f} MB); open it in a browser.")
    return 0
